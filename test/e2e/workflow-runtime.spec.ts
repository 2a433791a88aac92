import { randomUUID } from "node:crypto";
import { create, type MessageInitShape } from "@bufbuild/protobuf";
import { type ConnectClient, commandHeader } from "@forge/client";
import { ForgeError } from "@forge/protocol";
import { ErrorCode, type Value } from "@forge/protocol/common";
import type { Event } from "@forge/protocol/event";
import { Decision } from "@forge/protocol/tool";
import { CapabilityKind, CapabilitySchema, FunctionResultSchema } from "@forge/protocol/worker";
import { OnError, RunStatus, type StepDefinitionSchema, StepStatus, type WorkflowDefinitionSchema } from "@forge/protocol/workflow";
import { startWorker, type TaskHandler, type Worker } from "@forge/worker";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Cluster, startCluster } from "../harness/cluster.ts";
import { eventsUntil, runEnded, runStream, until } from "../harness/work.ts";

// Runs over two control planes, whose functions are these: what a test wants of a call is in its input.

type Step = MessageInitShape<typeof StepDefinitionSchema>;
type Input = { readonly n?: number; readonly fail?: string; readonly hold?: string; readonly list?: readonly unknown[]; readonly texts?: number };

let cluster: Cluster;
let client: ConnectClient;
let other: ConnectClient;
let worker: Worker;
const calls: string[] = [];
const broken = new Set<string>();
const held = new Map<string, () => void>();

function longText(index: number): string {
  return `${index}`.padEnd(2_000, "x");
}

function doubleHandler(): TaskHandler {
  return {
    capability: create(CapabilitySchema, { kind: CapabilityKind.FUNCTION, name: "numbers.double" }),
    async run(context) {
      const { kind } = context.task;
      if (kind.case !== "function") throw new Error("no function");
      const { stepId, runId } = kind.value;
      const read = async (value: Value | undefined) => (value === undefined ? undefined : (JSON.parse(await context.fromValue(value)) as unknown));
      const input: Input = Object.fromEntries(
        await Promise.all(Object.entries(kind.value.input).map(async ([name, value]) => [name, await read(value)] as const)),
      );
      calls.push(`${runId} ${stepId} ${input.n ?? ""}`);
      if (input.hold !== undefined) {
        const { promise, resolve } = Promise.withResolvers<void>();
        held.set(input.hold, resolve);
        context.signal.addEventListener("abort", () => resolve());
        await promise;
        context.signal.throwIfAborted();
      }
      if (input.fail !== undefined && broken.has(input.fail)) throw new ForgeError(ErrorCode.INTERNAL, `${input.fail} is broken`, { reason: "BROKEN" });
      const texts = input.texts === undefined ? undefined : Array.from({ length: input.texts }, (_, index) => [longText(index)]);
      const output = texts ?? input.list ?? { n: (input.n ?? 1) * 2 };
      return { case: "function", value: create(FunctionResultSchema, { output: await context.toValue(JSON.stringify(output)) }) };
    },
  };
}

beforeAll(async () => {
  cluster = await startCluster({ controlPlanes: 2 });
  client = cluster.client;
  other = cluster.clients[1] as ConnectClient;
  const { createConnectClient } = await import("@forge/client");
  const port = createConnectClient({ url: cluster.urls[0] as string, token: cluster.workerToken });
  worker = await startWorker({ port, name: "numbers", queues: ["default"], handlers: [doubleHandler()], slots: 16, onProblem: () => undefined });
});
afterAll(async () => {
  for (const release of held.values()) release();
  await worker?.stop();
  await cluster?.close();
});

function literal(value: unknown) {
  return { kind: { case: "literalJson" as const, value: JSON.stringify(value) } };
}

function path(value: string) {
  return { kind: { case: "path" as const, value } };
}

function double(id: string, options: Partial<Step> & { readonly input?: Input } = {}): Step {
  const { input = { n: 1 }, ...rest } = options;
  const inputs = Object.fromEntries(Object.entries(input).map(([name, value]) => [name, literal(value)]));
  return { id, kind: { case: "function", value: { name: "numbers.double" } }, inputs, ...rest } as Step;
}

