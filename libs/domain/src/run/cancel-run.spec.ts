import { ErrorCode } from "@forge/protocol/common";
import { RunStatus } from "@forge/protocol/workflow";
import { describe, expect, it } from "vitest";
import {
  cancelRun,
  functionStep,
  lost,
  RunStream,
  returned,
  runOf,
  SEARCH,
  started,
  taskCancelled,
  taskFailed,
  toolReturned,
  toolStep,
  WRITE,
  workflow,
} from "./testing/run-fixture.ts";

const TOOLS = { tools: [SEARCH, WRITE] };

describe("cancelling a run", () => {
  it("waits for a function that may be running", () => {
    const run = runOf(workflow([functionStep("a", { retry: { attempts: 3 } }), functionStep("b")]));
    expect(run.must(cancelRun()).cases).toEqual(["runCancelRequested"]);
    expect(run.task).toMatchObject({ key: "step:0:1", cancelRequested: true });
    expect(run.decider.listing(run.state).status).toBe("RUN_STATUS_CANCELLING");
    expect(run.execute(started(run.key)).rejection).toMatchObject({ code: ErrorCode.CANCELLED, reason: "RUN_CANCELLING" });
    expect(run.must(taskCancelled(run.key)).cases).toEqual(["stepCancelled", "runCancelled"]);
    expect(run.outstanding()).toEqual([]);
    expect(run.decider.listing(run.state).status).toBe("RUN_STATUS_CANCELLED");
  });

  it.each<[string, (key: string) => Parameters<RunStream["execute"]>[0], string[]]>([
    ["had completed", (key) => returned(key, 1), ["stepCompleted", "runCancelled"]],
    ["had failed", (key) => taskFailed(key), ["stepFailed", "runCancelled"]],
    ["was lost", (key) => lost(key), ["stepFailed", "runCancelled"]],
  ])("does not go on where the step %s meanwhile", (_, command, cases) => {
    const run = runOf(workflow([functionStep("a", { retry: { attempts: 3 } }), functionStep("b")]));
    run.must(cancelRun());
    expect(run.must(command(run.key)).cases).toEqual(cases);
  });

  it("waits for a tool that has started, and ends its call", () => {
    const run = runOf(workflow([toolStep("a", WRITE.name)]), TOOLS);
    run.must(started(run.key));
    run.must(cancelRun());
    expect(run.task.cancelRequested).toBe(true);
    expect(run.must(taskCancelled(run.key)).cases).toEqual(["toolCancelled", "stepCancelled", "runCancelled"]);
  });

  it("records what a started tool has done after all", () => {
    const run = runOf(workflow([toolStep("a", WRITE.name)]), TOOLS);
    run.must(started(run.key));
    run.must(cancelRun());
    expect(run.must(toolReturned(run.key, 1)).cases).toEqual(["toolCompleted", "stepCompleted", "runCancelled"]);
  });

  it("says that a started tool which was lost is unknown", () => {
    const run = runOf(workflow([toolStep("a", WRITE.name)]), TOOLS);
    run.must(started(run.key));
    run.must(cancelRun());
    expect(run.must(lost(run.key)).cases).toEqual(["toolSettledUnknown", "stepFailed", "runCancelled"]);
  });

  it("ends a call at once that nobody has started", () => {
    const run = runOf(workflow([toolStep("a", WRITE.name)]), TOOLS);
    expect(run.must(cancelRun()).cases).toEqual(["runCancelRequested", "toolCancelled", "stepCancelled", "runCancelled"]);
  });

  it("may be asked for again until the run has ended", () => {
    const run = runOf(workflow([functionStep("a")]));
    run.must(cancelRun());
    expect(run.must(cancelRun()).cases).toEqual(["runCancelRequested"]);
    run.must(taskCancelled(run.key));
    expect(run.execute(cancelRun()).rejection).toMatchObject({ code: ErrorCode.CONFLICT, reason: "RUN_ENDED" });
    expect(run.state.status).toBe(RunStatus.CANCELLED);
  });

  it("is refused for a run that does not exist", () => {
    expect(new RunStream().execute(cancelRun()).rejection).toMatchObject({ code: ErrorCode.NOT_FOUND, reason: "RUN_NOT_FOUND" });
  });
});
