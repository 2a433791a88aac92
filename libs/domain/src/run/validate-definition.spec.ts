import { create, type MessageInitShape } from "@bufbuild/protobuf";
import { StepDefinitionSchema, type WorkflowDefinition, WorkflowDefinitionSchema } from "@forge/protocol/workflow";
import { describe, expect, it } from "vitest";
import { InvalidField } from "./invalid-field.ts";
import { validateDefinition } from "./validate-definition.ts";
import { workflowHash } from "./workflow-hash.ts";

type Step = MessageInitShape<typeof StepDefinitionSchema>;
type Options = Partial<Omit<Step, "$typeName">>;
type Workflow = MessageInitShape<typeof WorkflowDefinitionSchema>;

const path = (value: string) => ({ kind: { case: "path" as const, value } });
const template = (value: string) => ({ kind: { case: "template" as const, value } });
const literal = (value: unknown) => ({ kind: { case: "literalJson" as const, value: JSON.stringify(value) } });
const days = (count: number) => ({ seconds: BigInt(count * 86_400) });

const step = (id: string, options: Options = {}): Step => ({ id, kind: { case: "tool", value: { tool: "tools.echo" } }, ...options });
const waiting = (id: string, kind: NonNullable<Extract<Step["kind"], { case: "wait" }>>["value"]["kind"], options: Options = {}): Step => ({
  id,
  ...options,
  kind: { case: "wait", value: { kind } },
});
const inner = (id: string, definition: Workflow | undefined, options: Options = {}): Step => ({
  id,
  ...options,
  kind: { case: "workflow", value: definition === undefined ? {} : { definition } },
});

function workflow(steps: readonly Step[], options: Partial<Workflow> = {}): WorkflowDefinition {
  return create(WorkflowDefinitionSchema, { id: "w", version: "v1", steps: [...steps], inputs: [{ name: "list" }], ...options } as Workflow);
}

function refusal(steps: readonly Step[], options: Partial<Workflow> = {}): string {
  try {
    validateDefinition(workflow(steps, options), "");
  } catch (error) {
    if (error instanceof InvalidField) return `${error.field}: ${error.message}`;
    throw error;
  }
  throw new Error("It was accepted.");
}

/** A workflow that lies in others, `depth` deep. */
function nestedDeep(depth: number): Workflow {
  const steps: Step[] = depth === 0 ? [step("a")] : [inner("a", nestedDeep(depth - 1))];
  return { id: `w${depth}`, version: "v1", steps };
}