async function start(steps: readonly Step[], options: Partial<MessageInitShape<typeof WorkflowDefinitionSchema>> = {}): Promise<string> {
  const definition = { id: "numbers", version: "v1", onError: OnError.FAIL_FAST, steps: [...steps], ...options };
  return (await client.workflow.startRun({ header: commandHeader(), definition } as Parameters<typeof client.workflow.startRun>[0])).runId;
}

const stepsOf = async (runId: string) => (await client.workflow.getRun({ runId })).run?.steps ?? [];
const runOf = async (runId: string) => (await client.workflow.getRun({ runId })).run;
const callsOf = (runId: string, stepId: string) => calls.filter((call) => call.startsWith(`${runId} ${stepId} `)).length;
const parsed = (value: Value | undefined) => (value?.kind.case === "json" ? (JSON.parse(value.kind.value) as unknown) : undefined);
const lastOf = (events: readonly Event[]) => events.at(-1)?.kind;

function commandTo(runId: string) {
  return { header: commandHeader(randomUUID()), runId };
}

/** What a replay shows of a run, none of it being called. */
async function expectReplays(runId: string): Promise<void> {
  const before = calls.length;
  const replay = await other.workflow.replayRun({ runId, verifyState: true });
  expect(replay.mismatches).toEqual([]);
  expect(calls).toHaveLength(before);
}

describe("a concurrency key", () => {
  it("is held by as many runs as its limit says, and goes on to the highest priority", async () => {
    const key = `key-${randomUUID()}`;
    const begin = async (priority: number, from: ConnectClient) => {
      const hold = randomUUID();
      const definition = { id: "numbers", version: "v1", steps: [double("a", { input: { hold } })], concurrency: { key, limit: 2 } };
      const { runId } = await from.workflow.startRun({ header: commandHeader(), definition, priority, labels: { key } });
      return { hold, runId };
    };
    const [a, b] = [await begin(0, client), await begin(0, other)];
    await until("both are under way", () => held.has(a.hold) && held.has(b.hold));
    const [low, high, gone] = [await begin(1, client), await begin(9, other), await begin(9, client)];
    const queued = async () => (await other.workflow.listRuns({ status: RunStatus.QUEUED, labels: { key } })).runs.map(({ runId }) => runId).toSorted();
    await until("three wait", async () => (await queued()).length === 3);
    await client.workflow.cancelRun(commandTo(gone.runId));
    expect((await runEnded(client, gone.runId)).map(({ kind }) => kind).filter((kind) => kind.startsWith("step"))).toEqual([]);
    held.get(a.hold)?.();
    await until("the more important one has begun", () => held.has(high.hold));
    expect(await queued()).toEqual([low.runId]);
    held.get(b.hold)?.();
    await until("the last one has begun", () => held.has(low.hold));
    held.get(high.hold)?.();
    held.get(low.hold)?.();
    for (const { runId } of [a, b, high, low]) expect(lastOf(await runEnded(client, runId))).toBe("run.completed");
    await expectReplays(high.runId);
  });
});

