import { create } from "@bufbuild/protobuf";
import { durationFromMs } from "@bufbuild/protobuf/wkt";
import { Backoff, ForgeErrorSchema, RetryPolicySchema } from "@forge/protocol/common";
import { describe, expect, it } from "vitest";
import { retryDelayMs } from "./retry.ts";
import { cancelRun, functionStep, runOf, taskFailed, workflow } from "./testing/run-fixture.ts";

const ERROR = create(ForgeErrorSchema);

describe("the delay before another attempt", () => {
  it.each([
    [Backoff.FIXED, 500, [500, 500, 500]],
    [Backoff.UNSPECIFIED, 500, [500, 500, 500]],
    [Backoff.EXPONENTIAL, 500, [500, 1_000, 2_000]],
    [Backoff.EXPONENTIAL, 1_800_000, [1_800_000, 3_600_000, 3_600_000]],
    [Backoff.EXPONENTIAL, 0, [0, 0, 0]],
  ])("follows backoff %s from %s ms", (backoff, initialMs, delays) => {
    const policy = create(RetryPolicySchema, { attempts: 100, backoff, initialDelay: durationFromMs(initialMs) });
    expect(delays.map((_, index) => retryDelayMs(policy, index + 1, ERROR, 0.5))).toEqual(delays);
    expect(retryDelayMs(policy, 99, ERROR, 1)).toBeLessThanOrEqual(3_600_000);
  });

  it("is longer by a part of its jitter, whatever asked for it, and never above the bound", () => {
    const policy = create(RetryPolicySchema, { attempts: 3, backoff: Backoff.EXPONENTIAL, initialDelay: durationFromMs(1_000), jitter: 0.5 });
    expect([0, 0.5, 1].map((fraction) => retryDelayMs(policy, 2, ERROR, fraction))).toEqual([2_000, 2_500, 3_000]);
    expect(retryDelayMs(policy, 1, create(ForgeErrorSchema, { retryAfter: durationFromMs(9_000) }), 1)).toBe(13_500);
    expect(retryDelayMs(policy, 99, ERROR, 1)).toBe(3_600_000);
  });

  it("is not less than what the error asks for", () => {
    const policy = create(RetryPolicySchema, { attempts: 2, initialDelay: durationFromMs(10) });
    expect(retryDelayMs(policy, 1, create(ForgeErrorSchema, { retryAfter: durationFromMs(9_000) }), 0)).toBe(9_000);
    expect(retryDelayMs(policy, 1, create(ForgeErrorSchema, { retryAfter: durationFromMs(9_000_000) }), 0)).toBe(3_600_000);
  });
});

describe("a step with a retry policy", () => {
  const definition = workflow([functionStep("a", { retry: { attempts: 3, backoff: Backoff.EXPONENTIAL, initialDelay: { seconds: 1n } } })]);

  it("has a task for each attempt, which is not dispatched before its time", () => {
    const run = runOf(definition);
    const { cases, events } = run.must(taskFailed(run.key, "once"));
    expect(cases).toEqual(["stepAttemptFailed"]);
    expect(events[0]?.payload.value).toMatchObject({ attempt: 1, error: { message: "once" }, nextAttemptAt: { seconds: BigInt(run.nowMs / 1000 + 1) } });
    expect(run.task).toMatchObject({
      key: "step:0:2",
      dueAtMs: run.nowMs + 1_000,
      task: { kind: { value: { attempt: 2 } }, timeout: { seconds: 60n } },
    });
    expect(run.execute(taskFailed("step:0:1")).rejection?.reason).toBe("TASK_NOT_OPEN");
    run.nowMs += 1_000;
    run.must(taskFailed(run.key, "twice"));
    expect(run.task).toMatchObject({ key: "step:0:3", dueAtMs: run.nowMs + 2_000 });
    run.nowMs += 2_000;
    expect(run.must(taskFailed(run.key, "thrice")).cases).toEqual(["stepFailed", "runFailed"]);
    expect(run.last("stepFailed").value.error?.message).toBe("thrice");
  });

  it("completes by a later attempt as by the first", () => {
    const run = runOf(definition);
    run.must(taskFailed(run.key));
    run.nowMs += 1_000;
    expect(run.return(1).cases).toEqual(["stepCompleted", "runCompleted"]);
    expect(run.last("runCompleted").value.withErrors).toBe(false);
  });

  it("ends at once when it is cancelled while an attempt waits for its time", () => {
    const run = runOf(definition);
    run.must(taskFailed(run.key));
    run.nowMs += 999;
    expect(run.must(cancelRun()).cases).toEqual(["runCancelRequested", "stepCancelled", "runCancelled"]);
    expect(run.outstanding()).toEqual([]);
  });

  it("waits for an attempt whose time has come, for somebody may have it", () => {
    const run = runOf(definition);
    run.must(taskFailed(run.key));
    run.nowMs += 1_000;
    expect(run.must(cancelRun()).cases).toEqual(["runCancelRequested"]);
    expect(run.task).toMatchObject({ key: "step:0:2", cancelRequested: true });
  });
});
