import { glob, readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import type { JsonObject, JsonValue } from "@bufbuild/protobuf";
import { compileJsonSchema } from "@forge/domain";
import { ForgeError } from "@forge/protocol";
import { describe, expect, it } from "vitest";
import { AGENT_KEYS, parseAgent } from "../agent/parse-agent.ts";
import { BUDGET_KEYS } from "../agent/read-budget.ts";
import { HOOK_KEYS } from "../agent/read-hooks.ts";
import { SUB_AGENT_KEYS } from "../agent/read-sub-agents.ts";
import type { DefinitionSource } from "../definition/definition-source.ts";
import { parseWorkflow, WORKFLOW_FILE_KEYS } from "../definition/parse-workflow.ts";
import { STEP_KEYS } from "../definition/read-step.ts";
import { parseConfig } from "../project/load-config.ts";
import { agents } from "../testing/agents.ts";
import { YamlReader } from "../yaml/yaml-reader.ts";
import { editorSchemas, type SchemaName } from "./editor-schemas.ts";

const ROOT = fileURLToPath(new URL("../../../..", import.meta.url));
const PUBLISHED = `${ROOT}docs/reference/schemas/`;

const checks = new Map(
  (Object.keys(editorSchemas) as SchemaName[]).map((name) => {
    const compiled = compileJsonSchema(editorSchemas[name]());
    if (!compiled.ok) throw new Error(compiled.error.message);
    return [name, compiled.check];
  }),
);

/** What the schema has against a file's text. */
function problemOf(name: SchemaName, text: string): string | undefined {
  const reader = new YamlReader(text, `${name}.yaml`, "TEST");
  const value: JsonValue = reader.json(reader.source.root, name) ?? {};
  reader.problems.throwIfAny();
  return checks.get(name)?.(value);
}

const source: DefinitionSource = {
  workflow: () => ({ kind: "found", workflow: parseWorkflow("workflow: {id: o, version: v1}\nsteps: [{id: a, tool: t}]", { file: "o.yaml", agents }) }),
  text: () => ({ kind: "found", text: "{}" }),
};

const parsers: Readonly<Record<SchemaName, (text: string) => unknown>> = {
  workflow: (text) => parseWorkflow(text, { file: "w.yaml", agents, source }),
  agent: (text) => parseAgent(text, { file: "a.yaml", model: "demo/x", provider: undefined, agents, schemas: source }),
  runtime: (text) => parseConfig(text, "runtime.yaml"),
};

function isParsed(name: SchemaName, text: string): boolean {
  try {
    parsers[name](text);
    return true;
  } catch (error) {
    if (error instanceof ForgeError) return false;
    throw error;
  }
}

const workflowOf = (...steps: string[]): string => `workflow: {id: w, version: v1}\nsteps:\n${steps.map((step) => `  - {${step}}`).join("\n")}\n`;
const agentOf = (fields: string): string => `agent: {id: a, version: v1, ${fields}}\n`;

const RIGHT: readonly (readonly [SchemaName, string])[] = [
  ["workflow", workflowOf("id: a, type: tool, tool: t")],
  ["workflow", workflowOf("id: a, function: m.f, idempotent: false, retry: {attempts: 3, backoff: exponential, initial_delay: 500ms}, timeout_ms: 0")],
  ["workflow", workflowOf("id: a, agent: reviewer@v1, inputs: {diff: x}, outputs: [x], next: {default: end}")],
  ["workflow", workflowOf("id: a, tool: t, next: [{when: 'True', goto: b}, {default: end}]", "id: b, tool: t")],
  [
    "workflow",
    workflowOf(
      "id: a, tool: t, for_each: inputs.list",
      "id: b, tool: t, needs: a, when: 'True', for_each: {items: [1], as: x, concurrency: 2, on_error: continue}",
    ),
  ],
  ["workflow", workflowOf("id: a, tool: t, for_each: '{{ inputs.list }}', inputs: [item], heartbeat_timeout: 5, output_schema: {type: object}")],
  [
    "workflow",
    workflowOf(
      "id: a, wait: 5m",
      "id: b, wait: 5",
      "id: c, wait: {signal: x, timeout: 1d}",
      "id: d, wait: {approval: 'Go?'}",
      "id: e, wait: {approval: {question: 'Go?'}}",
    ),
  ],
  [
    "workflow",
    workflowOf(
      "id: a, wait: {until: '2026-03-29T09:00:00Z'}",
      "id: b, workflow: o, output_schema: schemas/a.json",
      "id: c, workflow: parts/o.yaml, needs: [b]",
    ),
  ],
  [
    "workflow",
    `schema_version: v1\nparallel_max: 4\npriority: 9\nconcurrency: {key: "c-{{ inputs.a }}", limit: 2}\ndeadline: 2d\non_error: continue\ninputs: {a: , b: {default: 1}}\n${workflowOf("id: a, tool: t, needs: []")}`,
  ],
  ["workflow", `inputs_contract: [a]\n${workflowOf("id: a, tool: t").replace("v1", "1.2")}`],
  ["agent", agentOf("prompt: 'Hello', strategy: {type: react, max_iterations: 3}, tools: [tools.file], temperature: 0.5, max_tokens: 100")],
  ["agent", agentOf("pipeline: [{id: a, type: model, prompt: x}], strategy: single, model: openai/gpt-5")],
  [
    "agent",
    agentOf(
      "tools: [t.x], output_key: k, params: {max_tokens: 5}, prompts: [{id: a, text: b, weight: 1}], pipeline: [{id: a, type: model, prompt: prompts.a}, {id: b, type: tool, tool: t.x, inputs: {q: a.k}}]",
    ),
  ],
  [
    "agent",
    agentOf(
      "prompt: x, strategy: react, hooks: [forge.reflexion, {name: forge.reminder, config: {text: t}}, {name: mine, at: on_pre_llm, timeout: 1}, {name: b, at: [on_user_message, on_post_llm], timeout: 5m}], error_recovery: ask, context_window: 256, budget: {model_calls: 3, tool_calls: 0, tokens: 5, cost: 0.01, wall_time: 1h, steps: 9}",
    ),
  ],
  [
    "agent",
    agentOf(
      "prompt: x, strategy: react, tools: [tools.file], fallback_models: [m/a, m/b], output_schema: {type: object}, sub_agents: [reviewer@v1, {agent: reviewer, name: other, description: '', history: forked}]",
    ),
  ],
  ["agent", agentOf("prompt: x, output_schema: schemas/a.json")],
  ["runtime", "default_model: demo/x\npolicy: {rules: [{tool: 'tools.*', decision: ask}], approval_ttl: 5m}\n"],
  ["runtime", "{}"],
];

const WRONG: readonly (readonly [SchemaName, string])[] = [
  ["workflow", workflowOf("id: a, type: tool")],
  ["workflow", workflowOf("id: a, tool: t, function: m.f")],
  ["workflow", workflowOf("id: a, type: tool, function: m.f")],
  ["workflow", workflowOf("id: a, tol: t")],
  ["workflow", workflowOf("tool: t")],
  ["workflow", workflowOf("id: a.b, tool: t")],
  ["workflow", workflowOf("id: end, tool: t")],
  ["workflow", workflowOf("id: __proto__, tool: t")],
  ["workflow", workflowOf("id: a, tool: t, needs: [b, b]", "id: b, tool: t")],
  ["workflow", workflowOf("id: a, tool: t, next: {default: b}", "id: b, tool: t, needs: a")],
  ["workflow", workflowOf("id: a, tool: t, when: 'True'")],
  ["workflow", workflowOf("id: a, tool: t, next: {when: 'True'}")],
  ["workflow", workflowOf("id: a, tool: t, for_each: files")],
  ["workflow", workflowOf("id: a, tool: t, for_each: {as: x}")],
  ["workflow", workflowOf("id: a, tool: t, for_each: {items: [], concurrency: 0}")],
  ["workflow", workflowOf("id: a, wait: soon")],
  ["workflow", workflowOf("id: a, wait: {}")],
  ["workflow", workflowOf("id: a, wait: {signal: x, duration: 1}")],
  ["workflow", workflowOf("id: a, wait: 5m, for_each: [1]")],
  ["workflow", workflowOf("id: a, wait: 5m, inputs: {x: 1}")],
  ["workflow", workflowOf("id: a, workflow: o, heartbeat_timeout: 5")],
  ["workflow", workflowOf("id: a, tool: t, idempotent: true")],
  ["workflow", workflowOf("id: a, tool: t, output_schema: object")],
  ["workflow", workflowOf("id: a, tool: t, timeout: 1, timeout_ms: 1")],
  ["workflow", workflowOf("id: a, tool: t, inputs: {a.b: 1}")],
  ["workflow", workflowOf("id: a, tool: t, retry: {attempts: 0}")],
  ["workflow", `priority: 10\n${workflowOf("id: a, tool: t")}`],
  ["workflow", `concurrency: {limit: 1}\n${workflowOf("id: a, tool: t")}`],
  ["workflow", workflowOf("id: a, tool: t, retry: {jitter: 2}")],
  ["workflow", `parallel_max: 0\n${workflowOf("id: a, tool: t")}`],
  ["workflow", `deadline: tomorrow\n${workflowOf("id: a, tool: t")}`],
  ["workflow", `inputs: [a]\ninputs_contract: [a]\n${workflowOf("id: a, tool: t")}`],
  ["workflow", "workflow: {id: w, version: v1}\nsteps: []\n"],
  ["workflow", "steps: [{id: a, tool: t}]\n"],
  ["agent", agentOf("prompt: x, pipeline: [{type: model, prompt: x}]")],
  ["agent", agentOf("pipeline: [{id: a, type: tool, prompt: x}]")],
  ["agent", agentOf("prompt: x, prompts: [{id: a}]")],
  ["agent", agentOf("model: demo/x")],
  ["agent", agentOf("prompt: x, temperature: 3")],
  ["agent", agentOf("prompt: x, promt: y")],
  ["agent", agentOf("prompt: x, hooks: [mine]")],
  ["agent", agentOf("prompt: x, hooks: [{name: mine}]")],
  ["agent", agentOf("prompt: x, hooks: [{name: mine, at: [on_llm]}]")],
  ["agent", agentOf("prompt: x, hooks: [{name: mine, at: [on_pre_llm, on_pre_llm]}]")],
  ["agent", agentOf("prompt: x, hooks: [{name: mine, at: []}]")],
  ["agent", agentOf("prompt: x, error_recovery: perhaps")],
  ["agent", agentOf("prompt: x, fallback_models: [m/a, m/b, m/c, m/d]")],
  ["agent", agentOf("prompt: x, output_schema: object")],
  ["agent", agentOf("prompt: x, context_window: 255")],
  ["agent", agentOf("prompt: x, sub_agents: [{name: a}]")],
  ["agent", agentOf("prompt: x, tools: [tools.file], sub_agents: [{agent: reviewer, name: A}]")],
  ["agent", agentOf("prompt: x, tools: [tools.file], sub_agents: [{agent: reviewer, history: some}]")],
  ["agent", agentOf("prompt: x, budget: {calls: 1}")],
  ["agent", agentOf("prompt: x, budget: {cost: 0}")],
  ["agent", agentOf("prompt: x, strategy: react, budget: {model_calls: 1001}")],
  ["runtime", "overwrite_policy: perhaps\n"],
  ["runtime", "policy: {default: maybe}\n"],
];

describe("the schemas for editors", () => {
  it.each<SchemaName>(["workflow", "agent", "runtime"])("are published as they are: %s", async (name) => {
    await expect(`${JSON.stringify(editorSchemas[name](), undefined, 2)}\n`).toMatchFileSnapshot(`${PUBLISHED}${name}.json`);
  });

  it("have the keys of the parser", () => {
    const keys = (schema: unknown): string[] => Object.keys((schema as { properties: JsonObject }).properties).toSorted();
    const workflow = editorSchemas.workflow() as { properties: { steps: { items: JsonObject } } };
    const agent = editorSchemas.agent() as { properties: { agent: JsonObject } };
    expect(keys(workflow)).toEqual(WORKFLOW_FILE_KEYS.toSorted());
    expect(keys(workflow.properties.steps.items)).toEqual([...STEP_KEYS, "idempotent"].toSorted());
    expect(keys(agent.properties.agent)).toEqual(AGENT_KEYS.toSorted());
    const { hooks, sub_agents, budget } = (agent.properties.agent as { properties: Record<string, { items: { anyOf: JsonObject[] } }> }).properties;
    expect([keys(hooks?.items.anyOf[1]), keys(sub_agents?.items.anyOf[1]), keys(budget)]).toEqual(
      [HOOK_KEYS, SUB_AGENT_KEYS, BUDGET_KEYS].map((known) => known.toSorted()),
    );
  });

  it.each(RIGHT)("take what the parser takes: %s %s", (name, text) => {
    parsers[name](text);
    expect(problemOf(name, text)).toBeUndefined();
  });

  it.each(WRONG)("refuse what the parser refuses: %s %s", (name, text) => {
    expect(isParsed(name, text)).toBe(false);
    expect(problemOf(name, text)).toBeDefined();
  });

  it("take every file of the examples, and the guide's", async () => {
    const files: string[] = [];
    for await (const file of glob(["examples/*/workflows/**/*.yaml", "examples/*/agents/**/*.yaml", "examples/*/runtime.yaml"], { cwd: ROOT }))
      files.push(file);
    expect(files.length).toBeGreaterThan(4);
    for (const file of files) {
      const name = file.includes("/workflows/") ? "workflow" : file.includes("/agents/") ? "agent" : "runtime";
      expect(problemOf(name, await readFile(`${ROOT}${file}`, "utf8")), file).toBeUndefined();
    }
    const guide = await readFile(`${ROOT}docs/guides/write-a-workflow.md`, "utf8");
    const blocks = Array.from(guide.matchAll(/```yaml\n(.*?)```/gs), ([, block]) => block as string).filter((block) => /^(?:workflow|agent):/m.test(block));
    expect(blocks.length).toBeGreaterThan(1);
    for (const block of blocks) expect(problemOf(/^agent:/m.test(block) ? "agent" : "workflow", block), block).toBeUndefined();
    const inner = parseWorkflow("workflow: {id: o, version: v1}\ninputs: [version, text, by]\nsteps: [{id: a, tool: t}]", { file: "o.yaml", agents });
    const [graph = ""] = blocks.filter((block) => block.includes("needs:"));
    const { warnings } = parseWorkflow(graph, { file: "release.yaml", agents, source: { ...source, workflow: () => ({ kind: "found", workflow: inner }) } });
    expect(warnings).toEqual([]);
  });
});
