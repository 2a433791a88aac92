import { toJson } from "@bufbuild/protobuf";
import { ForgeError } from "@forge/protocol";
import { ErrorCode } from "@forge/protocol/common";
import { AgentStepSchema } from "@forge/protocol/workflow";
import { describe, expect, it } from "vitest";
import type { LoadedAgent } from "./agent-source.ts";
import { type AgentDefaults, parseAgent } from "./parse-agent.ts";

const DEFAULTS = { file: "a.yaml", model: undefined, provider: undefined };

function load(text: string, defaults: Partial<AgentDefaults> = {}): LoadedAgent {
  return parseAgent(text, { ...DEFAULTS, ...defaults });
}

function failure(text: string): ForgeError {
  try {
    load(text);
  } catch (error) {
    if (error instanceof ForgeError) return error;
    throw error;
  }
  throw new Error("the agent was accepted");
}

const agent = (fields: string): string => `agent:\n  id: a\n  version: v1\n  model: demo/echo\n  prompt: "Look at {{ inputs.x }}"\n${fields}`;

describe("parseAgent", () => {
  it("reads one prompt, a loop's bound, tools and parameters", () => {
    const text = `
schema_version: v1
agent:
  id: code_reviewer
  version: 2
  description: Reviews code
  model: gemini/gemini-2.5-flash
  system: "You are a senior code reviewer."
  temperature: 0.2
  max_tokens: 4096
  strategy:
    type: react
    max_iterations: 5
  tools:
    - tools.file
    - tools.search
  pipeline:
    - id: analyze
      type: model
      prompt: "Analyze this code: {{ inputs.diff }}"
`;
    expect(toJson(AgentStepSchema, load(text).agent, { useProtoFieldName: true })).toStrictEqual({
      agent: {
        model: "gemini/gemini-2.5-flash",
        system: "You are a senior code reviewer.",
        tools: ["tools.file", "tools.search"],
        temperature: 0.2,
        max_output_tokens: 4096,
        budget: { model_calls: 5 },
      },
      prompt: "Analyze this code: {{ inputs.diff }}",
      agent_id: "code_reviewer",
      agent_version: "v2",
    });
  });

  it("gives a single call no tools, and says so", () => {
    const loaded = load(agent("  strategy: single\n  tools: [tools.file]\n"));
    expect(loaded.agent.agent?.tools).toStrictEqual([]);
    expect(loaded.agent.agent?.budget?.modelCalls).toBe(1);
    expect(loaded.warnings).toStrictEqual(["a.yaml:7:3: tools of an agent with strategy single are never called; use react"]);
    expect(load(agent("")).agent.agent?.budget?.modelCalls).toBe(1);
    expect(load(agent("  strategy: {type: react}\n")).agent.agent?.budget?.modelCalls).toBe(10);
  });

  it("takes model and provider from the project where the file says nothing", () => {
    const bare = "agent: {id: a, version: v1, prompt: hi}";
    expect(load(bare, { model: "demo/echo", provider: "x" }).agent.agent?.model).toBe("demo/echo");
    expect(load("agent: {id: a, version: v1, prompt: hi, model: gpt-5}", { model: "demo/echo", provider: "openai" }).agent.agent?.model).toBe("openai/gpt-5");
    expect(failure(bare).message).toBe("a.yaml:1:1: agent has no model; expected `model: provider/model`, or default_model in runtime.yaml");
    expect(failure("agent: {id: a, version: v1, prompt: hi, model: gpt-5}").message).toBe(
      "a.yaml:1:48: model `gpt-5` names no provider; expected provider/model, for example openai/gpt-5",
    );
  });

  it("lets the pipeline's step speak for itself", () => {
    const { agent: step } = load("agent: {id: a, version: v1, model: m/a, system: one, pipeline: [{id: s, type: model, prompt: hi, model: m/b, system: two}]}");
    expect([step.agent?.model, step.agent?.system, step.prompt]).toStrictEqual(["m/b", "two", "hi"]);
  });

  it("reads its own prompts by reference, the newest where no version is named, and the project's where it has none", () => {
    const text = `
prompts:
  - {id: top, text: from the top}
agent:
  id: a
  version: v1
  model: m/a
  system: prompts.role
  prompts: [{id: role, version: v2, text: two}, {id: role, version: v10, text: ten}]
  prompts_file: more.yaml
  pipeline: [{type: model, prompt: prompts.ask@v1, system: prompts.top}]`;
    const shared = [{ id: "role", version: "v99", text: "shared", weight: undefined }];
    const ask = [{ id: "ask", version: "v1", text: "Ask {{ inputs.x }}", weight: undefined }];
    const loaded = parseAgent(text, { ...DEFAULTS, prompts: shared, promptsFile: (path) => (path === "more.yaml" ? ask : []) });
    expect([loaded.agent.agent?.system, loaded.agent.prompt, loaded.agent.variants]).toStrictEqual(["from the top", "Ask {{ inputs.x }}", []]);
    const own = parseAgent(agent("  system: prompts.role\n  prompts: [{id: role, version: v2, text: two}, {id: role, version: v10, text: ten}]\n"), DEFAULTS);
    expect(own.agent.agent?.system).toBe("ten");
    expect(parseAgent(agent("  system: prompts.role\n"), { ...DEFAULTS, prompts: shared }).agent.agent?.system).toBe("shared");
  });

  it("tries prompts that have a weight beside each other, and system prompts with them", () => {
    const prompts =
      "[{id: p, version: v1, text: one, weight: 3}, {id: p, version: v2, text: two, weight: 1}, {id: p, version: v3, text: three}, {id: s, text: role}]";
    const loaded = load(`agent: {id: a, version: v1, model: m/a, system: prompts.s, prompt: prompts.p, prompts: ${prompts}}`);
    expect(loaded.agent.variants.map(({ name, weight, prompt, system }) => [name, weight, prompt, system])).toStrictEqual([
      ["s@v1 + p@v1", 3, "one", "role"],
      ["s@v1 + p@v2", 1, "two", "role"],
    ]);
    expect(load(`agent: {id: a, version: v1, model: m/a, prompt: prompts.p@v3, prompts: ${prompts}}`).agent).toMatchObject({ prompt: "three", variants: [] });
  });

  it("reads a pipeline of several steps, a key of its own for the answer, and parameters", () => {
    const loaded = load(`
agent:
  id: a
  version: v1
  model: m/a
  system: one
  output_key: findings
  params: {max_tokens: 9, seed: 1}
  temperature: 1
  tools: [tools.echo]
  pipeline:
    - {id: analyze, type: model, prompt: "Look at {{ inputs.diff }}", model: m/b}
    - {id: say, type: tool, tool: tools.echo, inputs: {message: analyze.findings, other: com.example}}
    - {id: write, type: model, prompt: "Write {{ analyze.findings }} {{ say.message }}"}`);
    expect(
      loaded.pipeline.map((step) => ("model" in step ? [step.id, step.model.agent?.model, step.model.outputKey] : [step.id, step.tool, step.inputs])),
    ).toStrictEqual([
      ["analyze", "m/b", "findings"],
      ["say", "tools.echo", { message: "analyze.findings", other: "com.example" }],
      ["write", "m/a", "findings"],
    ]);
    expect(loaded.agent.agent).toMatchObject({ temperature: 1, maxOutputTokens: 9 });
    expect(loaded.warnings).toStrictEqual(["a.yaml:8:27: the parameter `seed` is not sent; only temperature and max_tokens are"]);
  });

  it("takes parameters that it does not give from what the project says of its model, and warns of a model that is not listed", () => {
    const providers = { demo: { models: { echo: { temperature: 0.7, max_tokens: 99 }, other: {} } }, free: {} };
    const of = (text: string) => load(text, { model: "demo/echo", provider: "demo", providers });
    expect(of(agent("")).agent.agent).toMatchObject({ temperature: 0.7, maxOutputTokens: 99 });
    expect(of(agent("  temperature: 0\n  params: {max_tokens: 5}\n")).agent.agent).toMatchObject({ temperature: 0, maxOutputTokens: 5 });
    const pipeline = of(`agent: {id: a, version: v1, pipeline: [{id: x, type: model, prompt: a, model: other}, {id: y, type: model, prompt: b}]}`).pipeline;
    expect(pipeline.map((step) => "model" in step && step.model.agent?.temperature)).toEqual([undefined, 0.7]);
    expect(of(agent("  fallback_models: [free/any, ecoh]\n")).warnings).toEqual([
      "a.yaml:6:31: unknown model of demo `ecoh`; expected one of echo, other; did you mean `echo`? (llm.providers.demo.models in runtime.yaml)",
    ]);
    expect(of("agent: {id: a, version: v1, prompt: hi, model: __proto__/constructor}").warnings).toEqual([]);
  });

  it("has no use for a handler of another strategy, and none for a strategy without one", () => {
    expect(load(agent("  strategy: {type: react, custom_handler: my.Handler}\n")).warnings).toEqual([
      "a.yaml:6:27: custom_handler is only of use to strategy custom",
    ]);
    expect(failure(agent("  strategy: custom\n")).message).toMatch(/^a\.yaml:6:3: strategy custom has no custom_handler/);
  });

  it.each<[string, string, string]>([
    [
      "a strategy of one's own",
      agent("  strategy: {type: custom, custom_handler: my.Handler}\n"),
      "6:44: strategy custom is not supported: my.Handler would call models and tools itself, where no call is durable or passes the gate; expected single or react, with hooks for what is to be different, or a function step",
    ],
    ["memory", agent("  memory_injection: [working]\n"), "6:3: `memory_injection` in agent is not supported yet"],
  ])("says that %s is not built", (_name, text, expected) => {
    const error = failure(text);
    expect([error.code, error.reason]).toStrictEqual([ErrorCode.UNSUPPORTED, "AGENT_VALIDATION"]);
    expect(error.message.split("\n")[0]).toBe(`a.yaml:${expected}`);
  });

  it.each<[string, string, string[]]>([
    ["nothing", "", ["1:1: the agent file is nothing; expected a mapping"]],
    [
      "no agent",
      "agnt: {}",
      [
        "1:1: unknown key in the agent file `agnt`; expected one of schema_version, agent, prompts; did you mean `agent`?",
        "1:1: no `agent`; expected a mapping with id, version, model and prompt",
      ],
    ],
    [
      "unknown keys",
      agent("  temprature: 1\n"),
      [
        "6:3: unknown key in agent `temprature`; expected one of id, version, description, model, system, prompt, prompts, prompts_file, pipeline, strategy, tools, temperature, max_tokens, params, output_key, auto_tool_prompt, hooks, error_recovery, fallback_models, output_schema, … (23); did you mean `temperature`?",
      ],
    ],
    ["no prompt", "agent: {id: a, version: v1, model: m/a}", ["1:1: agent has no prompt; expected `prompt`, or a pipeline"]],
    ["an empty prompt", 'agent: {id: a, version: v1, model: m/a, prompt: " "}', ["1:49: the prompt is empty"]],
    ["a prompt twice", agent("  pipeline: []\n"), ["6:3: prompt and pipeline; expected one of them"]],
    ["an empty pipeline", "agent: {id: a, version: v1, model: m/a, pipeline: []}", ["1:51: `pipeline` is empty; expected at least one step"]],
    [
      "a bad placeholder",
      "agent:\n  id: a\n  version: v1\n  model: m/a\n  prompt: |\n    Look\n    at {{ inputs. }}\n",
      ["7:18: prompt: expected an expression, found the end"],
    ],
    [
      "an unknown name",
      "agent: {id: a, version: v1, model: m/a, prompt: 'x {{ input.y }} {{ analyze.text }}'}",
      [
        "1:55: unknown name in the prompt `input`; expected one of inputs, state; did you mean `inputs`?",
        "1:69: unknown name in the prompt `analyze`; expected one of inputs, state",
      ],
    ],
    [
      "what a pipeline can't be",
      "agent: {id: a, version: v1, model: m/a, tools: [tools.x], pipeline: [{id: s, type: tool, tool: tools.y}, {type: model, prompt: a}, {id: s, type: model, prompt: '{{ t.x }} {{ state.y }}'}, {id: inputs, type: model, prompt: b}]}",
      [
        "1:96: unknown tool of the agent `tools.y`; expected tools.x; did you mean `tools.x`?",
        "1:106: a pipeline step has no id",
        "1:132: duplicate pipeline step id `s`",
        "1:189: a pipeline step can't be called `inputs`; name it otherwise",
      ],
    ],
    [
      "names that a pipeline's prompt does not see",
      "agent: {id: a, version: v1, model: m/a, pipeline: [{id: s, type: model, prompt: '{{ t.x }}'}, {id: t, type: model, prompt: '{{ state.y }} {{ s.text }}'}]}",
      ["1:85: unknown name in the prompt `t`; expected inputs", "1:128: unknown name in the prompt `state`; expected one of inputs, s"],
    ],
    [
      "prompts that are not there, or not right",
      "agent: {id: a, version: v1, model: m/a, prompt: prompts.ask@v2, system: prompts.rle, prompts: [{id: ask, text: a}, {id: ask, text: b}, {text: c}, {id: role, text: d, version: x, weight: -1}]}",
      [
        "1:116: prompt ask@v1 stands twice in prompts",
        "1:136: a prompt has no id",
        "1:176: a prompt's version `x` is no version; expected v1, v2, ...",
        "1:187: a prompt's weight is -1; expected a number from 0 to 1000000",
        "1:49: unknown prompt `prompts.ask@v2`; expected one of prompts.ask, prompts.ask@v1; did you mean `prompts.ask@v1`?",
        "1:73: unknown prompt `prompts.rle`; expected one of prompts.ask, prompts.ask@v1; did you mean `prompts.ask`?",
      ],
    ],
    [
      "bounds",
      agent("  temperature: 3\n  max_tokens: 0\n  strategy: {type: react, max_iterations: 0}\n"),
      [
        "8:43: max_iterations is 0; expected a whole number from 1 to 1000",
        "6:16: temperature is 3; expected a number from 0 to 2",
        "7:15: max_tokens is 0; expected a whole number from 1 to 10000000",
      ],
    ],
  ])("refuses %s", (_name, text, expected) => {
    const error = failure(text);
    expect(error.code).toBe(ErrorCode.VALIDATION);
    expect(error.message.replaceAll("a.yaml:", "").split("\n")).toStrictEqual(expected);
  });
});
