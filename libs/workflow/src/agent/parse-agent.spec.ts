import { toJson } from "@bufbuild/protobuf";
import { ForgeError } from "@forge/protocol";
import { ErrorCode } from "@forge/protocol/common";
import { AgentStepSchema } from "@forge/protocol/workflow";
import { describe, expect, it } from "vitest";
import type { LoadedAgent } from "./agent-source.ts";
import { parseAgent } from "./parse-agent.ts";

const DEFAULTS = { file: "a.yaml", model: undefined, provider: undefined };

function load(text: string, defaults: Partial<typeof DEFAULTS> | { model: string; provider: string } = {}): LoadedAgent {
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

  it.each<[string, string, string]>([
    [
      "two pipeline steps",
      "agent: {id: a, version: v1, model: m/a, pipeline: [{id: s, type: model, prompt: hi}, {id: t, type: model, prompt: ho}]}",
      "1:86: a pipeline of 2 steps is not supported yet; expected one model step",
    ],
    [
      "a tool step",
      "agent: {id: a, version: v1, model: m/a, pipeline: [{id: s, type: tool, tool: tools.x}]}",
      "1:72: `tool` in a pipeline step is not supported yet",
    ],
    ["a strategy of one's own", agent("  strategy: {type: custom}\n"), "6:14: strategy custom is not supported yet; expected single or react"],
    ["prompts of a registry", agent("  prompts: []\n"), "6:3: `prompts` in agent is not supported yet"],
    [
      "a system prompt by reference",
      agent("  system: prompts.review@v2\n"),
      "6:11: a reference to the prompt registry is not supported yet; expected the text itself",
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
        "1:1: unknown key in the agent file `agnt`; expected one of schema_version, agent; did you mean `agent`?",
        "1:1: no `agent`; expected a mapping with id, version, model and prompt",
      ],
    ],
    [
      "unknown keys",
      agent("  temprature: 1\n"),
      [
        "6:3: unknown key in agent `temprature`; expected one of id, version, description, model, system, prompt, pipeline, strategy, tools, temperature, max_tokens, auto_tool_prompt; did you mean `temperature`?",
      ],
    ],
    ["no prompt", "agent: {id: a, version: v1, model: m/a}", ["1:1: agent has no prompt; expected `prompt`, or a pipeline of one model step"]],
    ["an empty prompt", 'agent: {id: a, version: v1, model: m/a, prompt: " "}', ["1:49: the prompt is empty"]],
    ["a prompt twice", agent("  pipeline: []\n"), ["6:3: prompt and pipeline; expected one of them"]],
    ["an empty pipeline", "agent: {id: a, version: v1, model: m/a, pipeline: []}", ["1:51: `pipeline` is empty; expected one model step"]],
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
