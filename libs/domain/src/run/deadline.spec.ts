import { describe, expect, it } from "vitest";
import { TEST_START_MS } from "../testing/context.ts";
import { cancelRun, fired, functionStep, pauseRun, resumeRun, returned, runOf, signalRun, taskCancelled, waitStep, workflow } from "./testing/run-fixture.ts";

const DEADLINE = { deadline: { seconds: 60n } };
const KEY = `deadline:${TEST_START_MS}`;
const TWO = workflow([functionStep("a"), functionStep("b")], DEADLINE);

describe("a run's deadline", () => {
  it("is a timer beside the tasks until the run has ended", () => {
    const run = runOf(TWO);
    expect(run.outstanding()).toMatchObject([{ key: "step:0:1" }, { kind: "timer", key: KEY, dueAtMs: TEST_START_MS + 60_000 }]);
    run.must(returned("step:0:1", 1));
    expect(run.timers()).toEqual([KEY]);
    run.must(returned("step:1:1", 1));
    expect(run.timers()).toEqual([]);
    expect(run.execute(fired(KEY)).rejection).toMatchObject({ reason: "STEP_NOT_ACTIVE" });
  });

  it("stops what is under way, and then fails the run", () => {
    const run = runOf(TWO);
    expect(run.must(fired(KEY)).cases).toEqual(["runDeadlinePassed"]);
    expect(run.outstanding()).toMatchObject([{ key: "step:0:1", cancelRequested: true }]);
    expect(run.execute(fired(KEY)).rejection).toMatchObject({ reason: "STEP_NOT_ACTIVE" });
    expect(run.must(taskCancelled("step:0:1")).cases).toEqual(["stepCancelled", "runFailed"]);
    expect(run.last("runFailed").value.error).toMatchObject({ reason: "RUN_DEADLINE" });
  });

  it("counts waits and pauses in", () => {
    const waiting = runOf(workflow([waitStep("w", { case: "signal", value: "go" })], DEADLINE));
    expect(waiting.must(fired(KEY)).cases).toEqual(["runDeadlinePassed", "stepCancelled", "runFailed"]);
    const paused = runOf(TWO);
    paused.must(pauseRun());
    paused.must(returned("step:0:1", 1));
    expect(paused.must(fired(KEY)).cases).toEqual(["runDeadlinePassed", "runFailed"]);
  });

  it("counts anew from a resumption, which goes on with what was stopped", () => {
    const run = runOf(TWO);
    run.must(returned("step:0:1", 1));
    run.must(fired(KEY));
    run.must(taskCancelled("step:1:1"));
    run.nowMs += 100_000;
    expect(run.must(resumeRun()).result).toMatchObject({ stepIds: ["b"] });
    expect(run.timers()).toEqual([`deadline:${TEST_START_MS + 100_000}`]);
    expect(run.execute(fired(KEY)).rejection).toMatchObject({ reason: "STEP_NOT_ACTIVE" });
    run.must(returned(run.work()[0]?.key as string, 1));
    expect(run.status).toBe("COMPLETED");
  });

  it("that passes while the last step completes after all leaves nothing to be done again", () => {
    const run = runOf(workflow([functionStep("a")], DEADLINE));
    run.must(fired(KEY));
    expect(run.must(returned("step:0:1", 1)).cases).toEqual(["stepCompleted", "runFailed"]);
    expect(run.must(resumeRun()).cases).toEqual(["runResumed", "runCompleted"]);
  });

  it("does not fail what is being cancelled", () => {
    const run = runOf(TWO);
    run.must(cancelRun());
    expect(run.timers()).toEqual([]);
    expect(run.execute(fired(KEY)).rejection).toMatchObject({ reason: "STEP_NOT_ACTIVE" });
  });

  it("in a graph lets what had not begun begin after a resumption", () => {
    const steps = [
      functionStep("a"),
      waitStep("w", { case: "signal", value: "go" }),
      functionStep("b", { needs: ["a", "w"] }),
      functionStep("c", { needs: ["a"] }),
    ];
    const run = runOf(workflow(steps, { ...DEADLINE, parallelMax: 1 }));
    run.must(returned(run.keyOf("a"), 1));
    run.must(fired(KEY));
    run.must(taskCancelled(run.keyOf("c")));
    run.nowMs += 1;
    expect(run.must(resumeRun()).result).toMatchObject({ stepIds: ["w", "c"] });
    run.must(signalRun("go"));
    expect(run.working).toEqual(["c"]);
    run.must(returned(run.keyOf("c"), 1));
    run.must(returned(run.keyOf("b"), 1));
    expect(run.status).toBe("COMPLETED");
  });
});
