import { create } from "@bufbuild/protobuf";
import type { ForkFromRun } from "@forge/protocol/engine";
import { ForkRunRequestSchema } from "@forge/protocol/workflow";
import { describe, expect, it } from "vitest";
import { forkPoint } from "./fork-run.ts";
import {
  artifact,
  functionStep,
  json,
  literal,
  parsed,
  path,
  RUN_ID,
  RunStream,
  resumeRun,
  returned,
  returnedValue,
  runOf,
  startRun,
  taskFailed,
  template,
  workflow,
} from "./testing/run-fixture.ts";

type Options = { workflowHash?: string; labels?: Record<string, string> };

function point(run: RunStream, stepId: string, options: Options = {}) {
  return forkPoint(create(ForkRunRequestSchema, { runId: RUN_ID, stepId, ...options }), run.events);
}

function fork(run: RunStream, stepId: string, options: Options = {}): RunStream {
  const from = point(run, stepId, options);
  if ("rejection" in from) throw new Error(from.rejection.message);
  const forked = new RunStream({ artifacts: run.artifacts });
  forked.must(from);
  return forked;
}

const rejectionOf = (found: ReturnType<typeof point>) => ("rejection" in found ? found.rejection : undefined);

describe("a fork", () => {
  it("begins with its step, on the state as it was before", () => {
    const steps = [
      functionStep("a"),
      functionStep("b", { inputs: { a: path("steps.a.n"), i: path("inputs.i") } }),
      functionStep("c", { inputs: { b: path("steps.b") } }),
    ];
    const run = runOf(workflow(steps, { inputs: [{ name: "i" }] }), { inputs: { i: 5 } });
    run.return({ n: 1 });
    run.return(2);
    run.return(3);
    const forked = fork(run, "b");
    expect(forked.events.map(({ payload }) => payload.case)).toEqual(["runCreated", "runForked", "runStarted", "stepStarted"]);
    expect(forked.last("runForked").value).toMatchObject({ origin: { runId: RUN_ID, seq: 4n, stepId: "b" }, steps: [{ stepId: "a", executionCount: 1 }] });
    expect(forked.open("b")).toMatchObject({ executionIndex: 0 });
    expect([parsed(forked.open("b").input["a"]), parsed(forked.open("b").input["i"])]).toEqual([1, 5]);
    forked.return(20);
    expect(parsed(forked.open("c").input["b"])).toBe(20);
    forked.return(30);
    expect(forked.last("runCompleted").value).toMatchObject({ withErrors: false });
    expect(forked.state.workflowHash).toBe(run.state.workflowHash);
  });

  it("of a loop begins with the last execution, which sees what the one before has left", () => {
    const check = functionStep("check", { next: [{ when: "state.steps.check.n >= 2", goto: "end" }], nextDefault: "work" });
    const work = functionStep("work", { inputs: { last: path("steps.check.n"), own: template("{{ 'work' in state.steps }}") }, nextDefault: "check" });
    const run = runOf(workflow([functionStep("first"), check, work]));
    run.return(0);
    for (const n of [0, 1]) {
      run.return({ n });
      run.return({ worked: n });
    }
    run.return({ n: 2 });
    expect(run.status).toBe("COMPLETED");
    const forked = fork(run, "check");
    expect(forked.last("runForked").value.steps.map(({ stepId, executionCount }) => [stepId, executionCount])).toEqual([
      ["first", 1],
      ["check", 2],
      ["work", 2],
    ]);
    forked.return({ n: 1 });
    expect(parsed(forked.open("work").input["last"])).toBe(1);
    // The first time round it would not have seen itself.
    expect(parsed(fork(run, "work").open("work").input["own"])).toBe("true");
  });

  it("of a graph executes the step and what needs it again, and what else had completed by then not", () => {
    const steps = [
      functionStep("a"),
      functionStep("b", { needs: ["a"] }),
      functionStep("c", { needs: ["b"] }),
      functionStep("x"),
      functionStep("y", { needs: ["x", "a"] }),
    ];
    const run = runOf(workflow(steps));
    run.must(returned(run.keyOf("x"), 1));
    run.must(returned(run.keyOf("a"), 1));
    run.must(returned(run.keyOf("y"), 1));
    run.must(returned(run.keyOf("b"), 1));
    run.must(returned(run.keyOf("c"), 1));
    expect(fork(run, "c").working).toEqual(["c"]);
    // When b began, y had begun as well, but had not ended.
    expect(fork(run, "b").working).toEqual(["b", "y"]);
    expect(fork(run, "a").working).toEqual(["a", "x"]);
  });

  it("takes over failures, what was passed over, lists and artifacts", () => {
    const steps = [
      functionStep("each", { forEach: { items: literal([1, 2]), onError: 2 } }),
      functionStep("big"),
      functionStep("no", { needs: ["big"], when: "false" }),
      functionStep("end-step", { needs: ["each", "big"], inputs: { it: path("steps.each.1"), v: path("steps.big.v") } }),
    ];
    const run = runOf(workflow(steps), { artifacts: { big: '{"v":7}' } });
    run.must(taskFailed(run.keyOf("each", 0)));
    run.must(returned(run.keyOf("each", 1), "second"));
    run.must(returnedValue(run.keyOf("big"), artifact("big")));
    run.must(returned(run.keyOf("end-step"), 1));
    const forked = fork(run, "end-step");
    expect(forked.last("runForked").value.steps).toMatchObject([
      { stepId: "each", hasItems: true, items: [{ kind: { case: undefined } }, json("second")] },
      { stepId: "big", hasItems: false },
      { stepId: "no", skipped: true },
    ]);
    expect([parsed(forked.open("end-step").input["it"]), parsed(forked.open("end-step").input["v"])]).toEqual(["second", 7]);
    expect(forked.state.artifactOutputCount).toBe(1);
    forked.return(1);
    expect(forked.status).toBe("COMPLETED");
  });

  it("of a resumed run begins with the step's last execution", () => {
    const run = runOf(workflow([functionStep("a"), functionStep("b")]));
    run.return(1);
    run.must(taskFailed(run.key));
    run.must(resumeRun());
    run.return(2);
    const forked = fork(run, "b");
    expect(forked.working).toEqual(["b"]);
    forked.return(3);
    expect(forked.status).toBe("COMPLETED");
  });

  it("of a fork shares what that one had taken over", () => {
    const run = runOf(workflow([functionStep("a"), functionStep("b"), functionStep("c", { inputs: { a: path("steps.a") } })]));
    for (const value of [1, 2, 3]) run.return(value);
    const forked = fork(run, "b");
    forked.return(20);
    forked.return(30);
    expect(parsed(fork(forked, "c").open("c").input["a"])).toBe(1);
  });

  it("has the other run's labels and its own", () => {
    const run = new RunStream();
    run.must(startRun(workflow([functionStep("a")]), { labels: { x: "1", y: "1" } }));
    run.return(1);
    expect(fork(run, "a", { labels: { y: "2", z: "3" } }).state.labels).toEqual({ x: "1", y: "2", z: "3" });
    const many = Object.fromEntries(Array.from({ length: 31 }, (_, index) => [`l${index}`, ""]));
    expect(rejectionOf(point(run, "a", { labels: many }))?.metadata).toMatchObject({ field: "labels" });
  });

  it("is refused of a step that is unknown or was never reached, of another workflow, and of no run", () => {
    const run = runOf(workflow([functionStep("first", { nextDefault: "end" }), functionStep("second")]));
    run.return(1);
    expect(rejectionOf(point(run, "frist"))).toMatchObject({ reason: "STEP_NOT_FOUND", message: expect.stringContaining('did you mean "first"') });
    expect(rejectionOf(point(run, "second"))).toMatchObject({ reason: "STEP_NOT_REACHED" });
    expect(rejectionOf(point(run, "first", { workflowHash: "0" }))).toMatchObject({ reason: "WORKFLOW_INTEGRITY" });
    expect(rejectionOf(point(new RunStream(), "first"))).toMatchObject({ reason: "RUN_NOT_FOUND" });
  });

  it("can't take the place of a run that is there", () => {
    const run = runOf(workflow([functionStep("a")]));
    run.return(1);
    expect(run.execute(point(run, "a") as ForkFromRun).rejection).toMatchObject({ reason: "RUN_EXISTS" });
  });
});
