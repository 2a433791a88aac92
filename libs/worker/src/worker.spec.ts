import { create } from "@bufbuild/protobuf";
import { ForgeError } from "@forge/protocol";
import { ErrorCode } from "@forge/protocol/common";
import { CapabilityKind, CapabilitySchema, SettlementSchema } from "@forge/protocol/worker";
import { afterEach, describe, expect, it, vi } from "vitest";
import type { Outcome, TaskContext, TaskHandler } from "./handler.ts";
import { FakeControlPlane, leasedTask, workerSessionGone } from "./testing/fake-control-plane.ts";
import { startWorker, type Worker, type WorkerOptions } from "./worker.ts";

const DONE: Outcome = create(SettlementSchema, { outcome: { case: "tool", value: {} } }).outcome;
const CANCELLED: Outcome = create(SettlementSchema, { outcome: { case: "cancelled", value: {} } }).outcome;

/** A tool whose calls end when the test says so, or when they are to stop. */
class HeldTool implements TaskHandler {
  readonly capability = create(CapabilitySchema, { kind: CapabilityKind.TOOL, name: "test.tool" });
  readonly open = new Map<string, () => void>();
  most = 0;

  async run({ lease, signal }: TaskContext): Promise<Outcome> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.open.set(lease.taskId, resolve);
    this.most = Math.max(this.most, this.open.size);
    signal.addEventListener("abort", () => resolve());
    await promise;
    this.open.delete(lease.taskId);
    return signal.aborted ? CANCELLED : DONE;
  }
}

/** Waits until a check holds; a busy machine may take its time. */
async function until(check: () => void): Promise<void> {
  await vi.waitFor(check, 10_000);
}

const workers: Worker[] = [];

afterEach(async () => {
  for (const worker of workers.splice(0)) await worker.stop();
});

async function start(plane: FakeControlPlane, options: Partial<WorkerOptions> = {}) {
  const tool = new HeldTool();
  const problems: unknown[] = [];
  const worker = await startWorker({
    port: plane.port,
    name: "worker",
    queues: ["default"],
    handlers: [tool],
    slots: 2,
    onProblem: (error) => problems.push(error),
    ...options,
  });
  workers.push(worker);
  return { tool, problems, worker };
}

describe("a worker", () => {
  it("does not start where it is refused", async () => {
    const plane = new FakeControlPlane();
    plane.onCall = () => {
      throw new ForgeError(ErrorCode.PERMISSION_DENIED, "queue gpu is not granted");
    };
    await expect(start(plane)).rejects.toMatchObject({ code: ErrorCode.PERMISSION_DENIED });
    expect(plane.slotsAsked).toEqual([]);
  });

  it("gives each kind of task to its handler", async () => {
    const plane = new FakeControlPlane();
    const served: string[] = [];
    const handlers = [
      { label: "model", kind: CapabilityKind.MODEL, name: "openai/*" },
      { label: "tool", kind: CapabilityKind.TOOL, name: "same" },
      { label: "function", kind: CapabilityKind.FUNCTION, name: "same" },
      { label: "hook", kind: CapabilityKind.HOOK, name: "same" },
      { label: "workspace", kind: CapabilityKind.WORKSPACE, name: "undo" },
    ].map(({ label, kind, name }) => ({
      capability: create(CapabilitySchema, { kind, name }),
      run: async ({ lease }: TaskContext) => {
        served.push(`${lease.taskId} by ${label}`);
        return DONE;
      },
    }));
    await start(plane, { handlers, slots: 10 });
    plane.hand(
      leasedTask("a", { kind: { case: "model", value: { model: "openai/gpt/5" } } }),
      leasedTask("b", { kind: { case: "tool", value: { tool: "same" } } }),
      leasedTask("c", { kind: { case: "function", value: { name: "same" } } }),
      leasedTask("d", { kind: { case: "model", value: { model: "other/model" } } }),
      leasedTask("e", { kind: { case: "hook", value: { hook: "same" } } }),
      leasedTask("f", { kind: { case: "undo", value: {} } }),
      leasedTask("g", { kind: { case: "compaction", value: { model: "openai/gpt/5" } } }),
    );
    await until(() => expect(plane.settled.toSorted()).toEqual(["a tool", "b tool", "c tool", "d failure", "e tool", "f tool", "g tool"]));
    expect(served.toSorted()).toEqual(["a by model", "b by tool", "c by function", "e by hook", "f by workspace", "g by model"]);
  });

  it("never holds more than its slots, and asks again as soon as one is free", async () => {
    const plane = new FakeControlPlane();
    const { tool } = await start(plane);
    plane.hand(...["a", "b", "c", "d", "e"].map((id) => leasedTask(id)));
    await until(() => expect([...tool.open.keys()]).toEqual(["a", "b"]));
    expect(plane.slotsAsked).toEqual([2]);
    tool.open.get("a")?.();
    await until(() => expect([...tool.open.keys()]).toEqual(["b", "c"]));
    expect(plane.slotsAsked).toEqual([2, 1]);
    for (const id of ["b", "c", "d", "e"]) {
      await until(() => expect(tool.open.has(id)).toBe(true));
      tool.open.get(id)?.();
    }
    await until(() => expect(plane.settlements.flat()).toHaveLength(5));
    expect(tool.most).toBe(2);
  });

  it("says what it holds, stops what is cancelled, and drops what is lost", async () => {
    const plane = new FakeControlPlane();
    const { tool } = await start(plane);
    plane.hand(leasedTask("a"), leasedTask("b"));
    await until(() => expect(plane.heartbeats.at(-1)).toEqual(["a", "b"]));
    [plane.cancel, plane.lost] = [["a", "never heard of"], ["b"]];
    await until(() => expect(tool.open.size).toBe(0));
    await until(() => expect(plane.heartbeats.at(-1)).toEqual([]));
    expect(plane.settled).toEqual(["a cancelled"]);
  });

  it("does not drop the next lease of a task when it hears that it lost the one before", async () => {
    const plane = new FakeControlPlane();
    const { tool } = await start(plane);
    plane.hand(leasedTask("a", {}, 1));
    await until(() => expect(plane.heartbeats.at(-1)).toEqual(["a"]));
    const gate = Promise.withResolvers<void>();
    const asked = Promise.withResolvers<void>();
    plane.onCall = async (method) => {
      if (method !== "heartbeat") return;
      asked.resolve();
      await gate.promise;
    };
    plane.lost = ["a"];
    await asked.promise;
    const first = tool.open.get("a");
    plane.hand(leasedTask("a", {}, 2));
    await until(() => expect(tool.open.get("a")).not.toBe(first));
    gate.resolve();
    await until(() => expect(plane.heartbeats.length).toBeGreaterThan(3));
    tool.open.get("a")?.();
    await until(() => expect(plane.settlements.flat()).toMatchObject([{ lease: { taskId: "a", epoch: 2 }, outcome: { case: "tool" } }]));
  });

  it("goes on when the control plane can't be reached for a while", async () => {
    const plane = new FakeControlPlane();
    const { problems } = await start(plane, { handlers: [{ capability: new HeldTool().capability, run: async () => DONE }] });
    let failures = 0;
    plane.onCall = () => {
      if (++failures <= 6) throw new ForgeError(ErrorCode.STORAGE_ERROR, "connection refused");
    };
    plane.failPoll(new ForgeError(ErrorCode.STORAGE_ERROR, "connection reset"));
    plane.hand(leasedTask("a"));
    await until(() => expect(plane.settled).toEqual(["a tool"]));
    expect(plane.registered).toEqual(["worker"]);
    expect(problems).not.toEqual([]);
  });
});

