import { create, toBinary } from "@bufbuild/protobuf";
import { durationFromMs, timestampFromMs } from "@bufbuild/protobuf/wkt";
import { ForgeError } from "@forge/protocol";
import { ErrorCode } from "@forge/protocol/common";
import { CapabilityKind, CapabilitySchema, type LeasedTask, SettlementSchema, TaskAnswerSchema, TaskSchema, TaskStartSchema } from "@forge/protocol/worker";
import { describe, expect, it, vi } from "vitest";
import type { Outcome, TaskContext, TaskHandler } from "./handler.ts";
import { RunningTask } from "./running-task.ts";
import { Submissions } from "./submissions.ts";
import { FakeControlPlane, leasedTask } from "./testing/fake-control-plane.ts";

const DONE: Outcome = create(SettlementSchema, { outcome: { case: "tool", value: { output: { kind: { case: "json", value: "1" } } } } }).outcome;
const CANCELLED: Outcome = create(SettlementSchema, { outcome: { case: "cancelled", value: {} } }).outcome;

function setup(run: (context: TaskContext) => Promise<Outcome>, leased: LeasedTask = leasedTask("task")) {
  const plane = new FakeControlPlane();
  const task = new RunningTask(leased, plane.port, new Submissions(plane.port, () => "session"));
  const begun = Promise.withResolvers<void>();
  const handler: TaskHandler = {
    capability: create(CapabilitySchema, { kind: CapabilityKind.TOOL, name: "test.tool" }),
    run: (context) => {
      begun.resolve();
      return run(context);
    },
  };
  return { plane, task, begun: begun.promise, run: () => task.run(() => handler) };
}

/** Resolves when the task is to stop, with the reason. */
function stopped({ signal }: TaskContext): Promise<ForgeError> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve(signal.reason as ForgeError);
    signal.addEventListener("abort", () => resolve(signal.reason as ForgeError));
  });
}

describe("a task", () => {
  it("is settled once, under its lease, with what its handler answers", async () => {
    const { plane, run } = setup(async () => DONE, leasedTask("task", {}, 7));
    await run();
    expect(plane.settlements).toMatchObject([[{ lease: { taskId: "task", epoch: 7, leaseToken: new Uint8Array([7]) }, outcome: DONE }]]);
  });

  it.each([
    [new TypeError("x is undefined"), { code: ErrorCode.INTERNAL, message: "TypeError: x is undefined", origin: "worker" }],
    ["only text", { code: ErrorCode.INTERNAL, origin: "worker" }],
    [
      new ForgeError(ErrorCode.PROVIDER_ERROR, "overloaded", { retryable: true, origin: "provider" }),
      { code: ErrorCode.PROVIDER_ERROR, retryable: true, origin: "provider" },
    ],
  ])("whose handler throws is settled as a failure: %s", async (thrown: unknown, error) => {
    const { plane, run } = setup(async () => {
      throw thrown as Error;
    });
    await run();
    expect(plane.settlements).toMatchObject([[{ outcome: { case: "failure", value: { error } } }]]);
  });

  it("that gives no sign of life for longer than it may is stopped; output and heartbeats are one", async () => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    try {
      const seen: string[] = [];
      const { plane, run } = setup(
        async (context) => {
          const end = stopped(context);
          for (const sign of ["heartbeat", "report"] as const) {
            await vi.advanceTimersByTimeAsync(900);
            if (sign === "heartbeat") context.heartbeat();
            else context.report({ case: undefined });
            seen.push(`${context.signal.aborted}`);
          }
          await vi.advanceTimersByTimeAsync(1_001);
          throw await end;
        },
        leasedTask("task", { heartbeatTimeout: durationFromMs(1_000) }),
      );
      await run();
      expect(seen).toEqual(["false", "false"]);
      expect(plane.settlements).toMatchObject([
        [{ outcome: { case: "failure", value: { error: { code: ErrorCode.DEADLINE_EXCEEDED, reason: "HEARTBEAT_TIMEOUT" } } } }],
      ]);
    } finally {
      vi.useRealTimers();
    }
  });

  it("that waits for its turn in this process has its time counted from when it begins", async () => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    try {
      const seen: boolean[] = [];
      const { plane, run } = setup(
        async (context) => {
          const end = stopped(context);
          context.queued();
          await vi.advanceTimersByTimeAsync(10_000);
          seen.push(context.signal.aborted);
          context.begun();
          await vi.advanceTimersByTimeAsync(1_900);
          context.heartbeat();
          seen.push(context.signal.aborted);
          await vi.advanceTimersByTimeAsync(101);
          throw await end;
        },
        leasedTask("task", { timeout: durationFromMs(2_000), heartbeatTimeout: durationFromMs(1_950) }),
      );
      await run();
      expect(seen).toEqual([false, false]);
      expect(plane.settlements).toMatchObject([[{ outcome: { case: "failure", value: { error: { code: ErrorCode.DEADLINE_EXCEEDED, reason: "" } } } }]]);
    } finally {
      vi.useRealTimers();
    }
  });

  it("that nobody serves is settled as unsupported", async () => {
    const { plane, task } = setup(async () => DONE);
    await task.run(() => undefined);
    expect(plane.settlements).toMatchObject([[{ outcome: { case: "failure", value: { error: { code: ErrorCode.UNSUPPORTED } } } }]]);
  });

  it("whose outcome can't be kept is settled as failed by that", async () => {
    const { plane, run } = setup(async () => DONE);
    plane.answerSettlement = ({ outcome }) =>
      outcome.case === "tool" ? create(TaskAnswerSchema, { error: ForgeError.validation("output", "no text").detail }) : create(TaskAnswerSchema);
    await run();
    expect(plane.settlements[1]).toMatchObject([
      { outcome: { case: "failure", value: { error: { code: ErrorCode.VALIDATION, metadata: { field: "output" } } } } },
    ]);
  });

  it("is read whole from the artifact that its lease points at", async () => {
    const whole = create(TaskSchema, { kind: { case: "tool", value: { tool: "test.tool", argumentsJson: JSON.stringify("large") } }, idempotencyKey: "key" });
    const seen: unknown[] = [];
    const { plane, run } = setup(
      async ({ task }) => {
        seen.push(task);
        return DONE;
      },
      leasedTask("task", { kind: { case: undefined }, artifact: { sha256: "hash" } }),
    );
    plane.artifacts.set("hash", toBinary(TaskSchema, whole));
    await run();
    expect(seen).toEqual([whole]);
  });

  it("whose artifact is not there is settled as failed by that", async () => {
    const { plane, run } = setup(async () => DONE, leasedTask("task", { artifact: { sha256: "gone" } }));
    await run();
    expect(plane.settlements).toMatchObject([[{ outcome: { case: "failure", value: { error: { code: ErrorCode.NOT_FOUND } } } }]]);
  });
});

