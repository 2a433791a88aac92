import { OnError } from "@forge/protocol/workflow";
import { describe, expect, it } from "vitest";
import {
  agentStep,
  artifact,
  functionStep,
  literal,
  parsed,
  path,
  RUN_ID,
  RunStream,
  returnedValue,
  runOf,
  startRun,
  taskFailed,
  template,
  workflow,
} from "./testing/run-fixture.ts";

const TITLE = { inputs: [{ name: "title" }] };

function inputOf(run: ReturnType<typeof runOf>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(run.current?.input ?? {}).map(([name, value]) => [name, parsed(value)]));
}

describe("a step's input", () => {
  it("comes from paths, literals and templates", () => {
    const inputs = {
      whole: path("steps.a"),
      item: path("steps.a.frames.1"),
      title: path("inputs.title"),
      fixed: literal({ n: [1, null] }),
      text: template("{{ inputs.title }} #{{ steps.a.frames.0 }} {{ state.inputs.title.upper() }} of {{ runtime.run_id }}"),
    };
    const run = runOf(workflow([functionStep("a"), functionStep("b", { inputs })], TITLE), { inputs: { title: "Crash" } });
    run.return({ frames: ["x", "y"] });
    expect(inputOf(run)).toEqual({ whole: { frames: ["x", "y"] }, item: "y", title: "Crash", fixed: { n: [1, null] }, text: `Crash #x CRASH of ${RUN_ID}` });
  });

  it("is the whole state where nothing is mapped", () => {
    const run = runOf(workflow([functionStep("a"), functionStep("b", { inputs: {} })], TITLE), { inputs: { title: "Crash" } });
    run.return({ x: 1 });
    expect(inputOf(run)).toEqual({
      inputs: { title: "Crash" },
      steps: { a: { x: 1 } },
      runtime: { run_id: RUN_ID, workflow_id: "triage", workflow_version: "v1" },
    });
  });

  it.each([
    ["steps.a.titel", 'input "it" reads steps.a.titel, but steps.a has no "titel" (did you mean "title"?)'],
    ["steps.a.frames.7", 'input "it" reads steps.a.frames.7, but steps.a.frames has no "7"'],
    ["steps.a.title.x", 'input "it" reads steps.a.title.x, but steps.a.title has no "x"'],
    ["steps.b.x", 'input "it" reads steps.b.x, but step "b" has no output: it has not completed in this run'],
    ["inputs.title", 'input "it" reads inputs.title, but inputs has no "title"'],
  ])("fails clearly where %s leads nowhere", (text, message) => {
    const run = runOf(workflow([functionStep("a"), functionStep("b", { inputs: { it: path(text) }, retry: { attempts: 9 } })], TITLE));
    expect(run.return({ title: "x", frames: [1] }).cases).toEqual(["stepCompleted", "stepStarted", "stepFailed", "runFailed"]);
    expect(run.last("stepFailed").value.error).toMatchObject({ reason: "STEP_EXECUTION", message: `step "b": ${message}` });
  });

  it("fails clearly where a template can't be rendered", () => {
    const run = runOf(workflow([functionStep("a", { inputs: { it: template("{{ inputs.title }}") } })], TITLE));
    expect(run.last("stepFailed").value.error?.message).toBe('step "a": input "it": no key `title` in `inputs` (at character 11 of its template)');
  });

  it("hands a large output on unread, and looks into it where a path does", () => {
    const artifacts = { big: JSON.stringify({ title: "T", list: ["x".repeat(70_000)] }) };
    const steps = [functionStep("a"), functionStep("b", { inputs: { doc: path("steps.a") } }), functionStep("c", { inputs: { title: path("steps.a.title") } })];
    const run = runOf(workflow(steps), { artifacts });
    const settlement = returnedValue(run.key, artifact("big"));
    expect(run.decider.needs(run.state, settlement)).toEqual([]);
    run.must(settlement);
    expect(run.current?.input["doc"]).toEqual(artifact("big"));
    expect(run.decider.needs(run.state, taskFailed(run.key))).toEqual(["big"]);
    run.return(1);
    expect(inputOf(run)).toEqual({ title: "T" });
  });

  it("hands on a large part of a large value as a place in its artifact", () => {
    const artifacts = { big: JSON.stringify({ list: "x".repeat(70_000) }) };
    const run = runOf(workflow([functionStep("a"), functionStep("b", { inputs: { it: path("steps.a.list") } })]), { artifacts });
    run.must(returnedValue(run.key, artifact("big")));
    expect(run.last("stepStarted").value.input["it"]).toMatchObject({ kind: { case: "artifact", value: { sha256: "big" } }, path: ["list"] });
    expect(run.task).toMatchObject({ task: { kind: { value: { input: { it: { path: ["list"] } } } } } });
  });

  it("hands on a large input out of inputs that are an artifact", () => {
    const artifacts = { big: JSON.stringify({ issue: { text: "x".repeat(70_000) } }) };
    const definition = workflow([functionStep("a", { inputs: { it: path("inputs.issue.text") } })], { inputs: [{ name: "issue" }] });
    const run = new RunStream({ artifacts });
    run.must(startRun(definition, { inputs: artifact("big") }));
    expect(run.last("stepStarted").value.input["it"]).toMatchObject({ kind: { case: "artifact", value: { sha256: "big" } }, path: ["issue", "text"] });
  });

  it("fails clearly where the whole state is too large", () => {
    const run = runOf(workflow([functionStep("a"), functionStep("b", { inputs: {} })]));
    run.must(returnedValue(run.key, artifact("big")));
    expect(run.last("stepFailed").value.error?.message).toContain("map the inputs that it needs");
  });

  it("fails clearly where the artifact is gone", () => {
    const run = runOf(workflow([functionStep("a"), functionStep("b", { inputs: { it: path("steps.a.x") } })]));
    run.must(returnedValue(run.key, artifact("gone")));
    expect(run.last("stepFailed").value.error?.message).toContain("the artifact gone does not exist");
  });

  it("asks for what any later step may read where failures are passed over", () => {
    const artifacts = { big: '{"t":"T"}', other: '{"t":"O"}' };
    const steps = [
      functionStep("a"),
      functionStep("b"),
      functionStep("c", { inputs: { it: path("steps.a.absent") } }),
      agentStep("d", { prompt: "{{ state.steps.a.t }} {{ state.steps.b.t }}" }),
    ];
    const run = runOf(workflow(steps, { onError: OnError.CONTINUE }), { artifacts });
    run.must(returnedValue(run.key, artifact("big")));
    expect(run.must(returnedValue(run.key, artifact("other"))).cases).toEqual(["stepCompleted", "stepStarted", "stepFailed", "stepStarted"]);
    expect(run.sent[1]?.command.value).toMatchObject({ input: [{ kind: { value: { text: "T O" } } }] });
  });

  it("is bounded over all inputs", () => {
    const inputs = Object.fromEntries(Array.from({ length: 5 }, (_, index) => [`x${index}`, path("inputs.title")]));
    const run = runOf(workflow([functionStep("a", { inputs })], TITLE), { inputs: { title: "x".repeat(65_000) } });
    expect(run.last("stepFailed").value.error?.message).toContain("262144 bytes together");
    expect(run.outstanding()).toEqual([]);
  });
});
