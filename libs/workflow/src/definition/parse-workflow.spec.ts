import { toJson } from "@bufbuild/protobuf";
import { ForgeError } from "@forge/protocol";
import { ErrorCode } from "@forge/protocol/common";
import { WorkflowDefinitionSchema } from "@forge/protocol/workflow";
import { describe, expect, it } from "vitest";
import { agents } from "../testing/agents.ts";
import { definitionReferences } from "./definition-references.ts";
import type { LoadedWorkflow } from "./loaded-workflow.ts";
import { parseWorkflow } from "./parse-workflow.ts";

const HEAD = "workflow: {id: w, version: v1}\n";

function load(text: string): LoadedWorkflow {
  return parseWorkflow(text, { file: "w.yaml", agents });
}

function json(text: string): Record<string, unknown> {
  const value = toJson(WorkflowDefinitionSchema, load(text).definition, { useProtoFieldName: true }) as Record<string, unknown>;
  delete value["workflow_yaml"];
  return value;
}

/** The problems of steps, a line each, without the file's name; line 1 is the head. */
function problems(text: string): string[] {
  return failure(text).message.replaceAll("w.yaml:", "").split("\n");
}

function failure(text: string): ForgeError {
  try {
    load(text);
  } catch (error) {
    if (error instanceof ForgeError) return error;
    throw error;
  }
  throw new Error("the workflow was accepted");
}

const step = (fields: string): string => `${HEAD}steps:\n  - {id: a, type: tool, tool: tools.echo${fields}}\n`;