describe("a task that is to stop", () => {
  it("because it was cancelled is told so, and settled as its handler says", async () => {
    const reasons: ForgeError[] = [];
    const { plane, task, begun, run } = setup(async (context) => {
      reasons.push(await stopped(context));
      return CANCELLED;
    });
    const running = run();
    await begun;
    task.cancel();
    await running;
    expect(reasons).toMatchObject([{ code: ErrorCode.CANCELLED }]);
    expect(plane.settled).toEqual(["task cancelled"]);
  });

  it("because it was cancelled is settled as cancelled when its handler throws the reason", async () => {
    const { plane, task, begun, run } = setup(async (context) => {
      throw await stopped(context);
    });
    const running = run();
    await begun;
    task.cancel();
    await running;
    expect(plane.settled).toEqual(["task cancelled"]);
  });

  it("before it has begun never begins", async () => {
    const handler = vi.fn<(context: TaskContext) => Promise<Outcome>>().mockResolvedValue(DONE);
    const { plane, task, run } = setup(handler);
    task.cancel();
    await run();
    expect(handler).not.toHaveBeenCalled();
    expect(plane.settled).toEqual(["task cancelled"]);
  });

  it("because its lease was lost settles nothing, whatever its handler answers", async () => {
    for (const end of [async () => DONE, () => Promise.reject(new Error("torn"))]) {
      const reasons: ForgeError[] = [];
      const { plane, task, begun, run } = setup(async (context) => {
        reasons.push(await stopped(context));
        return end();
      });
      const running = run();
      await begun;
      task.lose();
      await running;
      expect(reasons).toMatchObject([{ code: ErrorCode.WORKER_LOST }]);
      expect(plane.settlements).toEqual([]);
    }
  });

  it.each([
    ["its attempt has taken as long as it may", { timeout: durationFromMs(20) }],
    ["its deadline has passed", { deadlineAt: timestampFromMs(Date.now() - 1000) }],
    ["the nearer of both", { timeout: durationFromMs(20), deadlineAt: timestampFromMs(Date.now() + 1e9) }],
  ])("because %s is told so", async (_, bounds) => {
    const { plane, run } = setup(
      async (context) => {
        throw await stopped(context);
      },
      leasedTask("task", bounds),
    );
    await run();
    expect(plane.settlements).toMatchObject([[{ outcome: { case: "failure", value: { error: { code: ErrorCode.DEADLINE_EXCEEDED } } } }]]);
  });

  it("is not told so by a deadline after its end", async () => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    try {
      const { run } = setup(async () => DONE, leasedTask("task", { timeout: durationFromMs(1e12) }));
      const running = run();
      await vi.advanceTimersByTimeAsync(0);
      await running;
      expect(vi.getTimerCount()).toBe(0);
    } finally {
      vi.useRealTimers();
    }
  });
});

describe("a start", () => {
  const START = create(TaskStartSchema, { kind: { case: "tool", value: {} } }).kind;

  it("goes ahead once it is recorded", async () => {
    const { plane, run } = setup(async (context) => {
      await context.start(START);
      expect(plane.starts).toMatchObject([[{ lease: { taskId: "task" }, kind: { case: "tool" } }]]);
      return DONE;
    });
    await run();
    expect(plane.settled).toEqual(["task tool"]);
  });

  it("that is refused because the lease is lost ends the task without a settlement", async () => {
    const { plane, run } = setup(async (context) => {
      await context.start(START);
      return DONE;
    });
    plane.answerStart = () => create(TaskAnswerSchema, { error: new ForgeError(ErrorCode.CONFLICT, "another has it", { reason: "LEASE_LOST" }).detail });
    await run();
    expect(plane.settlements).toEqual([]);
  });

  it("that is refused for another reason fails the task by it", async () => {
    const { plane, run } = setup(async (context) => {
      await context.start(START);
      return DONE;
    });
    plane.answerStart = () => create(TaskAnswerSchema, { error: ForgeError.validation("starts.kind", "no").detail });
    await run();
    expect(plane.settlements).toMatchObject([[{ outcome: { case: "failure", value: { error: { code: ErrorCode.VALIDATION } } } }]]);
  });
});