describe("a graph", () => {
  it("runs what is independent at the same time, and what needs both after both", async () => {
    const a = `a-${randomUUID()}`;
    const b = `b-${randomUUID()}`;
    const runId = await start([
      double("a", { input: { n: 1, hold: a } }),
      double("b", { input: { n: 2, hold: b } }),
      double("sum", { needs: ["a", "b"], inputs: { n: path("steps.b.n") } }),
    ]);
    await until("both are under way", () => held.has(a) && held.has(b));
    held.get(b)?.();
    held.get(a)?.();
    expect(lastOf(await runEnded(client, runId))).toBe("run.completed");
    expect(parsed((await runOf(runId))?.output)).toEqual({ n: 8 });
    await expectReplays(runId);
  });

  it("fails once what runs beside the failed step has stopped", async () => {
    const hold = `slow-${randomUUID()}`;
    broken.add("once");
    const runId = await start([double("slow", { input: { hold } }), double("bad", { input: { fail: "once" } }), double("after", { needs: ["slow", "bad"] })]);
    expect(lastOf(await runEnded(client, runId))).toBe("run.failed");
    const run = await runOf(runId);
    expect(run?.steps.map(({ stepId, status }) => [stepId, status])).toEqual([
      ["slow", StepStatus.CANCELLED],
      ["bad", StepStatus.FAILED],
    ]);
    await expectReplays(runId);

    broken.delete("once");
    const resumed = await client.workflow.resumeRun(commandTo(runId));
    expect(resumed.stepIds).toEqual(["slow", "bad"]);
    await until("the slow one is under way again", () => callsOf(runId, "slow") === 2);
    held.get(hold)?.();
    expect(lastOf(await eventsUntil(client, runStream(runId), ({ kind }) => kind === "run.completed"))).toBe("run.completed");
    await expectReplays(runId);
  });

  it("passes over what depends on a failed step where it goes on in spite of errors", async () => {
    broken.add("always");
    const runId = await start(
      [
        double("bad", { input: { fail: "always" } }),
        double("child", { needs: ["bad"] }),
        double("free", {}),
        double("last", { needs: ["free"], when: "state.steps.free.n > 5" }),
      ],
      { onError: OnError.CONTINUE },
    );
    await runEnded(client, runId);
    const run = await runOf(runId);
    expect(run?.status).toBe(RunStatus.COMPLETED_WITH_ERRORS);
    expect(Object.fromEntries(run?.steps.map(({ stepId, status, skipReason }) => [stepId, [status, skipReason]]) ?? [])).toEqual({
      bad: [StepStatus.FAILED, ""],
      child: [StepStatus.SKIPPED, "need:bad"],
      free: [StepStatus.COMPLETED, ""],
      last: [StepStatus.SKIPPED, "when"],
    });
    await expectReplays(runId);
  });
});

describe("a list", () => {
  const list = (length: number) => double("list", { input: { list: Array.from({ length }, (_, index) => index) } });

  it("is gone through item by item, at most so many at once, and puts the outputs in its order", async () => {
    const each = double("each", { inputs: { n: path("item") }, forEach: { items: path("steps.list"), concurrency: 3 } });
    const runId = await start([list(20), each, double("third", { inputs: { n: path("steps.each.3.n") } })]);
    expect(lastOf(await runEnded(client, runId))).toBe("run.completed");
    expect(parsed((await runOf(runId))?.output)).toEqual({ n: 12 });
    const steps = await stepsOf(runId);
    expect(parsed(steps.find(({ itemCount }) => itemCount === 20)?.output)).toEqual(Array.from({ length: 20 }, (_, index) => ({ n: index * 2 })));
    expect(steps.filter(({ groupIndex }) => groupIndex !== undefined)).toHaveLength(20);
    await expectReplays(runId);
  });

  it("too long to stay inline is read all the same", async () => {
    const each = double("each", { inputs: { list: path("item") }, forEach: { items: path("steps.list") } });
    const runId = await start([double("list", { input: { texts: 60 } }), each, double("last", { inputs: { list: path("steps.each.7") } })]);
    expect(lastOf(await runEnded(client, runId))).toBe("run.completed");
    expect(parsed((await runOf(runId))?.output)).toEqual([longText(7)]);
    await expectReplays(runId);
  });

  it("of nothing is an empty list", async () => {
    const runId = await start([list(0), double("each", { inputs: { n: path("item") }, forEach: { items: path("steps.list") } })]);
    expect(lastOf(await runEnded(client, runId))).toBe("run.completed");
    expect(parsed((await runOf(runId))?.output)).toEqual([]);
  });
});

describe("an output of five megabytes", () => {
  it("is handed on, looked into by mappings and branches, and replayed", async () => {
    const count = 2_600;
    const next = [{ when: `len(state.steps.big) == ${count} and state.steps.big[${count - 1}][0].startswith("${count - 1}x")`, goto: "look" }];
    const runId = await start([
      double("big", { input: { texts: count }, next, nextDefault: "end" }),
      double("passed", { input: { n: 3 } }),
      double("look", { inputs: { list: path(`steps.big.${count - 1}`) } }),
      double("whole", { inputs: { list: path("steps.big") } }),
    ]);
    expect(lastOf(await runEnded(client, runId))).toBe("run.completed");
    const steps = await stepsOf(runId);
    expect(steps.map(({ stepId }) => stepId)).toEqual(["big", "look", "whole"]);
    expect(parsed(steps[1]?.output)).toEqual([longText(count - 1)]);
    const sizes = [steps[0], steps[2]].map((step) => (step?.output?.kind.case === "artifact" ? Number(step.output.kind.value.size) : 0));
    expect(sizes[0]).toBeGreaterThan(5_000_000);
    expect(sizes[1]).toBe(sizes[0]);
    await expectReplays(runId);
  });
});