describe("parseWorkflow", () => {
  it("reads every field of the format", () => {
    const text = `
schema_version: v1
workflow:
  id: triage
  version: "1.2"
  description: Sorts bug reports
inputs:
  issue:
    description: The report
  limit: {required: false, default: 3}
  note:
on_error: continue
steps:
  - id: parse
    type: function
    function: parse.parse_report
    idempotent: false
    inputs: {issue: inputs.issue, limit: 10, tags: [a, 1], text: "steps. Not a path", yes: no}
    outputs: [title, diff]
    retry: {attempts: 3, backoff: exponential, initial_delay: 0.5}
    timeout: 1500ms
  - id: review
    type: agent
    agent: reviewer@v1
    inputs: {diff: "{{ steps.parse.title }}: {{ len(state.steps.parse.diff) }}"}
    next:
      - when: state.steps.review.severity in ["high", "critical"]
        goto: end
      - default: save
  - id: save
    type: tool
    tool: tools.file
    inputs: [title, issue]
    next: {default: end}
    timeout: 5
`;
    expect(json(text)).toStrictEqual({
      id: "triage",
      version: "v1.2",
      on_error: "ON_ERROR_CONTINUE",
      inputs: [
        { name: "issue", description: "The report", required: true },
        { name: "limit", default_json: "3" },
        { name: "note", required: true },
      ],
      steps: [
        {
          id: "parse",
          function: { name: "parse.parse_report", not_idempotent: true },
          inputs: {
            issue: { path: "inputs.issue" },
            limit: { literal_json: "10" },
            tags: { literal_json: '["a",1]' },
            text: { literal_json: '"steps. Not a path"' },
            yes: { literal_json: '"no"' },
          },
          outputs: ["title", "diff"],
          retry: { attempts: 3, backoff: "BACKOFF_EXPONENTIAL", initial_delay: "0.500s" },
          timeout: "1.500s",
        },
        {
          id: "review",
          agent: { agent: { model: "demo/echo", tools: ["tools.file"] }, prompt: "Look at {{ inputs.diff }}", agent_id: "reviewer", agent_version: "v1" },
          inputs: { diff: { template: "{{ steps.parse.title }}: {{ len(state.steps.parse.diff) }}" } },
          next: [{ when: 'state.steps.review.severity in ["high", "critical"]', goto: "end" }],
          next_default: "save",
        },
        {
          id: "save",
          tool: { tool: "tools.file" },
          inputs: { title: { path: "steps.parse.title" }, issue: { path: "inputs.issue" } },
          next_default: "end",
          timeout: "5s",
        },
      ],
    });
  });

  it("keeps the text, and hashes only what it means", () => {
    const text = step(", inputs: {b: 1, a: inputs.x}");
    const same = `\uFEFF# a comment\r\nsteps:\r\n- tool: tools.echo\r\n  type: tool\r\n  inputs: {a: inputs.x, b: 1}\r\n  id: a\r\nworkflow: {version: 1, id: "w"}\r\n`;
    const [one, two] = [load(text), load(same)];
    expect(two.definition.workflowYaml).toBe(same);
    expect(one.hash).toMatch(/^[0-9a-f]{64}$/);
    expect(two.hash).toBe(one.hash);
    expect(load(step(", inputs: {b: 2, a: inputs.x}")).hash).not.toBe(one.hash);
  });

  it("takes inputs as a list, as the older list, or from what is read", () => {
    const reads =
      "steps: [{id: a, type: tool, tool: t, inputs: {x: inputs.x, y: '{{ len(inputs.y) }}'}, next: [{when: state.inputs.z, goto: end}, {default: end}]}]\n";
    const names = (text: string): unknown => json(text)["inputs"];
    const required = [
      { name: "x", required: true },
      { name: "y", required: true },
      { name: "z", required: true },
    ];
    expect(names(`${HEAD}inputs: [x, y, z]\n${reads}`)).toStrictEqual(required);
    expect(names(`${HEAD}inputs_contract: [x, y, z]\n${reads}`)).toStrictEqual(required);
    expect(names(HEAD + reads)).toStrictEqual([{ name: "x", required: true }, { name: "y" }, { name: "z" }]);
  });

  it("names what has to be served", () => {
    const text = `${HEAD}steps: [{id: a, type: function, function: m.f}, {id: b, type: tool, tool: tools.x}, {id: c, type: agent, agent: reviewer}, {id: d, type: tool, tool: tools.x}]`;
    expect(definitionReferences(load(text).definition)).toStrictEqual({ functions: ["m.f"], tools: ["tools.x", "tools.file"], models: ["demo/echo"] });
  });

  it("carries file, line and column of the first problem, and lists the rest", () => {
    const error = failure(`${HEAD}steps:\n  - id: a\n    type: tool\n    tol: x\n  - id: a.b\n    type: agent\n    agent: reviwer\n`);
    expect(error.code).toBe(ErrorCode.VALIDATION);
    expect(error.reason).toBe("WORKFLOW_VALIDATION");
    expect(error.detail.metadata).toStrictEqual({ file: "w.yaml", line: "4", column: "5", problems: "4" });
    expect(error.message.split("\n")).toStrictEqual([
      "w.yaml:4:5: step a names no tool; expected `tool: <name>`",
      "w.yaml:5:5: unknown key in step a `tol`; expected one of id, type, agent, function, tool, wait, workflow, inputs, outputs, retry, next, timeout, timeout_ms, needs, when, for_each, output_schema, heartbeat_timeout; did you mean `tool`?",
      "w.yaml:6:9: step id `a.b` is no valid name; expected letters, digits, `_` and `-`",
      "w.yaml:8:12: unknown agent `reviwer`; expected reviewer; did you mean `reviewer`?",
    ]);
  });

  it.each<[string, string, string[]]>([
    [
      "a branch to nowhere",
      step(", next: [{when: 'True', goto: b}, {default: ende}]"),
      [
        "3:71: unknown step in next `b`; expected one of a, end; did you mean `a`?",
        "3:85: unknown step in next `ende`; expected one of a, end; did you mean `end`?",
      ],
    ],
    ["a bad condition", step(", next: [{when: 'state.steps.a.x &&', goto: end}]"), ["3:74: next.when: unexpected `&`: write `and`"]],
    ["a condition over unknown names", step(", next: [{when: steps.a.x, goto: end}]"), ["3:57: unknown name `steps`; write `state.steps`"]],
    ["a condition over an unknown step", step(", next: [{when: state.steps.aa.x, goto: end}]"), ["3:69: unknown step `aa`; expected a; did you mean `a`?"]],
    ["a rule without its target", step(", next: [{when: 'True'}]"), ["3:50: a next rule has when and no goto; expected both"]],
    ["a rule without its condition", step(", next: [{goto: end}]"), ["3:50: a next rule has goto and no when; expected both, or default"]],
    ["two defaults", step(", next: [{default: end}, {default: a}]"), ["3:67: a second default; expected one"]],
    ["a read of the step itself", step(", inputs: {x: steps.a.y}"), ["3:61: step a reads its own output; expected an earlier step"]],
    [
      "a read of an unknown input",
      `inputs: [issue]\n${step(", inputs: {x: inputs.isue, y: '{{ inputs.isseu }}'}")}`,
      ["4:62: unknown input `isue`; expected issue; did you mean `issue`?", "4:82: unknown input `isseu`; expected issue; did you mean `issue`?"],
    ],
    ["a bad template", step(", inputs: {x: 'a {{ 1 + }}'}"), ["3:64: input x: expected an expression, found the end"]],
    ["an unclosed template", step(', inputs: {x: "a {{ b"}'), ["3:58: input x: `{{` without `}}`"]],
    [
      "an unknown name in a template",
      step(", inputs: {x: '{{ input.y }}'}"),
      ["3:59: unknown name `input`; expected one of inputs, steps, runtime, state; did you mean `inputs`?"],
    ],
    [
      "a retry out of bounds",
      step(", retry: {attempts: 0, backoff: expo, initial_delay: 2h}"),
      [
        "3:61: retry.attempts is 0; expected a whole number from 1 to 100",
        "3:73: unknown retry.backoff `expo`; expected one of fixed, exponential",
        "3:94: retry.initial_delay is out of bounds; expected seconds or a text like 30s, from 0ms to 1h",
      ],
    ],
    ["a timeout that is no duration", step(", timeout: soon"), ["3:52: timeout is no duration; expected seconds or a text like 30s, from 1ms to 7d"]],
    ["two timeouts", step(", timeout: 1, timeout_ms: 1"), ["3:55: timeout and timeout_ms; expected one of them"]],
    ["an output written twice", step(", outputs: [x, x]"), ["3:56: `x` stands twice in outputs"]],
    [
      "an output that is no key",
      step(", outputs: [a.b, __proto__]"),
      [
        "3:53: output `a.b` is no valid name; expected a letter or `_`, then letters, digits, `_` and `-`",
        "3:58: output `__proto__` is no valid name; expected a letter or `_`, then letters, digits, `_` and `-`",
      ],
    ],
    [
      "an input called __proto__",
      step(", inputs: {__proto__: 1}"),
      ["3:52: input `__proto__` is no valid name; expected a letter or `_`, then letters, digits, `_` and `-`"],
    ],
    ["a hidden __proto__ in a literal", step(", inputs: {x: {__proto__: {a: 1}}}"), ["3:56: the key `__proto__` in input x is not allowed"]],
    [
      "a number that JSON has not",
      step(", inputs: {x: .nan, y: 12345678901234567890}"),
      [
        "3:55: input x has a number that JSON can't hold exactly; put it in quotes",
        "3:64: input y has a number that JSON can't hold exactly; put it in quotes",
      ],
    ],
    ["the name of another type", `${HEAD}steps: [{id: a, type: tool, tool: t, agent: x}]`, ["2:38: `agent` in step a, whose type is tool"]],
    [
      "an unknown type",
      `${HEAD}steps: [{id: a, type: tol, tool: t}]`,
      ["2:23: unknown type `tol`; expected one of agent, function, tool, wait, workflow; did you mean `tool`?"],
    ],
    [
      "a function whose name is none",
      `${HEAD}steps: [{id: a, type: function, function: f-g}]`,
      ["2:43: function `f-g` is no valid name; expected module.function, for example parse.parse_report"],
    ],
    [
      "a function that climbs out",
      `${HEAD}steps: [{id: a, type: function, function: ../x.f}]`,
      ["2:43: function `../x.f` is no valid name; expected module.function, for example parse.parse_report"],
    ],
    [
      "an id taken by the language",
      `${HEAD}steps: [{id: __proto__, type: tool, tool: t}]`,
      ["2:14: step id `__proto__` is no valid name; expected letters, digits, `_` and `-`"],
    ],
    [
      "ids with a slash, a space, a dot",
      `${HEAD}steps: [{id: a/b, type: tool, tool: t}, {id: a b, type: tool, tool: t}, {id: .., type: tool, tool: t}]`,
      [
        "2:14: step id `a/b` is no valid name; expected letters, digits, `_` and `-`",
        "2:46: step id `a b` is no valid name; expected letters, digits, `_` and `-`",
        "2:78: step id `..` is no valid name; expected letters, digits, `_` and `-`",
      ],
    ],
    ["a step called end", `${HEAD}steps: [{id: end, type: tool, tool: t}]`, ["2:14: step id `end` is taken: a branch to `end` ends the run"]],
    ["a duplicate id", `${HEAD}steps: [{id: a, type: tool, tool: t}, {id: a, type: tool, tool: t}]`, ["2:44: duplicate step id `a`"]],
    [
      "an unknown agent version",
      `${HEAD}steps: [{id: a, type: agent, agent: reviewer@v2}]`,
      ["2:37: unknown agent `reviewer@v2`; expected reviewer; did you mean `reviewer`?"],
    ],
    [
      "a prompt's input that is not given",
      `${HEAD}steps: [{id: a, type: agent, agent: reviewer, inputs: {dif: 1}}]`,
      ["2:37: the prompt of agent reviewer reads an unknown input `diff`; expected dif; did you mean `dif`? Step a does not give it"],
    ],
    ["a number as an id", `${HEAD}steps: [{id: 12, type: tool, tool: t}]`, ["2:14: a step's id is the number 12; expected a text; put it in quotes"]],
    ["nothing as an id", `${HEAD}steps:\n  - id:\n    type: tool\n    tool: t\n`, ["3:8: a step's id is nothing; expected a text"]],
    ["no steps", `${HEAD}steps: []`, ["2:8: `steps` is empty; expected at least one step"]],
    ["steps that are none", `${HEAD}steps: {a: 1}`, ["2:8: steps is a mapping; expected a list", "2:8: `steps` is empty; expected at least one step"]],
    ["nothing", "", ["1:1: the workflow file is nothing; expected a mapping"]],
    [
      "neither head nor steps",
      "on_error: stop\n",
      [
        "1:1: no `workflow`; expected a mapping with id and version",
        "1:11: unknown on_error `stop`; expected one of fail_fast, continue",
        "1:1: no `steps`; expected a list of at least one step",
      ],
    ],
    [
      "a head without its parts",
      `workflow: {id: a b, versin: 1}\nsteps: [{id: a, type: tool, tool: t}]`,
      [
        "1:21: unknown key in workflow `versin`; expected one of id, version, description; did you mean `version`?",
        "1:1: workflow has no version; expected v1, v2, ...",
        "1:16: workflow id `a b` is no valid name; expected letters, digits, `_` and `-`",
      ],
    ],
    [
      "a version that is none",
      `workflow: {id: a, version: latest}\nsteps: [{id: a, type: tool, tool: t}]`,
      ["1:28: workflow version `latest` is no version; expected v1, v2, ..."],
    ],
    ["a later schema", `schema_version: v2\n${step("")}`, ["1:17: schema_version v2 is unknown; expected v1"]],
    ["two kinds of inputs", `inputs: [a]\ninputs_contract: [a]\n${step("")}`, ["2:1: inputs and inputs_contract; expected one of them"]],
    ["a duplicate input", `inputs: [a, a]\n${step("")}`, ["1:13: duplicate input `a`"]],
    [
      "an input with unknown keys",
      `inputs: {a: {requird: true}}\n${step("")}`,
      ["1:14: unknown key in input a `requird`; expected one of description, required, default; did you mean `required`?"],
    ],
  ])("refuses %s", (_name, text, expected) => {
    expect(problems(text)).toStrictEqual(expected);
  });

  it("points into literal blocks and quoted texts", () => {
    const text = `${HEAD}steps:\n  - id: a\n    type: tool\n    tool: t\n    inputs:\n      x: |\n        First line\n\n        then {{ inputs.y + }} here\n`;
    expect(problems(text)).toStrictEqual(["10:27: input x: expected an expression, found the end"]);
  });

  it("says plainly what is right and not built", () => {
    const error = failure(step(", optional: true, default: {}"));
    expect(error.code).toBe(ErrorCode.UNSUPPORTED);
    expect(error.message).toBe("w.yaml:3:43: `optional` in step a is not supported yet\nw.yaml:3:59: `default` in step a is not supported yet");
  });

  it("takes ten thousand steps, and no more", () => {
    const steps = (count: number): string =>
      `${HEAD}steps:\n${Array.from({ length: count }, (_, index) => `  - {id: s${index}, type: tool, tool: t, inputs: {x: steps.s${Math.max(0, index - 1)}.y}}`)
        .join("\n")
        .replace("steps.s0.y", "1")}`;
    expect(load(steps(10_000)).definition.steps).toHaveLength(10_000);
    expect(problems(steps(10_001))).toStrictEqual(["3:3: 10001 steps; at most 10000 are allowed"]);
  });
});

