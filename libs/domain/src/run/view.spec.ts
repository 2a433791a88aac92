import { create } from "@bufbuild/protobuf";
import { UsageSchema } from "@forge/protocol/common";
import { EventSchema } from "@forge/protocol/event";
import { RunStatus, StepStatus, StepType } from "@forge/protocol/workflow";
import { describe, expect, it } from "vitest";
import {
  agentStep,
  cancelRun,
  functionStep,
  json,
  RUN_ID,
  runOf,
  SEARCH,
  started,
  taskFailed,
  toolReturned,
  toolStep,
  turnReport,
  workflow,
} from "./testing/run-fixture.ts";
import { runView } from "./view.ts";

const TOOLS = { tools: [{ ...SEARCH, idempotent: true }] };

describe("the view of a run", () => {
  it("shows every execution with its times, attempts, errors and usage", () => {
    const run = runOf(workflow([functionStep("a", { retry: { attempts: 2 } }), toolStep("find", SEARCH.name), agentStep("think")]), TOOLS);
    const createdAt = run.events[0]?.occurredAt;
    run.nowMs += 10;
    run.must(taskFailed(run.key, "once"));
    expect(runView(run.events).steps[0]).toMatchObject({ status: StepStatus.RETRYING, attemptCount: 2, lastError: { message: "once" } });
    expect(runView(run.events).steps[0]?.error).toBeUndefined();
    run.nowMs += 20;
    run.return({ x: 1 });
    run.nowMs += 5;
    run.must(started(run.key));
    run.must(toolReturned(run.key, ["hit"]));
    const { sessionId } = run;
    expect(runView(run.events).steps[2]).toMatchObject({ status: StepStatus.RUNNING, sessionId });
    expect(runView(run.events).steps[2]?.finishedAt).toBeUndefined();
    run.nowMs += 300;
    const usage = create(UsageSchema, { inputTokens: 7n, costMicroUsd: 3n });
    run.must(turnReport(sessionId, { usage }));
    const view = runView(run.events);
    expect(view).toMatchObject({
      runId: RUN_ID,
      seq: BigInt(run.seq),
      workflowId: "triage",
      workflowVersion: "v1",
      status: RunStatus.COMPLETED,
      output: json({ text: "Done." }),
      createdAt,
      startedAt: createdAt,
      completedAt: run.events.at(-1)?.occurredAt,
      queue: "default",
      usage,
    });
    expect(view.workflowHash).toMatch(/^[0-9a-f]{64}$/);
    expect(view.steps).toMatchObject([
      {
        stepId: "a",
        stepType: StepType.FUNCTION,
        executionIndex: 0,
        status: StepStatus.COMPLETED,
        attemptCount: 2,
        input: { fixed: json(1) },
        output: json({ x: 1 }),
        lastError: { message: "once" },
        durationMs: 30n,
        handlerDurationMs: 5n,
        nextStepId: "find",
        nextSource: "sequence",
      },
      { stepId: "find", stepType: StepType.TOOL, executionIndex: 1, status: StepStatus.COMPLETED, output: json(["hit"]), durationMs: 5n, toolDurationMs: 7n },
      { stepId: "think", stepType: StepType.AGENT, executionIndex: 2, status: StepStatus.COMPLETED, sessionId, usage, durationMs: 300n, nextSource: "end" },
    ]);
    expect(view.steps.every((step) => Object.keys(step.input).every((name) => !name.startsWith("$")))).toBe(true);
  });

  it("shows what failed and what was cancelled", () => {
    const failed = runOf(workflow([functionStep("a")]));
    failed.must(taskFailed(failed.key, "broken"));
    expect(runView(failed.events)).toMatchObject({
      status: RunStatus.FAILED,
      error: { message: 'step "a" failed: broken' },
      steps: [{ status: StepStatus.FAILED, error: { message: "broken" } }],
    });
    const cancelled = runOf(workflow([agentStep("a")]));
    cancelled.must(cancelRun());
    expect(runView(cancelled.events)).toMatchObject({ status: RunStatus.CANCELLING, steps: [{ status: StepStatus.RUNNING }] });
    cancelled.must(turnReport(cancelled.sessionId, { status: 6, outcome: 8 }));
    expect(runView(cancelled.events)).toMatchObject({ status: RunStatus.CANCELLED, steps: [{ status: StepStatus.CANCELLED }] });
  });

  it("shows each execution of a step that a branch returns to", () => {
    const run = runOf(workflow([functionStep("a", { next: [{ when: "state.steps.a >= 2", goto: "end" }], nextDefault: "a" })]));
    for (let round = 0; run.outstanding().length > 0; round++) run.return(round);
    expect(runView(run.events).steps.map((step) => [step.executionIndex, step.nextSource])).toEqual([
      [0, "default"],
      [1, "default"],
      [2, "rule:0"],
    ]);
  });

  it("passes over kinds that it does not know, and counts their seq", () => {
    const run = runOf(workflow([functionStep("a")]));
    expect(runView([...run.events, create(EventSchema, { seq: 99n })])).toMatchObject({ seq: 99n, status: RunStatus.RUNNING });
  });
});

describe("the fold of a run", () => {
  it.each(["turnStarted", "modelCompleted", "sessionCreated", "turnPaused", "toolDenied"] as const)("refuses an event that no run has: %s", (payloadCase) => {
    const run = runOf(workflow([functionStep("a")]));
    const event = create(EventSchema, { payload: { case: payloadCase, value: {} } as never });
    expect(() => run.decider.evolve(run.state, event)).toThrow(payloadCase);
  });

  it("refuses an event of an unknown kind", () => {
    const run = runOf(workflow([functionStep("a")]));
    expect(() => run.decider.evolve(run.state, create(EventSchema))).toThrow("unknown kind");
  });
});