describe("a wait", () => {
  it("takes signals that came before it and after it, in their order", async () => {
    const wait = (id: string): Step => ({ id, kind: { case: "wait", value: { kind: { case: "signal", value: "go" } } } });
    const hold = `first-${randomUUID()}`;
    const runId = await start([double("first", { input: { hold } }), wait("one"), wait("two"), double("last", { inputs: { n: path("steps.two.n") } })]);
    await until("the first step is under way", () => held.has(hold));
    const early = { ...commandTo(runId), name: "go", payload: { kind: { case: "json" as const, value: '{"n":1}' } } };
    await client.workflow.signalRun(early);
    await other.workflow.signalRun(early);
    held.get(hold)?.();
    await eventsUntil(client, runStream(runId), (event) => event.kind === "step.started" && event.stepId === "two");
    await until("the run shows that it waits", async () => (await runOf(runId))?.status === RunStatus.WAITING);
    await other.workflow.signalRun({ ...commandTo(runId), name: "go", payload: { kind: { case: "json", value: '{"n":21}' } } });
    expect(lastOf(await runEnded(client, runId))).toBe("run.completed");
    expect(parsed((await runOf(runId))?.output)).toEqual({ n: 42 });
    await expectReplays(runId);
  });

  it("for a time ends at that time; for a signal, when its patience does", async () => {
    const forTime: Step = { id: "time", kind: { case: "wait", value: { kind: { case: "duration", value: { nanos: 300_000_000 } } } } };
    const runId = await start([
      forTime,
      { id: "signal", timeout: { nanos: 200_000_000 }, kind: { case: "wait", value: { kind: { case: "signal", value: "never" } } } },
    ]);
    expect(lastOf(await runEnded(client, runId))).toBe("run.failed");
    const [time, signal] = await stepsOf(runId);
    expect(time).toMatchObject({ status: StepStatus.COMPLETED });
    expect(Number(time?.durationMs)).toBeGreaterThanOrEqual(300);
    expect(signal?.error).toMatchObject({ reason: "WAIT_TIMEOUT" });
  });

  it("for a person is listed among the approvals, and answered once", async () => {
    const ask: Step = { id: "ask", kind: { case: "wait", value: { kind: { case: "approval", value: { question: "Ship {{ steps.first.n }}?" } } } } };
    const runId = await start([double("first"), ask, double("last")]);
    await until("it asks", async () => (await runOf(runId))?.status === RunStatus.WAITING);
    const { approvals } = await other.approval.listPendingApprovals({ stream: runStream(runId) });
    expect(approvals).toMatchObject([{ question: "Ship 2?", stepId: "ask" }]);
    const answer = (decision: Decision) => ({
      header: commandHeader(randomUUID()),
      stream: runStream(runId),
      approvalId: approvals[0]?.approvalId ?? "",
      decision,
    });
    await other.approval.resolveApproval(answer(Decision.ALLOW));
    expect(lastOf(await runEnded(client, runId))).toBe("run.completed");
    await expect(client.approval.resolveApproval(answer(Decision.DENY))).rejects.toMatchObject({ reason: "APPROVAL_RESOLVED" });
    expect((await client.approval.listPendingApprovals({ stream: runStream(runId) })).approvals).toEqual([]);
  });
});

