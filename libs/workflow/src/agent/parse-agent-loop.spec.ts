import { create, toJson } from "@bufbuild/protobuf";
import { checkDefinition } from "@forge/domain";
import { ForgeError } from "@forge/protocol";
import { ErrorCode } from "@forge/protocol/common";
import { AgentSpecSchema } from "@forge/protocol/session";
import { AgentStepSchema } from "@forge/protocol/workflow";
import { describe, expect, it } from "vitest";
import type { LoadedAgent, SubAgentSource } from "./agent-source.ts";
import { agentWorkflow } from "./agent-workflow.ts";
import { type AgentDefaults, parseAgent } from "./parse-agent.ts";

/** An agent that others may call; `fields` are those of its spec. */
function called(agentId: string, fields: object = {}, prompt = "{{ inputs.task }}"): LoadedAgent {
  const agent = create(AgentSpecSchema, { model: "demo/echo", ...fields });
  return { agent: create(AgentStepSchema, { agent, agentId, agentVersion: "v1", prompt }), pipeline: [], description: `Is ${agentId}.`, warnings: [] };
}

function nested(depth: number): object {
  return depth === 0 ? {} : { subAgents: [{ name: "below", agent: { model: "demo/echo", ...nested(depth - 1) } }] };
}

const CALLED: readonly LoadedAgent[] = [
  called("helper"),
  called("reader", { tools: ["tools.file"] }),
  called("Loud"),
  called("worded", {}, "Look well at {{ inputs.task }}"),
  called("deep", nested(4)),
  called("nearly", nested(3)),
  called("huge", {
    system: "x".repeat(65_536),
    subAgents: Array.from({ length: 16 }, (_, i) => ({ name: `s${i}`, agent: { model: "m/a", system: "x".repeat(65_000) } })),
  }),
  { ...called("steps"), pipeline: [{ id: "a", tool: "tools.file", inputs: {} }] },
];

const agents: SubAgentSource = {
  find(id, version) {
    if (id === "back") return { kind: "circle", path: ["a@v1", "back@v1", "a@v1"] };
    const agent = CALLED.find((candidate) => candidate.agent.agentId === id && (version ?? "v1") === "v1");
    return agent === undefined ? { kind: "unknown", known: CALLED.map((known) => known.agent.agentId), unreadable: [] } : { kind: "found", agent };
  },
};

const DEFAULTS: AgentDefaults = {
  file: "a.yaml",
  model: "m/a",
  provider: "m",
  agents,
  schemas: { text: (path) => (path === "s/a.json" ? { kind: "found", text: '{"type":"array"}' } : { kind: "missing", message: `there is no ${path}` }) },
};

const loop = (fields: string): string => `agent: {id: a, version: v1, prompt: hi, strategy: react, tools: [tools.file], ${fields}}`;

/** Reads it, and sees that whoever checks definitions takes it as well. */
function load(fields: string): LoadedAgent {
  const loaded = parseAgent(loop(fields), DEFAULTS);
  const checked = checkDefinition(agentWorkflow(loaded, []), { sha256: () => "" });
  expect(checked).not.toHaveProperty("rejection");
  return loaded;
}

function spec(fields: string): unknown {
  const { agent } = load(fields).agent;
  return agent && toJson(AgentSpecSchema, agent, { useProtoFieldName: true });
}

function failure(text: string): ForgeError {
  try {
    parseAgent(text, DEFAULTS);
  } catch (error) {
    if (error instanceof ForgeError) return error;
    throw error;
  }
  throw new Error("the agent was accepted");
}

