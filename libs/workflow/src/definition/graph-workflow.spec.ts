import { toJson } from "@bufbuild/protobuf";
import { ForgeError } from "@forge/protocol";
import { WorkflowDefinitionSchema } from "@forge/protocol/workflow";
import { describe, expect, it } from "vitest";
import { agents } from "../testing/agents.ts";
import type { DefinitionSource } from "./definition-source.ts";
import type { LoadedWorkflow } from "./loaded-workflow.ts";
import { parseWorkflow } from "./parse-workflow.ts";

const HEAD = "workflow: {id: w, version: v1}\n";

/** One other workflow, `other`, which requires `name`; and one schema. */
const source: DefinitionSource = {
  workflow: (reference) =>
    reference === "other"
      ? {
          kind: "found",
          workflow: parseWorkflow(`workflow: {id: other, version: v3}\ninputs: {name: , size: {default: 1}}\nsteps: [{id: a, tool: t}]\n`, {
            file: "other.yaml",
            agents,
          }),
        }
      : { kind: "missing", message: `unknown workflow \`${reference}\`; expected other` },
  text: (path) => (path === "schemas/a.json" ? { kind: "found", text: '{"type": "object"}' } : { kind: "missing", message: `there is no file ${path}` }),
};

function load(text: string): LoadedWorkflow {
  return parseWorkflow(text, { file: "w.yaml", agents, source });
}

function steps(text: string): unknown[] {
  return (toJson(WorkflowDefinitionSchema, load(HEAD + text).definition, { useProtoFieldName: true }) as { steps: unknown[] }).steps;
}

/** Of steps from line 3 on, a line each. */
function problems(...items: string[]): string[] {
  return problemsOf(`${HEAD}steps:\n${items.map((item) => `  - {${item}}`).join("\n")}\n`);
}

function problemsOf(text: string): string[] {
  try {
    load(text);
  } catch (error) {
    if (error instanceof ForgeError) return error.message.replaceAll("w.yaml:", "").split("\n");
    throw error;
  }
  throw new Error("the workflow was accepted");
}