describe("contracts", () => {
  const steps = (...items: string[]): string =>
    `inputs: [issue]\n${HEAD}steps:\n${items.map((item, index) => `  - {id: s${index}, type: tool, tool: t, ${item}}`).join("\n")}\n`;

  it("prefers an earlier step's output to an input of the same name", () => {
    const definition = json(steps("outputs: [issue]", "inputs: [issue]"));
    expect((definition["steps"] as { inputs: unknown }[])[1]?.inputs).toStrictEqual({ issue: { path: "steps.s0.issue" } });
  });

  it("lets two branches write one key, unless somebody asks for it without saying whose", () => {
    expect(() => load(steps("outputs: [text]", "outputs: [text]"))).not.toThrow();
    expect(problems(steps("outputs: [text]", "outputs: [text]", "inputs: [text]"))).toStrictEqual([
      "6:44: input text of step s2 is written by steps s0 and s1; expected a mapping, for example `text: steps.s1.text`",
    ]);
  });

  it("finds reads of the future, of nothing, and of what a step does not write", () => {
    expect(problems(steps("inputs: [late, isue]", "outputs: [late]"))).toStrictEqual([
      "4:44: step s0 reads late of step s1, which comes later; expected an input or an output of an earlier step",
      "4:50: unknown input of step s0 `isue`; expected one of issue, late; did you mean `issue`?",
    ]);
    expect(problems(steps("inputs: {x: steps.s1.late}", "outputs: [late]", "inputs: {x: steps.s1.lat, y: steps.s9.x}"))).toStrictEqual([
      "4:53: step s0 reads step s1, which comes later; expected an earlier step",
      "6:56: unknown output of step s1 `lat`; expected late; did you mean `late`?",
      "6:70: unknown step `s9`; expected one of s0, s1, s2; did you mean `s0`?",
    ]);
  });
});
