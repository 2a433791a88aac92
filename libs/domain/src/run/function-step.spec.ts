import { ErrorCode } from "@forge/protocol/common";
import { OnError } from "@forge/protocol/workflow";
import { describe, expect, it } from "vitest";
import {
  artifact,
  cancelRun,
  functionStep,
  json,
  lost,
  parsed,
  path,
  RUN_ID,
  returned,
  returnedValue,
  runOf,
  started,
  taskCancelled,
  taskFailed,
  toolReturned,
  workflow,
} from "./testing/run-fixture.ts";

describe("a function step", () => {
  it("is a task without a start, whose time counts from when a worker gets it", () => {
    const run = runOf(workflow([functionStep("parse", { timeout: { seconds: 5n } })]));
    expect(run.task).toMatchObject({
      key: "step:0:1",
      queue: "default",
      capability: "function:module.parse",
      idempotent: true,
      dueAtMs: 0,
      cancelRequested: false,
    });
    expect(run.task.task).toMatchObject({
      idempotencyKey: `${RUN_ID}/parse/0`,
      needsStart: false,
      timeout: { seconds: 5n },
      kind: { case: "function", value: { runId: RUN_ID, stepId: "parse", attempt: 1, name: "module.parse", input: { fixed: json(1) } } },
    });
  });

  it("is settled and followed by the next in one append", () => {
    const run = runOf(workflow([functionStep("a"), functionStep("b", { inputs: { title: path("steps.a.title") } })]));
    run.nowMs += 40;
    const { cases, events } = run.return({ title: "Crash" });
    expect(cases).toEqual(["stepCompleted", "stepStarted"]);
    expect(events[0]).toMatchObject({ stepId: "a", payload: { value: { nextStepId: "b", nextSource: "sequence", handlerDurationMs: 5n } } });
    expect(run.task).toMatchObject({ key: "step:1:1", task: { kind: { value: { input: { title: json("Crash") } } } } });
  });

  it("ends the run with the last step's output", () => {
    const run = runOf(workflow([functionStep("a"), functionStep("b")]));
    run.return(1);
    const { cases } = run.return({ done: true });
    expect(cases).toEqual(["stepCompleted", "runCompleted"]);
    expect(parsed(run.last("runCompleted").value.output)).toEqual({ done: true });
    expect(run.last("stepCompleted").value).toMatchObject({ nextStepId: "", nextSource: "end" });
    expect(run.outstanding()).toEqual([]);
    expect(run.decider.listing(run.state).status).toBe("RUN_STATUS_COMPLETED");
  });

  it("takes one settlement only, and only of its kind", () => {
    const run = runOf(workflow([functionStep("a"), functionStep("b")]));
    const key = run.key;
    expect(run.execute(toolReturned(key, 1)).rejection).toMatchObject({ code: ErrorCode.VALIDATION, reason: "TASK_KIND" });
    run.return(1);
    expect(run.execute(returned(key, 2)).rejection).toMatchObject({ code: ErrorCode.CONFLICT, reason: "TASK_NOT_OPEN" });
    expect(run.execute({ ...returned(key, 2), $typeName: "task.reported_late" }).rejection?.reason).toBe("TASK_NOT_OPEN");
  });

  it("must return exactly the outputs that it declares", () => {
    const wrong = runOf(workflow([functionStep("a", { outputs: ["title", "body"] })]));
    wrong.return({ title: "x", bodi: "y" });
    expect(wrong.last("stepFailed").value.error).toMatchObject({
      reason: "STEP_EXECUTION",
      message: 'step "a": the output lacks "body" and has undeclared "bodi" (did you mean "body"?); the step declares "title", "body"',
    });
    const list = runOf(workflow([functionStep("a", { outputs: ["title"] })]));
    expect(list.return([1]).cases).toEqual(["stepFailed", "runFailed"]);
    const right = runOf(workflow([functionStep("a", { outputs: ["title", "body"] })]));
    expect(right.return({ body: 1, title: null }).cases).toEqual(["stepCompleted", "runCompleted"]);
  });

  it("reads a large output only to check what it declares", () => {
    const artifacts = { good: JSON.stringify({ title: 1 }), bad: "{}" };
    const steps = [functionStep("a", { outputs: ["title"] })];
    const good = runOf(workflow(steps), { artifacts });
    expect(good.must(returnedValue(good.key, artifact("good"))).cases).toContain("runCompleted");
    const bad = runOf(workflow(steps), { artifacts });
    expect(bad.must(returnedValue(bad.key, artifact("bad"))).cases).toContain("runFailed");
    const unread = runOf(workflow([functionStep("a")]));
    expect(unread.must(returnedValue(unread.key, artifact("never-stored"))).cases).toContain("runCompleted");
  });

  it.each([
    ["no JSON", "{"],
    ["too large", JSON.stringify("x".repeat(70_000))],
    ["nested too deep", "[".repeat(201) + "]".repeat(201)],
  ])("fails with an output that is %s", (_, text) => {
    const run = runOf(workflow([functionStep("a")]));
    run.must(returnedValue(run.key, { ...json(0), kind: { case: "json", value: text } }));
    expect(run.last("stepFailed").value.error?.reason).toBe("STEP_EXECUTION");
  });

  it("fails the run with the worker's error", () => {
    const run = runOf(workflow([functionStep("a"), functionStep("b")]));
    expect(run.must(taskFailed(run.key, "No stack.")).cases).toEqual(["stepFailed", "runFailed"]);
    expect(run.last("runFailed").value.error).toMatchObject({
      code: 14,
      reason: "STEP_EXECUTION",
      message: 'step "a" failed: No stack.',
      metadata: { step_id: "a" },
    });
    expect(run.decider.listing(run.state).status).toBe("RUN_STATUS_FAILED");
  });

  it("goes on after a failure where the workflow says so, without the failed output", () => {
    const steps = [functionStep("a"), functionStep("b"), functionStep("c", { inputs: { it: path("steps.b.x") } }), functionStep("d")];
    const run = runOf(workflow(steps, { onError: OnError.CONTINUE }));
    run.return(1);
    expect(run.must(taskFailed(run.key)).cases).toEqual(["stepFailed", "stepStarted", "stepFailed", "stepStarted"]);
    expect(run.last("stepFailed").value.error?.message).toBe(
      'step "c": input "it" reads steps.b.x, but step "b" has no output: it has not completed in this run',
    );
    expect(run.return("end").cases).toEqual(["stepCompleted", "runCompleted"]);
    expect(run.last("runCompleted").value.withErrors).toBe(true);
    expect(run.decider.listing(run.state).status).toBe("RUN_STATUS_COMPLETED_WITH_ERRORS");
  });

  it("has failed where its worker is lost too often", () => {
    const run = runOf(workflow([functionStep("a")]));
    run.must(lost(run.key));
    expect(run.last("stepFailed").value.error).toMatchObject({ code: ErrorCode.WORKER_LOST, reason: "STEP_EXECUTION" });
  });

  it("has failed where its worker gives it up unasked", () => {
    const run = runOf(workflow([functionStep("a")]));
    run.must(taskCancelled(run.key));
    expect(run.last("stepFailed").value.error?.code).toBe(ErrorCode.CANCELLED);
  });

  it("may use so much of the state and no more", () => {
    const steps = Array.from({ length: 300 }, (_, index) => functionStep(`s${index}`));
    const run = runOf(workflow(steps));
    const large = "x".repeat(65_000);
    let count = 0;
    while (run.outstanding().length > 0) {
      run.return(large);
      count++;
    }
    expect(count).toBe(Math.floor((16 * 1024 * 1024) / 65_002) + 1);
    expect(run.last("runFailed").value.error).toMatchObject({ code: ErrorCode.RESOURCE_EXHAUSTED });
  });
});