describe("a workflow that is a graph", () => {
  it("reads all there is", () => {
    const text = `
parallel_max: 4
deadline: 2d
steps:
  - id: list
    function: files.list
    output_schema:
      type: object
      required: [files]
  - id: read
    tool: tools.read
    needs: list
    heartbeat_timeout: 30s
    for_each:
      items: steps.list.files
      as: file
      concurrency: 3
      on_error: continue
    inputs: {path: file.path, number: file_index, label: "{{ file.path }} of {{ len(steps.list.files) }}"}
    output_schema: schemas/a.json
  - id: each
    tool: t
    needs: [list]
    when: len(state.steps.list.files) > 0
    for_each: [1, 2]
    inputs: [item]
  - id: pause
    needs: [read]
    wait: 90
  - id: later
    needs: [read]
    wait: {until: "{{ inputs.at }}"}
  - id: reply
    needs: [each]
    wait: {signal: replied, timeout: 30d}
    outputs: [text]
  - id: ask
    type: wait
    needs: [reply]
    wait: {approval: "Send {{ steps.reply.text }}?"}
    timeout: 1h
  - id: send
    workflow: other
    needs: [ask]
    inputs: {name: steps.reply.text}
    timeout: 100d
`;
    const loaded = load(HEAD + text);
    expect(loaded.definition).toMatchObject({ parallelMax: 4, deadline: { seconds: 172_800n }, inputs: [{ name: "at" }] });
    expect(loaded.warnings).toEqual([]);
    expect(steps(text)).toMatchObject([
      { id: "list", function: { name: "files.list" }, output_schema_json: '{"type":"object","required":["files"]}' },
      {
        id: "read",
        needs: ["list"],
        heartbeat_timeout: "30s",
        for_each: { items: { path: "steps.list.files" }, as: "file", concurrency: 3, on_error: "ON_ERROR_CONTINUE" },
        inputs: { path: { path: "file.path" }, number: { path: "file_index" }, label: { template: "{{ file.path }} of {{ len(steps.list.files) }}" } },
        output_schema_json: '{"type":"object"}',
      },
      { id: "each", when: "len(state.steps.list.files) > 0", for_each: { items: { literal_json: "[1,2]" } }, inputs: { item: { path: "item" } } },
      { id: "pause", wait: { duration: "90s" } },
      { id: "later", wait: { until: { template: "{{ inputs.at }}" } } },
      { id: "reply", wait: { signal: "replied" }, timeout: "2592000s", outputs: ["text"] },
      { id: "ask", wait: { approval: { question: "Send {{ steps.reply.text }}?" } }, timeout: "3600s" },
      { id: "send", workflow: { definition: { id: "other", version: "v3" } }, inputs: { name: { path: "steps.reply.text" } }, timeout: "8640000s" },
    ]);
  });

  it("takes a step's kind from its key, whether or not type says it", () => {
    expect(load(`${HEAD}steps: [{id: a, tool: t}]`).hash).toBe(load(`${HEAD}steps: [{id: a, type: tool, tool: t}]`).hash);
    expect(load(`${HEAD}steps: [{id: a, wait: 5m}]`).hash).toBe(load(`${HEAD}steps: [{id: a, type: wait, wait: {duration: 300}}]`).hash);
  });

  it("finds an input by name in the steps that it needs, and only there", () => {
    const text =
      "steps: [{id: a, tool: t, outputs: [x]}, {id: b, tool: t, outputs: [x]}, {id: c, tool: t, needs: a}, {id: d, tool: t, needs: [b, c], inputs: {y: steps.b.x}}, {id: e, tool: t, needs: c, inputs: [x]}]";
    expect(steps(text)[4]).toMatchObject({ inputs: { x: { path: "steps.a.x" } } });
    expect(problemsOf(`${HEAD}${text.replace("needs: c, inputs", "needs: d, inputs")}`)).toEqual([
      "2:194: input x of step e is written by steps a and b; expected a mapping, for example `x: steps.b.x`",
    ]);
  });

  it.each<[string, string[], string[]]>([
    [
      "an unknown need",
      ["id: fetch, tool: t", "id: b, tool: t, needs: [fetsh]"],
      ["4:30: unknown step in needs of step b `fetsh`; expected one of fetch, b; did you mean `fetch`?"],
    ],
    [
      "a cycle",
      ["id: a, tool: t, needs: c", "id: b, tool: t, needs: [a]", "id: c, tool: t, needs: [b]"],
      ["3:29: steps that need each other: a -> c -> b -> a; expected an order in which each comes after those that it needs"],
    ],
    [
      "a step that needs itself",
      ["id: a, tool: t, needs: a"],
      ["3:29: steps that need each other: a -> a; expected an order in which each comes after those that it needs"],
    ],
    ["a need twice", ["id: a, tool: t", "id: b, tool: t, needs: [a, a]"], ["4:33: `a` stands twice in needs"]],
    [
      "needs beside next",
      ["id: a, tool: t, next: {default: b}", "id: b, tool: t, needs: a"],
      ["3:22: step a has next, but other steps have needs; expected one or the other in one workflow"],
    ],
    ["when without needs", ["id: a, tool: t, when: 'True'"], ["3:28: step a has when, but no step has needs; expected next, which branches a sequence"]],
    ["a when that does not parse", ["id: a, tool: t", "id: b, tool: t, needs: a, when: 'state.steps.a.x &&'"], ["4:55: when: unexpected `&`: write `and`"]],
    [
      "a when over an unknown step",
      ["id: aa, tool: t", "id: b, tool: t, needs: aa, when: state.steps.ab.x"],
      ["4:51: unknown step `ab`; expected one of aa, b; did you mean `aa`?"],
    ],
    [
      "reads of what may not have ended",
      [
        "id: a, tool: t",
        "id: b, tool: t, needs: a, when: state.steps.c.x",
        "id: c, tool: t, needs: a, inputs: {x: steps.b.y, y: '{{ len(state.steps.b) }}', z: steps.c.x}",
        "id: d, agent: reviewer, needs: a, for_each: steps.b.list, inputs: {diff: item}",
      ],
      [
        "4:50: step b reads step c, which it does not need; add it to needs",
        "5:50: step c reads step b, which it does not need; add it to needs",
        "5:78: step c reads step b, which it does not need; add it to needs",
        "5:95: step c reads its own output; expected a step that it needs",
        "6:56: step d reads step b, which it does not need; add it to needs",
      ],
    ],
    [
      "a read by name of what it does not need",
      ["id: a, tool: t, outputs: [x]", "id: b, tool: t, needs: a", "id: c, tool: t, inputs: [x]"],
      ["5:31: step c reads x of step a, which it does not need; expected an input or an output of a step that it needs"],
    ],
  ])("refuses %s", (_name, items, expected) => {
    expect(problems(...items)).toEqual(expected);
  });
});

