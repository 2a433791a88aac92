import { create } from "@bufbuild/protobuf";
import { ErrorCode } from "@forge/protocol/common";
import { Decision } from "@forge/protocol/tool";
import { type StartRunResponse, WorkflowDefinitionSchema } from "@forge/protocol/workflow";
import { describe, expect, it } from "vitest";
import { canonicalJson } from "./canonical-json.ts";
import {
  agentStep,
  artifact,
  functionStep,
  json,
  parsed,
  path,
  RUN_ID,
  RunStream,
  runOf,
  SEARCH,
  type Step,
  startRun,
  subRunStep,
  toolStep,
  workflow,
} from "./testing/run-fixture.ts";
import { workflowHash } from "./workflow-hash.ts";

function refused(steps: readonly Step[], options: Parameters<typeof workflow>[1] = {}, request: Parameters<typeof startRun>[1] = {}) {
  const { rejection } = new RunStream().execute(startRun(workflow(steps, options), request));
  if (rejection === undefined) throw new Error("It was accepted.");
  expect(rejection.code).toBe(ErrorCode.VALIDATION);
  return { field: rejection.metadata["field"], message: rejection.message, reason: rejection.reason };
}

const DECLARED = { inputs: [{ name: "issue", required: true }, { name: "limit", defaultJson: "10" }, { name: "note" }] };