describe("what is around an agent's loop", () => {
  it("reads hooks: shipped ones by name, at their one point, and others where they say", () => {
    const hooks =
      "[forge.tool_enforcement, {name: forge.reminder, config: {text: Be brief, every_model_calls: 2}}, {name: forge.reflexion, at: on_pre_llm}, {name: mine, at: [on_user_message, on_post_llm], config: {a: [1]}, timeout: 5m}]";
    expect(spec(`hooks: ${hooks}`)).toMatchObject({
      hooks: [
        { name: "forge.tool_enforcement", at: ["HOOK_AT_POST_LLM"] },
        { name: "forge.reminder", at: ["HOOK_AT_PRE_LLM"], config_json: '{"text":"Be brief","every_model_calls":2}' },
        { name: "forge.reflexion", at: ["HOOK_AT_PRE_LLM"] },
        { name: "mine", at: ["HOOK_AT_USER_MESSAGE", "HOOK_AT_POST_LLM"], config_json: '{"a":[1]}', timeout: "300s" },
      ],
    });
  });

  it.each([
    ["return", "ERROR_RECOVERY_RETURN"],
    ["stop", "ERROR_RECOVERY_STOP"],
    ["retry", "ERROR_RECOVERY_RETRY"],
    ["ask", "ERROR_RECOVERY_ASK"],
  ])("reads error_recovery %s", (word, expected) => {
    expect(spec(`error_recovery: ${word}`)).toMatchObject({ error_recovery: expected });
  });

  it("reads models that stand in, a window, and a budget up to its bounds", () => {
    const budget = "{model_calls: 1000, tool_calls: 10000, tokens: 9007199254740991, cost: 0.25, wall_time: 30d, steps: 1000}";
    expect(spec(`fallback_models: [b, x/c, d], context_window: 256, budget: ${budget}`)).toStrictEqual({
      model: "m/a",
      tools: ["tools.file"],
      fallback_models: ["m/b", "x/c", "m/d"],
      context_window_tokens: 256,
      budget: { model_calls: 1000, tool_calls: 10_000, tokens: "9007199254740991", cost_micro_usd: "250000", wall_time: "2592000s", steps: 1000 },
    });
    expect(spec("budget: {tool_calls: 0, cost: 0.000001}")).toMatchObject({ budget: { model_calls: 10, tool_calls: 0, cost_micro_usd: "1" } });
  });

  it("reads a schema that is written out, or in a file", () => {
    expect(spec("output_schema: {type: object}")).toMatchObject({ output_schema_json: '{"type":"object"}' });
    expect(spec("output_schema: s/a.json")).toMatchObject({ output_schema_json: '{"type":"array"}' });
  });

  it("leaves a single call room to be repeated", () => {
    const calls = (fields: string): number | undefined =>
      parseAgent(`agent: {id: a, version: v1, prompt: hi, ${fields}}`, DEFAULTS).agent.agent?.budget?.modelCalls;
    expect([calls("temperature: 1"), calls("output_schema: {}"), calls("output_schema: {}, fallback_models: [b, c]")]).toStrictEqual([1, 2, 4]);
  });

  it("asks only the last step of a pipeline for its schema", () => {
    const pipeline = "[{id: x, type: model, prompt: hi}, {id: y, type: model, prompt: ho}]";
    const loaded = parseAgent(`agent: {id: a, version: v1, output_schema: true, error_recovery: stop, pipeline: ${pipeline}}`, DEFAULTS);
    const specs = loaded.pipeline.map((step) => ("model" in step ? step.model.agent : undefined));
    expect(specs.map((agent) => [agent?.outputSchemaJson, agent?.errorRecovery])).toStrictEqual([
      ["", 2],
      ["true", 2],
    ]);
  });

  it("reads agents that it calls, by reference or with what is said of them", () => {
    expect(spec("sub_agents: [helper@v1, {agent: reader, name: r-2, description: Reads., history: shared}, nearly]")).toMatchObject({
      sub_agents: [
        { name: "helper", description: "Is helper.", agent: { model: "demo/echo" }, history: "SUB_AGENT_HISTORY_FRESH" },
        { name: "r-2", description: "Reads.", agent: { tools: ["tools.file"] }, history: "SUB_AGENT_HISTORY_SHARED" },
        { name: "nearly" },
      ],
    });
  });

  it("says what of an agent that is called goes unused", () => {
    expect(load("sub_agents: [helper, worded]").warnings).toStrictEqual([
      "a.yaml:1:100: the prompt of agent worded is not used here: a sub-agent gets its task in place of it; what it has to know belongs into `system`",
    ]);
    const single = parseAgent("agent: {id: a, version: v1, prompt: hi, sub_agents: [helper]}", DEFAULTS);
    expect(single.agent.agent?.subAgents).toStrictEqual([]);
    expect(single.warnings).toStrictEqual(["a.yaml:1:41: sub_agents of an agent with strategy single are never called; use react"]);
  });

  it.each<[string, string, string[]]>([
    [
      "hooks that are none",
      "hooks: [reflexion, forge.reminder, forge.remind, {at: on_pre_llm}, {name: x, att: on_pre_llm}, 5]",
      [
        "87: unknown shipped hook `reflexion`; expected one of forge.tool_enforcement, forge.reminder, forge.reflexion; a worker's hook says where it is called: {name: reflexion, at: [on_pre_llm]}",
        "98: in the config of forge.reminder, `text` is a text of 1 to 4096 characters",
        "114: unknown shipped hook `forge.remind`; expected one of forge.tool_enforcement, forge.reminder, forge.reflexion; did you mean `forge.reminder`?",
        "128: a hook has no name",
        "156: unknown key in a hook `att`; expected one of name, at, config, timeout; did you mean `at`?",
        "153: unknown shipped hook `x`; expected one of forge.tool_enforcement, forge.reminder, forge.reflexion; a worker's hook says where it is called: {name: x, at: [on_pre_llm]}",
        "174: a hook's name is the number 5; expected a text; put it in quotes",
      ],
    ],
    [
      "points, settings and times that are none",
      "hooks: [{name: forge.reflexion, at: [on_post_llm]}, {name: x, at: [on_pre_lm, on_pre_llm, on_pre_llm], config: [], timeout: 6m}, {name: y, at: []}, {name: forge.reflexion, config: {after: 1}}]",
      [
        "116: forge.reflexion is not called at on_post_llm; expected on_pre_llm",
        "203: timeout of a hook is out of bounds; expected seconds or a text like 30s, from 1ms to 5m",
        "190: config of a hook is no mapping; expected its settings by name",
        "146: unknown point of a hook `on_pre_lm`; expected one of on_user_message, on_pre_llm, on_post_llm; did you mean `on_pre_llm`?",
        "169: the point on_pre_llm stands twice in `at`",
        "222: `at` of a hook names no point; expected one of on_user_message, on_pre_llm, on_post_llm",
        '259: in the config of forge.reflexion, there is no setting "after"; there are after_failures, message',
      ],
    ],
    ["another recovery", "error_recovery: retri", ["95: unknown error_recovery `retri`; expected one of return, stop, retry, ask; did you mean `retry`?"]],
    [
      "models that can't stand in",
      "fallback_models: [a, b, m/b]",
      ["103: fallback model m/b stands twice in fallback_models", "97: fallback model m/a is the agent's model itself; expected another one"],
    ],
    ["too many of them", "fallback_models: [b, c, d, e]", ["96: 4 fallback_models; at most 3 are allowed"]],
    [
      "a schema that is none",
      "output_schema: {type: objct}",
      [
        '101: output_schema is no JSON Schema (2020-12) at type: must be equal to one of the allowed values: "array", "boolean", "integer", "null", "number", "object", "string"',
      ],
    ],
    ["a schema's file that is not there", "output_schema: s/b.json", ["94: output_schema: there is no s/b.json"]],
    ["a schema that is too large", `output_schema: {const: ${"x".repeat(16_384)}}`, ["94: output_schema has 16396 bytes of JSON; at most 16384 are allowed"]],
    ["a window for nothing", "context_window: 255", ["95: context_window (tokens) is 255; expected a whole number from 256 to 1000000000"]],
    [
      "budgets out of bounds",
      "budget: {model_calls: 0, tool_calls: 10001, tokens: 1.5, cost: 0, wall_time: 31d, steps: 0, dollars: 1}",
      [
        "171: unknown key in budget `dollars`; expected one of model_calls, tool_calls, tokens, cost, wall_time, steps",
        "101: budget.model_calls is 0; expected a whole number from 1 to 1000",
        "131: budget.tokens is 1.5; expected a whole number from 1 to 9007199254740991",
        "142: budget.cost (dollars) is 0; expected a number from 0.000001 to 1000000",
        "156: budget.wall_time is out of bounds; expected seconds or a text like 30s, from 1ms to 30d",
        "116: budget.tool_calls is 10001; expected a whole number from 0 to 10000",
        "168: budget.steps is 0; expected a whole number from 1 to 1000",
      ],
    ],
    [
      "sub-agents that are none",
      "sub_agents: [helpr, helper@v2, 'a b', back, steps, Loud, deep]",
      [
        "92: unknown agent `helpr`; expected one of helper, reader, Loud, worded, deep, nearly, huge, steps; did you mean `helper`?",
        "99: unknown agent `helper@v2`; expected one of helper, reader, Loud, worded, deep, nearly, huge, steps; did you mean `helper`?",
        "110: agent `a b` is no reference; expected id or id@v1",
        "117: agents that call each other: a@v1 -> back@v1 -> a@v1; expected an end to it",
        "123: agent steps has a pipeline, which no agent can call; expected one with a prompt",
        "130: sub-agent `Loud` is no valid name; expected at most 64 lower-case letters, digits, `_` and `-`, under `name`",
        "136: sub-agents below agent deep are too deep; at most 4 are allowed",
      ],
    ],
    [
      "sub-agents that stand twice, and what is said of them",
      "sub_agents: [helper, {agent: helper}, {name: x}, {agent: helper, name: X, history: shred, descripton: a}]",
      [
        "100: sub-agent `helper` stands twice in sub_agents; give one a name",
        "117: a sub-agent has no agent; expected id or id@v1",
        "169: unknown key in a sub-agent `descripton`; expected one of agent, name, description, history; did you mean `description`?",
        "162: unknown history of a sub-agent `shred`; expected one of fresh, forked, shared; did you mean `shared`?",
        "150: sub-agent `X` is no valid name; expected at most 64 lower-case letters, digits, `_` and `-`",
      ],
    ],
    ["sub-agents that take too much", "sub_agents: [huge]", ["91: the sub_agents take 1105893 bytes together; at most 1048576 are allowed"]],
  ])("refuses %s", (_name, fields, expected) => {
    const error = failure(loop(fields));
    expect(error.code).toBe(ErrorCode.VALIDATION);
    expect(error.message.replaceAll("a.yaml:1:", "").split("\n")).toStrictEqual(expected);
  });

  it.each<[string, string, string]>([
    [
      "a sub-agent with a tool that its caller has not",
      "agent: {id: a, version: v1, prompt: hi, strategy: react, sub_agents: [reader]}",
      "71: agent reader uses tools.file; expected no tools but those of the agent that calls it",
    ],
    [
      "a sub-agent among the tools",
      "agent: {id: a, version: v1, prompt: hi, strategy: react, tools: [agent.helper]}",
      "66: tool `agent.helper` is a sub-agent's; expected it under sub_agents",
    ],
    [
      "a loop's bound without a loop",
      "agent: {id: a, version: v1, prompt: hi, budget: {model_calls: 2}}",
      "50: budget.model_calls bounds a loop, and the strategy is single; expected strategy react",
    ],
    [
      "a loop's bound said twice",
      "agent: {id: a, version: v1, prompt: hi, strategy: {type: react, max_iterations: 3}, budget: {model_calls: 2}}",
      "94: budget.model_calls and the strategy's max_iterations; expected one of them",
    ],
    [
      "a schema for what a tool says",
      "agent: {id: a, version: v1, tools: [t.x], output_schema: {}, pipeline: [{id: s, type: tool, tool: t.x}]}",
      "43: output_schema of an agent is what its last answer matches, and its pipeline ends with a tool; expected it at the step",
    ],
    [
      "a system prompt of too many bytes",
      `agent: {id: a, version: v1, prompt: hi, system: ${"ä".repeat(32_769)}}`,
      "49: system has more than 65536 bytes of UTF-8, which no agent takes",
    ],
  ])("refuses %s", (_name, text, expected) => {
    expect(failure(text).message).toBe(`a.yaml:1:${expected}`);
  });
});
