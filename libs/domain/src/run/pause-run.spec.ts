import { TurnOutcome, TurnStatus } from "@forge/protocol/session";
import { describe, expect, it } from "vitest";
import {
  agentStep,
  cancelRun,
  continueRun,
  fired,
  functionStep,
  literal,
  pauseRun,
  RunStream,
  returned,
  runOf,
  taskCancelled,
  taskFailed,
  turnReport,
  workflow,
} from "./testing/run-fixture.ts";

const TWO = workflow([functionStep("a", { retry: { attempts: 2, initialDelay: { seconds: 5n } } }), functionStep("b")]);

describe("pausing a run", () => {
  it("lets what is under way go on, and nothing begin until it is continued", () => {
    const run = runOf(TWO);
    expect(run.must(pauseRun()).cases).toEqual(["runPaused"]);
    expect(run.status).toBe("PAUSED");
    expect(run.must(returned(run.key, 1)).cases).toEqual(["stepCompleted"]);
    expect(run.outstanding()).toEqual([]);
    expect(run.must(continueRun()).cases).toEqual(["runContinued", "stepStarted"]);
    expect(run.working).toEqual(["b"]);
    expect(run.status).toBe("RUNNING");
  });

  it("leaves a run that has nothing left to do where it is", () => {
    const run = runOf(workflow([functionStep("a")]));
    run.must(pauseRun());
    run.must(returned(run.key, 1));
    expect(run.status).toBe("PAUSED");
    expect(run.must(continueRun()).cases).toEqual(["runContinued", "runCompleted"]);
  });

  it("holds back the items of a list", () => {
    const run = runOf(workflow([functionStep("each", { forEach: { items: literal([1, 2]), concurrency: 1 } })]));
    run.must(pauseRun());
    expect(run.must(returned(run.keyOf("each", 0), 1)).cases).toEqual(["stepCompleted"]);
    run.must(continueRun());
    expect(run.working).toEqual(["each.1"]);
    run.must(pauseRun());
    // The list itself was under way, and so it ends.
    expect(run.must(returned(run.keyOf("each", 1), 1)).cases).toEqual(["stepCompleted", "stepCompleted"]);
    expect(run.status).toBe("PAUSED");
  });

  it("does not hold back another attempt of what is under way", () => {
    const run = runOf(TWO);
    run.must(pauseRun());
    run.must(taskFailed(run.key));
    expect(run.task).toMatchObject({ key: "step:0:2" });
    const agent = runOf(workflow([agentStep("a", { retry: { attempts: 2, initialDelay: { seconds: 5n } } })]));
    agent.must(pauseRun());
    agent.must(turnReport(agent.sessionId, { status: TurnStatus.FAILED, outcome: TurnOutcome.TASK_FAILED }));
    expect(agent.must(fired("retry:0:2")).cases).toEqual(["stepStarted"]);
  });

  it("does not keep a run from failing or from being cancelled", () => {
    const failing = runOf(workflow([functionStep("a")]));
    failing.must(pauseRun());
    failing.must(taskFailed(failing.key));
    expect(failing.status).toBe("FAILED");
    const cancelled = runOf(TWO);
    cancelled.must(pauseRun());
    cancelled.must(cancelRun());
    expect(cancelled.status).toBe("CANCELLING");
    expect(cancelled.must(taskCancelled(cancelled.key)).cases).toEqual(["stepCancelled", "runCancelled"]);
    const idle = runOf(TWO);
    idle.must(pauseRun());
    idle.must(returned(idle.key, 1));
    expect(idle.must(cancelRun()).cases).toEqual(["runCancelRequested", "runCancelled"]);
  });

  it("is refused where it makes no sense", () => {
    const run = runOf(TWO);
    expect(run.execute(continueRun()).rejection).toMatchObject({ reason: "RUN_NOT_PAUSED" });
    run.must(pauseRun());
    expect(run.execute(pauseRun()).rejection).toMatchObject({ reason: "RUN_PAUSED" });
    run.must(cancelRun());
    expect(run.execute(pauseRun()).rejection).toMatchObject({ reason: "RUN_CANCELLING" });
    run.must(taskCancelled(run.key));
    expect(run.execute(pauseRun()).rejection).toMatchObject({ reason: "RUN_ENDED" });
    expect(run.execute(continueRun()).rejection).toMatchObject({ reason: "RUN_ENDED" });
    expect(new RunStream().execute(pauseRun()).rejection).toMatchObject({ reason: "RUN_NOT_FOUND" });
  });
});