describe("a definition", () => {
  it("may have all there is", () => {
    const steps = [
      step("a", { forEach: { items: path("inputs.list"), as: "file", concurrency: 4 }, inputs: { x: path("file.name"), i: path("file_index") } }),
      step("b", { needs: ["a"], when: "len(state.steps.a) > 0", inputs: { all: path("steps.a"), first: template("{{ steps.a[0] }}") } }),
      waiting("c", { case: "signal", value: "approved by us" }, { needs: ["a"], timeout: days(366), outputs: ["by"] }),
      waiting("d", { case: "until", value: path("steps.c.at") }, { needs: ["c"] }),
      waiting("e", { case: "duration", value: days(366) }, { needs: ["d"] }),
      waiting("f", { case: "approval", value: { question: "Go on with {{ steps.b.text }}?" } }, { needs: ["e", "b"] }),
      inner("g", { id: "other", version: "v2", inputs: [{ name: "x", required: true }], steps: [step("a")] }, { needs: ["f"], inputs: { x: path("steps.a") } }),
      step("h", { needs: ["g"], outputSchemaJson: '{"type":"object","required":["x"]}', heartbeatTimeout: { seconds: 5n } }),
    ];
    expect(() => validateDefinition(workflow(steps, { parallelMax: 1_000, deadline: days(366) }), "")).not.toThrow();
    expect(() => validateDefinition(workflow([inner("a", nestedDeep(7))]), "")).not.toThrow();
  });

  it.each<[string, readonly Step[], Partial<Workflow>?]>([
    ['definition.steps[1].needs[0]: there is no step "fetsh" (did you mean "fetch"?)', [step("fetch"), step("b", { needs: ["fetsh"] })]],
    ['definition.steps[1].needs[1]: "a" stands twice in the needs of step "b"', [step("a"), step("b", { needs: ["a", "a"] })]],
    [
      "definition.steps[1].needs: these steps need each other: b -> c -> d -> b",
      [step("a", { needs: ["b"] }), step("b", { needs: ["c"] }), step("c", { needs: ["d"] }), step("d", { needs: ["b"] })],
    ],
    ["definition.steps[0].needs: these steps need each other: a -> a", [step("a", { needs: ["a"] })]],
    [
      'definition.steps[0].next: step "a" has next, but other steps have needs: a workflow has one or the other',
      [step("a", { nextDefault: "b" }), step("b", { needs: ["a"] })],
    ],
    ['definition.steps[0].when: step "a" has when, but no step has needs: a sequence branches by next', [step("a", { when: "True" })]],
    ["definition.steps[1].when: expected an expression, found the end (at character 7)", [step("a"), step("b", { needs: ["a"], when: "1 +   " })]],
    [
      'definition.steps[2].inputs.x: step "c" reads step "b", which it doesn\'t need: it may not have ended by then. Add it to needs',
      [step("a"), step("b", { needs: ["a"] }), step("c", { needs: ["a"], inputs: { x: path("steps.b.y") } })],
    ],
    ['definition.steps[1].inputs.x: step "b" reads itself', [step("a"), step("b", { needs: ["a"], inputs: { x: template("{{ len(state.steps.b) }}") } })]],
    [
      'definition.steps[2].when: step "c" reads step "b", which it doesn\'t need: it may not have ended by then. Add it to needs',
      [step("a"), step("b"), step("c", { needs: ["a"], when: "state.steps.b.ok" })],
    ],
    [
      'definition.steps[1].agent.prompt: step "b" reads step "c", which it doesn\'t need: it may not have ended by then. Add it to needs',
      [step("a"), { id: "b", kind: { case: "agent", value: { agent: { model: "demo/x" }, prompt: "{{ state.steps.c.x }}" } } }, step("c", { needs: ["a"] })],
    ],
    [
      'definition.steps[0].for_each: step "a" waits: a wait has no for_each',
      [waiting("a", { case: "signal", value: "s" }, { forEach: { items: path("inputs.list") } })],
    ],
    ['definition.steps[0].retry: step "a" waits: a wait is not tried again', [waiting("a", { case: "signal", value: "s" }, { retry: { attempts: 2 } })]],
    ['definition.steps[0].inputs: step "a" waits: a wait has no inputs', [waiting("a", { case: "signal", value: "s" }, { inputs: { x: literal(1) } })]],
    ['definition.steps[0].wait: step "a" waits for nothing: name a duration, a time, a signal or an approval', [waiting("a", { case: undefined })]],
    ["definition.steps[0].wait.duration: a wait is longer than nothing and at most 366 days", [waiting("a", { case: "duration", value: {} })]],
    ["definition.steps[0].wait.duration: a wait is longer than nothing and at most 366 days", [waiting("a", { case: "duration", value: days(367) })]],
    [
      'definition.steps[0].timeout: step "a" waits for a time, which needs no timeout',
      [waiting("a", { case: "duration", value: days(1) }, { timeout: days(1) })],
    ],
    ["definition.steps[0].wait.until: a value comes from a path, a literal or a template", [waiting("a", { case: "until", value: {} })]],
    ["definition.steps[0].wait.signal: a signal's name has 1 to 128 characters without NUL", [waiting("a", { case: "signal", value: "" })]],
    ["definition.steps[0].wait.approval.question: an approval needs a question", [waiting("a", { case: "approval", value: { question: " " } })]],
    [
      "definition.steps[0].timeout: a timeout is more than nothing and at most 366 days",
      [waiting("a", { case: "signal", value: "s" }, { timeout: days(367) })],
    ],
    ["definition.steps[0].timeout: a timeout is more than nothing and at most 7 days", [step("a", { timeout: days(8) })]],
    [
      'definition.steps[0].heartbeat_timeout: step "a" is neither a function nor a tool, so no worker speaks of it',
      [inner("a", nestedDeep(0), { heartbeatTimeout: days(1) })],
    ],
    ["definition.steps[0].heartbeat_timeout: a heartbeat timeout is more than nothing and at most 7 days", [step("a", { heartbeatTimeout: {} })]],
    ["definition.steps[0].for_each.items: a for_each needs its items: a list by path, JSON text or template", [step("a", { forEach: {} })]],
    ["definition.steps[0].for_each.items.literal_json: the items of a for_each are a list", [step("a", { forEach: { items: literal({}) } })]],
    [
      "definition.steps[0].for_each.items.literal_json: a for_each has at most 10000 items, not 10001",
      [step("a", { forEach: { items: literal(Array.from({ length: 10_001 }, () => 1)) } })],
    ],
    [
      'definition.steps[0].for_each.items.path: "inputs.lst" names no input of this workflow (did you mean "list"?)',
      [step("a", { forEach: { items: path("inputs.lst") } })],
    ],
    [
      "definition.steps[0].for_each.as: an item's name is a letter, then letters, digits and `_`",
      [step("a", { forEach: { items: path("inputs.list"), as: "a-b" } })],
    ],
    [
      "definition.steps[0].for_each.as: an item's name is a letter, then letters, digits and `_`",
      [step("a", { forEach: { items: path("inputs.list"), as: "__proto__" } })],
    ],
    [
      "definition.steps[0].for_each.as: `steps` has a meaning of its own; call the item otherwise",
      [step("a", { forEach: { items: path("inputs.list"), as: "steps" } })],
    ],
    [
      "definition.steps[0].for_each.concurrency: at most 1000 items at once, not 1001",
      [step("a", { forEach: { items: path("inputs.list"), concurrency: 1_001 } })],
    ],
    ["definition.steps[0].for_each.on_error: on_error is FAIL_FAST or CONTINUE", [step("a", { forEach: { items: path("inputs.list"), onError: 9 as never } })]],
    ['definition.steps[0].inputs.x.path: "item.y" is no path into the state: it begins with inputs. or steps.', [step("a", { inputs: { x: path("item.y") } })]],
    [
      'definition.steps[0].inputs.x.path: "item.constructor" is no path into the state: it begins with inputs. or steps.',
      [step("a", { forEach: { items: path("inputs.list") }, inputs: { x: path("item.constructor") } })],
    ],
    ["definition.steps[0].workflow.definition: a workflow step needs the definition of the other workflow, whole", [inner("a", undefined)]],
    [`definition.steps[0].${"workflow.definition.steps[0].".repeat(8)}workflow.definition: workflows are nested at most 8 deep`, [inner("a", nestedDeep(8))]],
    [
      'definition.steps[0].workflow.definition.steps[0].inputs.x.path: "steps.zz.x" names no step of this workflow',
      [inner("a", { id: "o", version: "v1", steps: [step("b", { inputs: { x: path("steps.zz.x") } })] })],
    ],
    [
      'definition.steps[0].inputs.nmae: the workflow "o" has no input "nmae" (did you mean "name"?)',
      [inner("a", { id: "o", version: "v1", inputs: [{ name: "name" }], steps: [step("b")] }, { inputs: { nmae: literal(1) } })],
    ],
    [
      'definition.steps[0].inputs: the workflow "o" requires the input "name"',
      [inner("a", { id: "o", version: "v1", inputs: [{ name: "name", required: true }], steps: [step("b")] })],
    ],
    ["definition.steps[0].output_schema_json: the schema is not valid JSON", [step("a", { outputSchemaJson: "{" })]],
    [
      "definition.steps[0].output_schema_json: no JSON Schema (2020-12): at properties.x.type: must be equal to one of the allowed values",
      [step("a", { outputSchemaJson: '{"properties":{"x":{"type":"txt"}}}' })],
    ],
    [
      "definition.steps[0].output_schema_json: a schema takes at most 65536 bytes",
      [step("a", { outputSchemaJson: JSON.stringify({ title: "x".repeat(70_000) }) })],
    ],
    ["definition.parallel_max: at most 1000 steps at once, not 1001", [step("a")], { parallelMax: 1_001 }],
    ["definition.deadline: a deadline is more than nothing and at most 366 days", [step("a")], { deadline: days(367) }],
    ["definition.deadline: a deadline is more than nothing and at most 366 days", [step("a")], { deadline: {} }],
  ])("is refused: %s", (expected, steps, options) => {
    expect(refusal(steps, options)).toContain(expected);
  });

  it("is known by what it and the workflows inside of it say, and not by their texts", () => {
    const hash = (definition: WorkflowDefinition): string => workflowHash(definition, { sha256: String });
    const outer = (text: string, tool: string) =>
      workflow([inner("a", { id: "o", version: "v1", workflowYaml: text, steps: [{ id: "b", kind: { case: "tool", value: { tool } } }] })]);
    expect(hash(outer("# one", "t"))).toBe(hash(outer("# two", "t")));
    expect(hash(outer("# one", "t"))).not.toBe(hash(outer("# one", "u")));
    expect(hash(workflow([step("a", { needs: [], when: "", outputSchemaJson: "" })], { parallelMax: 0 }))).toBe(hash(workflow([step("a")])));
  });

  it("of ten thousand steps in a row, each with a read from the first, is checked soon", () => {
    const steps = Array.from({ length: 10_000 }, (_, index) =>
      index === 0 ? step("s0") : step(`s${index}`, { needs: [`s${index - 1}`], inputs: { x: path("steps.s0.y") } }),
    );
    const started = performance.now();
    expect(() => validateDefinition(workflow(steps), "")).not.toThrow();
    expect(performance.now() - started).toBeLessThan(5_000);
  });
});