describe("for_each", () => {
  it.each<[string, string, string[]]>([
    [
      "a text that is no list",
      "tool: t, for_each: files",
      ["3:32: for_each is the text `files`; expected a list, a path such as inputs.files or steps.find.files, or a template"],
    ],
    ["a number", "tool: t, for_each: 3", ["3:32: for_each is no list; expected a list, a path such as inputs.files or steps.find.files, or a template"]],
    ["no items", "tool: t, for_each: {as: x}", ["3:32: for_each has no items; expected a list, a path into the state, or a template"]],
    [
      "a mapping as items",
      "tool: t, for_each: {items: {a: 1}}",
      ["3:40: for_each is no list; expected a list, a path such as inputs.files or steps.find.files, or a template"],
    ],
    [
      "an unknown key",
      "tool: t, for_each: {items: [], concurency: 1}",
      ["3:44: unknown key in for_each `concurency`; expected one of items, as, concurrency, on_error; did you mean `concurrency`?"],
    ],
    ["too much at once", "tool: t, for_each: {items: [], concurrency: 1001}", ["3:57: for_each.concurrency is 1001; expected a whole number from 1 to 1000"]],
    [
      "an unknown on_error",
      "tool: t, for_each: {items: [], on_error: go_on}",
      ["3:54: unknown for_each.on_error `go_on`; expected one of fail_fast, continue"],
    ],
    [
      "a name with a meaning",
      "tool: t, for_each: {items: [], as: state}",
      ["3:48: for_each.as `state`: `state` has a meaning of its own; call the item otherwise"],
    ],
    [
      "a name of the language",
      "tool: t, for_each: {items: [], as: __proto__}",
      ["3:48: for_each.as `__proto__`: an item's name is a letter, then letters, digits and `_`"],
    ],
    [
      "an item by another name",
      "tool: t, for_each: {items: [], as: file}, inputs: {x: '{{ item.y }}'}",
      ["3:71: unknown name `item`; expected one of inputs, steps, runtime, state, file, file_index"],
    ],
    ["a wait", "wait: 5m, for_each: [1]", ["3:23: `for_each` in step a, which waits"]],
    [
      "itself",
      "tool: t, for_each: steps.a.list",
      [
        "3:38: step a reads its own output; expected an earlier step",
        "3:40: step a has a for_each, so its output is a list; expected an index, for example steps.a.0",
      ],
    ],
    ["too many items", `tool: t, for_each: [${"1,".repeat(10_001)}]`, ["3:32: for_each has 10001 items; at most 10000 are allowed"]],
  ])("refuses %s", (_name, fields, expected) => {
    expect(problems(`id: a, ${fields}`)).toEqual(expected);
  });

  it("makes a list, which is read by index", () => {
    expect(problems("id: a, tool: t, for_each: [1], outputs: [x]", "id: b, tool: t, inputs: {x: steps.a.x, y: steps.a.0.x, z: steps.a}")).toEqual([
      "4:42: step a has a for_each, so its output is a list; expected an index, for example steps.a.0",
    ]);
    expect(problems("id: a, tool: t, for_each: [1], outputs: [x]", "id: b, tool: t, inputs: [x]")).toEqual([
      "4:31: unknown input of step b `x`; there are none",
    ]);
  });

  it("is a text like any other where there is no item", () => {
    expect(steps("steps: [{id: a, tool: t, inputs: {x: item.name}}]")).toMatchObject([{ inputs: { x: { literal_json: '"item.name"' } } }]);
  });
});

describe("a wait", () => {
  it.each<[string, string, string[]]>([
    ["nothing", "wait: {}", ["3:19: step a waits for nothing; expected one of duration, until, signal, approval"]],
    ["two things", "wait: {signal: x, duration: 5m}", ["3:20: step a waits for duration and signal; expected one of them"]],
    ["no duration", "wait: soon", ["3:19: wait is no duration; expected seconds or a text like 30s, from 1ms to 366d"]],
    ["too long", "wait: 367d", ["3:19: wait is out of bounds; expected seconds or a text like 30s, from 1ms to 366d"]],
    ["not at all", "wait: {duration: 0}", ["3:30: wait.duration is out of bounds; expected seconds or a text like 30s, from 1ms to 366d"]],
    [
      "a time without its zone",
      "wait: {until: 2026-03-29T09:00:00}",
      ["3:27: wait.until is no time with its zone; expected one such as 2026-03-29T09:00:00+01:00, a path into the state, or a template"],
    ],
    [
      "a day that is none",
      "wait: {until: '2026-13-29T09:00:00Z'}",
      ["3:27: wait.until is no time with its zone; expected one such as 2026-03-29T09:00:00+01:00, a path into the state, or a template"],
    ],
    ["a signal without a name", "wait: {signal: ''}", ["3:28: wait.signal is empty; expected the name of a signal"]],
    ["a question with a broken template", "wait: {approval: 'Go {{ on'}", ["3:34: the question of wait.approval: `{{` without `}}`"]],
    [
      "an unknown input in a question",
      "wait: {approval: 'Go {{ input.x }}'}",
      ["3:37: unknown name `input`; expected one of inputs, steps, runtime, state; did you mean `inputs`?"],
    ],
    [
      "an unknown key",
      "wait: {signl: x}",
      [
        "3:20: unknown key in wait `signl`; expected one of duration, until, signal, approval, timeout; did you mean `signal`?",
        "3:19: step a waits for nothing; expected one of duration, until, signal, approval",
      ],
    ],
    ["a timeout of a wait for a time", "wait: 5m, timeout: 1h", ["3:23: step a waits for a time, which needs no timeout"]],
    ["two timeouts", "wait: {signal: x, timeout: 1h}, timeout: 1h", ["3:31: a timeout of the step and one of its wait; expected one of them"]],
    [
      "inputs and tries",
      "wait: {signal: x}, inputs: {x: 1}, retry: {attempts: 2}",
      ["3:32: `inputs` in step a, which waits", "3:48: `retry` in step a, which waits"],
    ],
  ])("is refused that is for %s", (_name, fields, expected) => {
    expect(problems(`id: a, ${fields}`)).toEqual(expected);
  });
});