describe("starting a run", () => {
  it("records the definition whole, and the first step, in one append", () => {
    const run = new RunStream();
    const definition = workflow([functionStep("parse")]);
    const { cases, result } = run.must(startRun(definition, { labels: { team: "a" }, queue: "q", modelOverride: "demo/b", policy: { answer: Decision.DENY } }));
    expect(cases).toEqual(["runCreated", "runStarted", "stepStarted"]);
    expect(result).toMatchObject({ runId: RUN_ID, warnings: [] });
    expect(run.last("runCreated").value).toMatchObject({
      definition,
      labels: { team: "a" },
      queue: "q",
      modelOverride: "demo/b",
      policy: { answer: Decision.DENY },
    });
    expect(run.decider.listing(run.state)).toMatchObject({ status: "RUN_STATUS_RUNNING", subject: "triage", version: "v1", labels: { team: "a" } });
  });

  it("knows a workflow by its content and not by its text", () => {
    const context = new RunStream().context();
    const definition = workflow([functionStep("a"), functionStep("b")]);
    const hash = workflowHash(definition, context);
    expect(hash).toMatch(/^[0-9a-f]{64}$/);
    expect(workflowHash(create(WorkflowDefinitionSchema, { ...definition, workflowYaml: "# a comment" }), context)).toBe(hash);
    expect(workflowHash(workflow([functionStep("b"), functionStep("a")]), context)).not.toBe(hash);
    expect(runOf(definition).last("runCreated").value.workflowHash).toBe(hash);
  });

  it("fills in defaults and hashes the inputs whatever their order", () => {
    const steps = [functionStep("a")];
    const one = runOf(workflow(steps, DECLARED), { inputs: { note: "n", issue: "i" } });
    const other = runOf(workflow(steps, DECLARED), { inputs: { limit: 10, issue: "i", note: "n" } });
    expect(parsed(one.state.inputs)).toEqual({ issue: "i", note: "n", limit: 10 });
    expect(one.last("runCreated").value.inputHash).toBe(other.last("runCreated").value.inputHash);
    expect(one.last("runCreated").value.inputHash).toBe(one.context().sha256('{"issue":"i","limit":10,"note":"n"}'));
  });

  it("reads inputs from the artifact store and keeps the reference", () => {
    const run = new RunStream({ artifacts: { big: JSON.stringify({ issue: "x".repeat(70_000), limit: 1 }) } });
    run.must(startRun(workflow([functionStep("a", { inputs: { it: path("inputs.limit") } })], DECLARED), { inputs: artifact("big") }));
    expect(run.state.inputs?.kind.case).toBe("artifact");
    expect(run.task.task.kind.value).toMatchObject({ input: { it: json(1) } });
  });

  it("warns of tools of workflows inside of it", () => {
    const inner = workflow([toolStep("t", "tools.inner")], { id: "inner" });
    const { result } = new RunStream().must(startRun(workflow([subRunStep("sub", inner)])));
    expect(result).toMatchObject({ warnings: [expect.stringContaining('step "sub/t" uses the tool "tools.inner"')] });
  });

  it("warns of tools that nobody serves yet", () => {
    const agent = agentStep("think");
    if (agent.kind?.case === "agent") agent.kind.value.agent = { model: "demo/a", tools: ["tools.search", "tools.nobody"] };
    const run = new RunStream({ tools: [SEARCH] });
    const { result } = run.must(startRun(workflow([functionStep("a"), agent, toolStep("write", "tools.absent")])));
    expect((result as StartRunResponse).warnings).toEqual([expect.stringContaining('"tools.nobody"'), expect.stringContaining('"tools.absent"')]);
  });

  it("is refused a second time", () => {
    const run = runOf(workflow([functionStep("a")]));
    expect(run.execute(startRun(workflow([functionStep("a")]))).rejection).toMatchObject({ code: ErrorCode.CONFLICT, reason: "RUN_EXISTS" });
  });

  it("refuses inputs by name", () => {
    const steps = [functionStep("a")];
    expect(refused(steps, DECLARED).field).toBe("inputs.issue");
    expect(refused(steps, DECLARED, { inputs: json({ isue: 1 }) })).toMatchObject({
      field: "inputs.isue",
      message: expect.stringContaining('did you mean "issue"?') as string,
    });
    expect(refused(steps, DECLARED, { inputs: json([1]) }).field).toBe("inputs");
    expect(refused(steps, DECLARED, { inputs: { kind: { case: "json", value: "{" } } }).message).toContain("not valid JSON");
    expect(refused(steps, DECLARED, { inputs: json({ issue: "x".repeat(70_000) }) }).message).toContain("artifact");
    expect(refused(steps, DECLARED, { inputs: { kind: { case: "json", value: `{"issue":${"[".repeat(300)}${"]".repeat(300)}}` } } }).message).toContain(
      "nested deeper",
    );
    expect(refused(steps, DECLARED, { inputs: artifact("absent") }).message).toContain("does not exist");
  });

  it.each<[string, readonly Step[], Parameters<typeof workflow>[1]?]>([
    ["definition.id", [functionStep("a")], { id: "a b" }],
    ["definition.version", [functionStep("a")], { version: "one" }],
    ["definition.on_error", [functionStep("a")], { onError: 7 as never }],
    ["definition.steps", []],
    ["definition.steps", Array.from({ length: 10_001 }, (_, index) => functionStep(`s${index}`))],
    ["definition.steps[0].id", [functionStep("constructor")]],
    ["definition.steps[0].id", [functionStep("end")]],
    ["definition.steps[1].id", [functionStep("a"), functionStep("a")]],
    ["definition.steps[0]", [{ id: "a" }]],
    ["definition.steps[0].function.name", [functionStep("a", { name: "no name" })]],
    ["definition.steps[0].tool.tool", [toolStep("a", "")]],
    ["definition.steps[0].agent.agent.model", [agentStep("a", { model: "demo" })]],
    ["definition.steps[0].agent.prompt", [agentStep("a", { prompt: " " })]],
    ["definition.steps[0].agent.prompt", [agentStep("a", { prompt: "{{ state." })]],
    ["definition.steps[0].inputs", [functionStep("a", { inputs: { "a.b": path("inputs.x") } })]],
    ["definition.steps[0].inputs.x", [functionStep("a", { inputs: { x: {} } })]],
    ["definition.steps[0].inputs.x.path", [functionStep("a", { inputs: { x: path("runtime.run_id") } })]],
    ["definition.steps[0].inputs.x.path", [functionStep("a", { inputs: { x: path("inputs.absent") } })]],
    ["definition.steps[0].inputs.x.path", [functionStep("a", { inputs: { x: path("steps.absent.y") } })]],
    ["definition.steps[0].inputs.x.literal_json", [functionStep("a", { inputs: { x: { kind: { case: "literalJson", value: "{" } } } })]],
    ["definition.steps[0].inputs.x.template", [functionStep("a", { inputs: { x: { kind: { case: "template", value: "{{ }}" } } } })]],
    ["definition.steps[0].outputs[1]", [functionStep("a", { outputs: ["x", "x"] })]],
    ["definition.steps[0].retry.attempts", [functionStep("a", { retry: { attempts: 0 } })]],
    ["definition.steps[0].retry.initial_delay", [functionStep("a", { retry: { attempts: 2, initialDelay: { seconds: 3_601n } } })]],
    ["definition.steps[0].next[0].when", [functionStep("a", { next: [{ when: "state.", goto: "a" }] })]],
    ["definition.steps[0].next[0].goto", [functionStep("a", { next: [{ when: "true", goto: "b" }] })]],
    ["definition.steps[0].next_default", [functionStep("a", { nextDefault: "b" })]],
    ["definition.steps[0].timeout", [functionStep("a", { timeout: { seconds: 0n } })]],
    ["definition.inputs[1].name", [functionStep("a")], { inputs: [{ name: "x" }, { name: "x" }] }],
    ["definition.inputs[0].default_json", [functionStep("a")], { inputs: [{ name: "x", defaultJson: "nope" }] }],
  ])("refuses a definition with a wrong %s", (field, steps, options) => {
    const refusal = refused(steps, options);
    expect(refusal).toMatchObject({ field, reason: "WORKFLOW_VALIDATION" });
  });

  it("names the step that was probably meant", () => {
    expect(refused([functionStep("summarize", { nextDefault: "sumarize" })]).message).toContain('did you mean "summarize"?');
  });

  it.each<[string, Parameters<typeof startRun>[1]]>([
    ["labels", { labels: { "": "x" } }],
    ["labels", { labels: Object.fromEntries(Array.from({ length: 33 }, (_, index) => [`l${index}`, ""])) }],
    ["queue", { queue: "a b" }],
    ["model_override", { modelOverride: "gpt" }],
    ["policy.answer", { policy: { answer: Decision.ASK } }],
    ["policy.rules[0].tool", { policy: { rules: [{ tool: "a*b", decision: Decision.ALLOW }] } }],
  ])("refuses wrong %s", (field, request) => {
    expect(refused([functionStep("a")], {}, request).field).toBe(field);
  });

  it("takes agents without a model where an override names one", () => {
    const run = new RunStream();
    run.must(startRun(workflow([agentStep("a", { model: "" })]), { modelOverride: "demo/b" }));
    expect(run.sent[0]?.command.value).toMatchObject({ agent: { model: "demo/b" } });
  });
});

describe("canonical JSON", () => {
  it("has one text for each value", () => {
    expect(canonicalJson({ b: [1.0, "é\n", null], a: { d: true, c: -0 } })).toBe('{"a":{"c":0,"d":true},"b":[1,"é\\n",null]}');
  });
});