describe("a worker whose heartbeats fail", () => {
  it("tries again at its heartbeats' pace, so that what it leases meanwhile does not run out", async () => {
    const plane = new FakeControlPlane();
    const { tool } = await start(plane);
    // With doubled pauses this many would take minutes.
    let failures = 30;
    plane.onCall = (method) => {
      if (method === "heartbeat" && failures-- > 0) throw new ForgeError(ErrorCode.STORAGE_ERROR, "no database");
    };
    plane.hand(leasedTask("a"));
    await until(() => expect(tool.open.has("a")).toBe(true));
    await until(() => expect(failures).toBeLessThan(0));
    expect(plane.heartbeats.at(-1)).toEqual(["a"]);
  });
});

describe("a worker whose session is not known any more", () => {
  it("joins again once, drops what it held, and keeps what the new session holds", async () => {
    const plane = new FakeControlPlane();
    const { tool, problems } = await start(plane);
    plane.hand(leasedTask("a"));
    await until(() => expect(plane.heartbeats.at(-1)).toEqual(["a"]));
    // The poll hears of it first; a heartbeat of the old session is still on its way.
    const gate = Promise.withResolvers<void>();
    const asked = Promise.withResolvers<void>();
    plane.onCall = async (method, sessionId) => {
      if (sessionId !== "session-1") return;
      if (method === "heartbeat") {
        asked.resolve();
        await gate.promise;
      }
      throw workerSessionGone();
    };
    await asked.promise;
    plane.failPoll(workerSessionGone());
    await until(() => expect(plane.registered).toHaveLength(2));
    plane.hand(leasedTask("b"));
    await until(() => expect([...tool.open.keys()]).toEqual(["b"]));
    gate.resolve();
    await until(() => expect(plane.heartbeats.at(-1)).toEqual(["b"]));
    tool.open.get("b")?.();
    await until(() => expect(plane.settled).toEqual(["b tool"]));
    expect(plane.registered).toHaveLength(2);
    expect(problems).toEqual([]);
  });

  it("tries until it is let in", async () => {
    const plane = new FakeControlPlane();
    const { problems } = await start(plane);
    let refusals = 3;
    plane.onCall = (method, sessionId) => {
      if (method === "register" && refusals-- > 0) throw new ForgeError(ErrorCode.STORAGE_ERROR, "no database");
      if (sessionId === "session-1") throw workerSessionGone();
    };
    plane.failPoll(workerSessionGone());
    await until(() => expect(plane.registered).toHaveLength(2));
    expect(problems).toHaveLength(3);
  });
});