describe("a step of a workflow", () => {
  it.each<[string, string, string[]]>([
    ["names none that is there", "workflow: othr", ["3:23: unknown workflow `othr`; expected other"]],
    [
      "gives an unknown input",
      "workflow: other, inputs: {nmae: 1, name: 2}",
      ["3:39: unknown input of workflow other `nmae`; expected one of name, size; did you mean `name`?"],
    ],
    ["gives too little", "workflow: other", ["3:23: workflow other requires the input `name`; step a does not give it"]],
    ["has two kinds", "workflow: other, tool: t", ["3:13: step a has tool and workflow; expected one of them"]],
    [
      "speaks of heartbeats",
      "workflow: other, inputs: {name: 1}, heartbeat_timeout: 5s",
      ["3:49: `heartbeat_timeout` in step a, whose type is workflow; expected it of a function or tool"],
    ],
    ["has neither type nor kind", "inputs: {name: 1}", ["3:5: step a has no type; expected one of agent, function, tool, wait, workflow"]],
  ])("is refused that %s", (_name, fields, expected) => {
    expect(problems(`id: a, ${fields}`)).toEqual(expected);
  });

  it("may take the longest time, and a tool may not", () => {
    expect(problems("id: a, tool: t, timeout: 8d")).toEqual(["3:31: timeout is out of bounds; expected seconds or a text like 30s, from 1ms to 7d"]);
  });
});

describe("output_schema", () => {
  it.each<[string, string, string[]]>([
    [
      "an unknown type",
      "output_schema: {properties: {x: {type: txt}}}",
      [
        '3:61: output_schema is no JSON Schema (2020-12) at properties.x.type: must be equal to one of the allowed values: "array", "boolean", "integer", "null", "number", "object", "string"',
      ],
    ],
    ["a list", "output_schema: [1]", ["3:37: output_schema is no JSON Schema; expected a mapping, or a .json file of the project"]],
    ["some text", "output_schema: object", ["3:37: output_schema is the text `object`; expected a mapping, or a .json file of the project"]],
    ["a file that is not there", "output_schema: schemas/b.json", ["3:37: output_schema: there is no file schemas/b.json"]],
    [
      "a reference to nothing",
      "output_schema: {$ref: '#/$defs/x'}",
      ["3:37: output_schema is no JSON Schema (2020-12): can't resolve reference #/$defs/x from id #"],
    ],
    ["a large text", `output_schema: {title: ${"x".repeat(70_000)}}`, ["3:37: output_schema has 70012 bytes of JSON; at most 65536 are allowed"]],
  ])("is refused that is %s", (_name, fields, expected) => {
    expect(problems(`id: a, tool: t, ${fields}`)).toEqual(expected);
  });
});

it.each<[string, string]>([
  ["parallel_max: 0", "3:15: parallel_max is 0; expected a whole number from 1 to 1000"],
  ["parallel_max: 1.5", "3:15: parallel_max is 1.5; expected a whole number from 1 to 1000"],
  ["deadline: 367d", "3:11: deadline is out of bounds; expected seconds or a text like 30s, from 1ms to 366d"],
  ["deadline: tomorrow", "3:11: deadline is no duration; expected seconds or a text like 30s, from 1ms to 366d"],
])("a workflow is refused with %s", (line, expected) => {
  expect(problemsOf(`${HEAD}steps: [{id: a, tool: t}]\n${line}\n`)).toEqual([expected]);
});
