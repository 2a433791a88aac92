import type { JsonObject } from "@bufbuild/protobuf";
import { TYPES } from "../definition/read-kind.ts";
import { conditional, duration, id, KEY, mapping, names, text, wholeNumber } from "./schema-parts.ts";

const WAITS = ["duration", "until", "signal", "approval"];
const ON_ERROR = ["fail_fast", "continue"];

/** The schema of one step of a workflow. */
export function stepSchema(): JsonObject {
  return {
    ...mapping("One step. One of the keys agent, function, tool, wait and workflow says what it does.", properties(), ["id"]),
    oneOf: TYPES.map((type) => ({ required: [type] })),
    allOf: [
      ...TYPES.map((type) => conditional({ properties: { type: { const: type } }, required: ["type"] }, { required: [type] })),
      conditional({ required: ["idempotent"] }, { required: ["function"] }),
      conditional({ required: ["heartbeat_timeout"] }, { anyOf: [{ required: ["function"] }, { required: ["tool"] }] }),
      conditional({ required: ["wait"] }, { properties: { inputs: false, retry: false, for_each: false } }),
      { not: { required: ["timeout", "timeout_ms"] } },
    ],
  };
}

function properties(): JsonObject {
  return {
    id: { ...id("The step's id, under which later steps read its output."), not: { enum: ["end", "__proto__", "constructor", "prototype"] } },
    type: { enum: [...TYPES], description: "What the step does; may be left out, because the key of that name says it." },
    agent: text("An agent of the project: id, or id@v1.", 256),
    function: text("A function of the project: module.name.", 128, "^([A-Za-z0-9_-]+\\.)*[A-Za-z_][A-Za-z0-9_]*$"),
    tool: text("A tool's name, for example tools.file.", 128, "^[A-Za-z][A-Za-z0-9_-]*(\\.[A-Za-z0-9_-]+)*$"),
    wait: wait(),
    workflow: text("Another workflow of the project: id, id@v1, or the path of its file.", 1024),
    inputs: {
      description: "Where each input comes from: a path into the state, a text with {{ expression }}, or anything else as it is. Or a list of names.",
      anyOf: [
        { type: "object", propertyNames: { maxLength: 128, pattern: KEY }, maxProperties: 1000 },
        names("Names of earlier outputs, or of the workflow's inputs."),
      ],
    },
    outputs: names("When given, the output must have exactly these keys."),
    output_schema: {
      description: "The JSON Schema (2020-12) that the output must satisfy, written out, or a .json file of the project.",
      anyOf: [{ type: ["object", "boolean"] }, { type: "string", pattern: "\\.json$" }],
    },
    idempotent: { type: "boolean", description: "Of a function: false where it must not run twice." },
    retry: mapping("How often the step is tried, and at which distance.", {
      attempts: wholeNumber("In all.", 1, 100),
      backoff: { enum: ["fixed", "exponential"] },
      initial_delay: duration("Before the second attempt; at most an hour."),
      jitter: {
        description: "By which part of itself a delay may be longer, 0 to 1; true: 0.5.",
        anyOf: [{ type: "boolean" }, { type: "number", minimum: 0, maximum: 1 }],
      },
    }),
    next: next(),
    timeout: duration("Of one attempt; of a wait for a signal or an approval: when it gives up."),
    timeout_ms: { type: "integer", minimum: 0, description: "The same in milliseconds; 0: none." },
    heartbeat_timeout: duration("The longest that the worker of a function or tool may be silent about an attempt."),
    needs: {
      description: "Steps that must have ended well before this one begins. With it the workflow is a graph, and steps run as soon as they can.",
      anyOf: [
        { type: "string", maxLength: 128 },
        { type: "array", items: { type: "string", maxLength: 128 }, uniqueItems: true, maxItems: 1000 },
      ],
    },
    when: text("Of a step of a graph: an expression over `state`; where it is false, the step is skipped.", 4096),
    for_each: forEach(),
  };
}

function wait(): JsonObject {
  return {
    description: "Waits for a time, a signal or a person.",
    anyOf: [
      duration("So long; at most 366 days."),
      {
        ...mapping("Exactly one of duration, until, signal and approval.", {
          duration: duration("So long; at most 366 days."),
          until: text("A time with its zone, such as 2026-03-29T09:00:00+01:00, a path into the state, or a template.", 65_536),
          signal: text("The name of a signal, whose payload is the step's output.", 128),
          approval: {
            anyOf: [
              text("What a person is asked; a text with {{ expression }}.", 65_536),
              mapping("What a person is asked.", { question: text("A text with {{ expression }}.", 65_536) }, ["question"]),
            ],
          },
          timeout: duration("When a wait for a signal or an approval gives up."),
        }),
        oneOf: WAITS.map((kind) => ({ required: [kind] })),
      },
    ],
  };
}

function forEach(): JsonObject {
  const items: JsonObject[] = [
    { type: "array", maxItems: 10_000 },
    { type: "string", pattern: "^(inputs|steps)(\\.[^.\\s{}]+)+$|\\{\\{", maxLength: 65_536 },
  ];
  return {
    description: "Executes the step once for each item of a list: a list, a path into the state, or a template.",
    anyOf: [
      ...items,
      mapping(
        "A list, and how it is gone through.",
        {
          items: { anyOf: items },
          as: text("The name of the item in the step's inputs; without it: item.", 122, "^\\p{L}[\\p{L}\\p{N}_]*$"),
          concurrency: wholeNumber("Items at once.", 1, 1000),
          on_error: { enum: ON_ERROR, description: "continue: an item that fails leaves null in its place." },
        },
        ["items"],
      ),
    ],
  };
}

function next(): JsonObject {
  const rule = {
    ...mapping("A branch: when and goto, or default.", {
      when: text("An expression over `state`.", 4096),
      goto: text("A step's id, or end.", 128),
      default: text("Where no rule is true: a step's id, or end.", 128),
    }),
    dependentRequired: { when: ["goto"], goto: ["when"] },
    minProperties: 1,
  };
  return {
    description: "What follows: rules, tried in order; the first whose `when` is true is taken.",
    anyOf: [rule, { type: "array", items: rule, maxItems: 100 }],
  };
}