describe("a run", () => {
  it("that is paused begins no step until it is continued", async () => {
    const hold = `paused-${randomUUID()}`;
    const runId = await start([double("first", { input: { hold } }), double("last")]);
    await until("the first step is under way", () => held.has(hold));
    await other.workflow.pauseRun(commandTo(runId));
    held.get(hold)?.();
    await eventsUntil(client, runStream(runId), ({ kind }) => kind === "step.completed");
    expect(await runOf(runId)).toMatchObject({ status: RunStatus.PAUSED });
    expect(callsOf(runId, "last")).toBe(0);
    await client.workflow.continueRun(commandTo(runId));
    expect(lastOf(await runEnded(client, runId))).toBe("run.completed");
  });

  it("inside a run hands back its output, and is cancelled with it", async () => {
    const hold = `inner-${randomUUID()}`;
    const inner = (steps: readonly Step[]): Step => {
      const definition = { id: "inner", version: "v1", onError: OnError.FAIL_FAST, inputs: [{ name: "n" }], steps: [...steps] };
      return { id: "inner", kind: { case: "workflow", value: { definition } }, inputs: { n: literal(4) } };
    };
    const runId = await start([inner([double("deep", { inputs: { n: path("inputs.n") } })]), double("last", { inputs: { n: path("steps.inner.n") } })]);
    expect(lastOf(await runEnded(client, runId))).toBe("run.completed");
    expect(parsed((await runOf(runId))?.output)).toEqual({ n: 16 });
    const childRunId = (await stepsOf(runId))[0]?.childRunId ?? "";
    expect((await runOf(childRunId))?.parent).toMatchObject({ runId, stepId: "inner" });

    const stuck = await start([inner([double("deep", { input: { hold } })])]);
    await until("the inner one is under way", () => held.has(hold));
    await other.workflow.cancelRun(commandTo(stuck));
    expect(lastOf(await runEnded(client, stuck))).toBe("run.cancelled");
    expect(await runOf((await stepsOf(stuck))[0]?.childRunId ?? "")).toMatchObject({ status: RunStatus.CANCELLED });
  });

  it("that takes longer than it may fails, and can be resumed", async () => {
    const wait: Step = { id: "wait", kind: { case: "wait", value: { kind: { case: "signal", value: "go" } } } };
    const runId = await start([double("first"), wait], { deadline: { seconds: 3n } });
    expect(lastOf(await runEnded(client, runId))).toBe("run.failed");
    expect((await runOf(runId))?.error).toMatchObject({ code: ErrorCode.DEADLINE_EXCEEDED, reason: "RUN_DEADLINE" });
    // Its time counts anew, and the wait that was stopped begins again; the first step has completed.
    expect((await client.workflow.resumeRun(commandTo(runId))).stepIds).toEqual(["wait"]);
    await client.workflow.signalRun({ ...commandTo(runId), name: "go" });
    await eventsUntil(client, runStream(runId), ({ kind }) => kind === "run.completed");
    expect(callsOf(runId, "first")).toBe(1);
  });

  it("that failed goes on where it failed; one that did not, and another workflow, are refused", async () => {
    broken.add("resume");
    const runId = await start([double("first"), double("bad", { input: { fail: "resume" } }), double("last")]);
    await runEnded(client, runId);
    await expect(client.workflow.resumeRun({ ...commandTo(runId), workflowHash: "0".repeat(64) })).rejects.toMatchObject({ reason: "WORKFLOW_INTEGRITY" });
    broken.delete("resume");
    const command = { ...commandTo(runId), workflowHash: (await runOf(runId))?.workflowHash ?? "" };
    const [one, two] = await Promise.all([client.workflow.resumeRun(command), other.workflow.resumeRun(command)]);
    expect([one.stepIds, two.stepIds]).toEqual([["bad"], ["bad"]]);
    await eventsUntil(client, runStream(runId), ({ kind }) => kind === "run.completed");
    expect([callsOf(runId, "first"), callsOf(runId, "bad"), callsOf(runId, "last")]).toEqual([1, 2, 1]);
    await expect(client.workflow.resumeRun(commandTo(runId))).rejects.toMatchObject({ reason: "RUN_NOT_FAILED" });
    await expectReplays(runId);
  });

  it("forked from a step shares what came before it and says so", async () => {
    const runId = await start([double("first", { input: { n: 3 } }), double("second", { inputs: { n: path("steps.first.n") } })]);
    await runEnded(client, runId);
    const fork = await other.workflow.forkRun({ ...commandTo(runId), stepId: "second" });
    expect(lastOf(await runEnded(client, fork.runId))).toBe("run.completed");
    const run = await runOf(fork.runId);
    expect(run?.origin).toMatchObject({ runId, stepId: "second" });
    expect(parsed(run?.output)).toEqual({ n: 12 });
    expect([callsOf(fork.runId, "first"), callsOf(fork.runId, "second")]).toEqual([0, 1]);
    await expect(client.workflow.forkRun({ ...commandTo(runId), stepId: "secnd" })).rejects.toMatchObject({
      message: expect.stringContaining("second") as string,
    });
    await expectReplays(fork.runId);
  });
});