describe("a worker whose name another has taken", () => {
  it("gives up what it holds and joins no more, where it wants to be told", async () => {
    const plane = new FakeControlPlane();
    const onReplaced = vi.fn<() => void>();
    const { tool, problems } = await start(plane, { onReplaced });
    plane.hand(leasedTask("a"));
    await until(() => expect(plane.heartbeats.at(-1)).toEqual(["a"]));
    plane.onCall = () => {
      throw workerSessionGone();
    };
    await until(() => expect(onReplaced).toHaveBeenCalledOnce());
    await until(() => expect(tool.open.size).toBe(0));
    expect([plane.registered.length, plane.settled, problems]).toEqual([1, [], []]);
  });

  it("joins again where its session ended because nothing was heard of it for too long", async () => {
    const plane = new FakeControlPlane();
    const onReplaced = vi.fn<() => void>();
    await start(plane, { onReplaced });
    await until(() => expect(plane.heartbeats.length).toBeGreaterThan(0));
    const silence = Promise.withResolvers<void>();
    const asked = Promise.withResolvers<void>();
    plane.onCall = async (method, sessionId) => {
      if (method !== "heartbeat" || sessionId !== "session-1") return;
      asked.resolve();
      await silence.promise;
      throw workerSessionGone();
    };
    await asked.promise;
    vi.spyOn(Date, "now").mockReturnValue(Date.now() + 15_000);
    silence.resolve();
    await until(() => expect(plane.registered).toHaveLength(2));
    vi.restoreAllMocks();
    expect(onReplaced).not.toHaveBeenCalled();
  });
});

describe("a worker that ends", () => {
  it("takes no new tasks while it drains, and waits for those that it holds", async () => {
    const plane = new FakeControlPlane();
    const { tool, worker } = await start(plane);
    plane.hand(leasedTask("a"));
    await until(() => expect(tool.open.size).toBe(1));
    let isDrained = false;
    const drained = worker.drain(10_000).then(() => (isDrained = true));
    await until(() => expect(plane.drained).toBe(1));
    plane.hand(leasedTask("b"));
    const before = plane.heartbeats.length;
    await until(() => expect(plane.heartbeats.length).toBeGreaterThan(before + 1));
    expect({ isDrained, open: [...tool.open.keys()] }).toEqual({ isDrained: false, open: ["a"] });
    tool.open.get("a")?.();
    await drained;
    expect(plane.settled).toEqual(["a tool"]);
  });

  it("drains no longer than it may", async () => {
    const plane = new FakeControlPlane();
    const { tool, worker } = await start(plane);
    plane.hand(leasedTask("a"));
    await until(() => expect(tool.open.size).toBe(1));
    await worker.drain(20);
    expect(tool.open.size).toBe(1);
  });

  it("drains though the control plane can't be told", async () => {
    const plane = new FakeControlPlane();
    const { problems, worker } = await start(plane);
    plane.onCall = (method) => {
      if (method === "drain") throw new ForgeError(ErrorCode.STORAGE_ERROR, "connection refused");
    };
    await worker.drain(10_000);
    expect(problems).toHaveLength(1);
  });

  it("stops what runs, waits for its settlement, and then asks for nothing more", async () => {
    const plane = new FakeControlPlane();
    const { tool, worker } = await start(plane);
    plane.hand(leasedTask("a"), leasedTask("b"));
    await until(() => expect(tool.open.size).toBe(2));
    await worker.stop();
    expect(plane.settled).toEqual(["a cancelled", "b cancelled"]);
    const calls = vi.fn<() => void>();
    plane.onCall = calls;
    plane.hand(leasedTask("c"));
    await worker.stop();
    expect(calls).not.toHaveBeenCalled();
    expect(tool.open.size).toBe(0);
  });

  it("does not begin what arrives after it was asked to stop", async () => {
    const plane = new FakeControlPlane();
    const { tool, worker } = await start(plane);
    const leaseTasks = plane.port.worker.leaseTasks;
    // An answer that comes although the call was given up, as from a control plane in the same process.
    const late = Promise.withResolvers<void>();
    Object.assign(plane.port.worker, {
      leaseTasks: async (request: object) => {
        const answer = await leaseTasks(request);
        await late.promise;
        return answer;
      },
    });
    plane.hand(leasedTask("a"));
    await until(() => expect(tool.open.size).toBe(1));
    plane.hand(leasedTask("b"));
    await until(() => expect(plane.slotsAsked).toEqual([2, 1]));
    const stopped = worker.stop();
    late.resolve();
    await stopped;
    expect(plane.settled).toEqual(["a cancelled"]);
    expect(tool.open.size).toBe(0);
  });
});