describe("a function step that is not idempotent", () => {
  const steps = [functionStep("pay", { notIdempotent: true, retry: { attempts: 3 } }), functionStep("b")];

  it("is started on record before it runs", () => {
    const run = runOf(workflow(steps));
    expect(run.task).toMatchObject({ idempotent: false, task: { needsStart: true } });
    const { cases, events } = run.must(started(run.key));
    expect(cases).toEqual(["stepAttemptStarted"]);
    expect(events[0]?.payload.value).toMatchObject({ attempt: 1, worker: expect.any(String) });
    expect(run.key).toBe("step:0:1");
    expect(run.execute(started(run.key, 2)).rejection?.reason).toBe("TASK_STARTED");
  });

  it("is unknown, and not tried again, where it was lost after its start", () => {
    const run = runOf(workflow(steps));
    run.must(started(run.key));
    expect(run.must(lost(run.key)).cases).toEqual(["stepFailed", "runFailed"]);
    expect(run.last("stepFailed").value.error).toMatchObject({ code: ErrorCode.WORKER_LOST, reason: "UNKNOWN_EFFECT" });
  });

  it("is unknown where its worker says so", () => {
    const run = runOf(workflow(steps));
    run.must(started(run.key));
    run.must(taskFailed(run.key, "The child would not end.", { unknown: true }));
    expect(run.last("stepFailed").value.error?.reason).toBe("UNKNOWN_EFFECT");
  });

  it("is tried again where it was lost before its start", () => {
    const run = runOf(workflow(steps));
    expect(run.must(lost(run.key)).cases).toEqual(["stepAttemptFailed"]);
    expect(run.key).toBe("step:0:2");
    expect(run.task.task.idempotencyKey).toBe(`${RUN_ID}/pay/0`);
  });

  it("ends at once when it is cancelled before its start, and then nobody may start it", () => {
    const run = runOf(workflow(steps));
    const key = run.key;
    expect(run.must(cancelRun()).cases).toEqual(["runCancelRequested", "stepCancelled", "runCancelled"]);
    expect(run.execute(started(key)).rejection?.reason).toBe("TASK_NOT_OPEN");
  });
});
