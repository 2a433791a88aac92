import { setImmediate as nextTurn } from "node:timers/promises";
import { create } from "@bufbuild/protobuf";
import { Placement } from "@forge/core";
import { concurrencyDecider, runDecider, sessionDecider } from "@forge/domain";
import { ForgeError } from "@forge/protocol";
import { ErrorCode } from "@forge/protocol/common";
import {
  CloseSessionRequestSchema,
  CloseSessionResponseSchema,
  CreateSessionRequestSchema,
  CreateSessionResponseSchema,
  StartTurnRequestSchema,
  StartTurnResponseSchema,
  UpdateSessionPolicyRequestSchema,
  UpdateSessionPolicyResponseSchema,
} from "@forge/protocol/session";
import { describe, expect, it, vi } from "vitest";
import type { StoredTask } from "../ports/index.ts";
import { MemoryStreams } from "../testing/memory-streams.ts";
import type { Command } from "./aggregate.ts";
import { EVENT_FORMATS, type EventFormats } from "./event-formats.ts";
import { deriveId, sha256 } from "./identity.ts";
import type { CommandRequest } from "./request.ts";
import { type Appended, StreamEngine } from "./stream-engine.ts";

function setup(formats: EventFormats = EVENT_FORMATS) {
  const memory = new MemoryStreams();
  const appended: Appended[] = [];
  const bugs: unknown[] = [];
  const unreadable: string[] = [];
  const uncertain: string[] = [];
  const mayWrite = vi.fn<(format: number) => Promise<boolean>>().mockResolvedValue(true);
  const newEngine = () =>
    new StreamEngine({
      store: memory.asStore(),
      aggregates: { session: sessionDecider, run: runDecider, concurrency: concurrencyDecider },
      placement: new Placement<StoredTask>(),
      replica: "replica",
      leaseTtlMs: 1000,
      cacheMax: 10,
      nowMs: () => 1_800_000_000_000,
      artifactText: async () => undefined,
      knowTools: async () => undefined,
      toolsOf: () => [],
      isServed: () => false,
      knowServed: async () => undefined,
      formats,
      mayWrite,
      onUncertainAppend: (_, streamId) => uncertain.push(streamId),
      onUnreadable: (streamId) => unreadable.push(streamId),
      onAppended: (event) => appended.push(event),
      onBug: (error) => bugs.push(error),
    });
  return { memory, appended, bugs, unreadable, uncertain, mayWrite, engine: newEngine(), newEngine };
}

/** A stream that has so many has had a snapshot. */
const SNAPSHOT_EVENTS = 300;

const base = { namespace: "default", principal: "cli", kind: "session" as const, expectedSeq: undefined, correlationId: "", causationId: "", proofs: [] };

function createSession(commandId: string, title = ""): CommandRequest {
  const command = create(CreateSessionRequestSchema, { header: { commandId }, title, agent: { model: "demo/echo" } });
  return {
    ...base,
    streamId: deriveId("default", "session", commandId),
    creates: true,
    command,
    commandId,
    digest: sha256(title),
    resultSchema: CreateSessionResponseSchema,
  };
}

function close(streamId: string, commandId: string, expectedSeq?: number): CommandRequest {
  const command: Command = create(CloseSessionRequestSchema, { header: { commandId }, sessionId: streamId });
  return { ...base, streamId, creates: false, command, commandId, digest: sha256("close"), expectedSeq, resultSchema: CloseSessionResponseSchema };
}

function startTurn(streamId: string, commandId: string): CommandRequest {
  const command: Command = create(StartTurnRequestSchema, {
    header: { commandId },
    sessionId: streamId,
    input: [{ kind: { case: "text", value: { text: "hi" } } }],
  });
  return { ...base, streamId, creates: false, command, commandId, digest: sha256("turn"), resultSchema: StartTurnResponseSchema };
}

const reasonOf = (promise: Promise<unknown>) =>
  promise.then(
    () => "accepted",
    (error: unknown) => (error instanceof ForgeError ? error.reason : String(error)),
  );

describe("StreamEngine", () => {
  it("gives the same command, sent many times at once, one effect and one answer", async () => {
    const { engine, memory } = setup();
    const request = createSession("c1");
    const answers = await Promise.all(Array.from({ length: 50 }, () => engine.execute(request)));
    expect(new Set(answers.map((answer) => JSON.stringify([answer.seq, [...answer.result]]))).size).toBe(1);
    expect(memory.streams.get(request.streamId)?.events.map((event) => event.kind)).toEqual(["session.created"]);
  });

  it("answers a command again after a restart, though the state would now refuse it", async () => {
    const { engine, newEngine, memory } = setup();
    const created = createSession("c1");
    await engine.execute(created);
    const first = await engine.execute(startTurn(created.streamId, "t1"));
    const again = await newEngine().execute(startTurn(created.streamId, "t1"));
    expect(again).toEqual(first);
    expect(await reasonOf(newEngine().execute(startTurn(created.streamId, "t2")))).toBe("TURN_ACTIVE");
    expect(memory.streams.get(created.streamId)?.commands.map((command) => command.commandId)).toEqual(["c1", "t1"]);
  });

  it("refuses a command id that was used for something else, also while the first waits", async () => {
    const { engine } = setup();
    const [first, second] = await Promise.allSettled([engine.execute(createSession("c1", "one")), engine.execute(createSession("c1", "two"))]);
    expect([first.status, second.status]).toEqual(["fulfilled", "rejected"]);
    expect(await reasonOf(engine.execute(createSession("c1", "two")))).toBe("COMMAND_ID_REUSED");
  });

  it("has one effect when the answer of the database is lost after the commit, and whoever watches is told to look", async () => {
    const { engine, memory, appended, uncertain } = setup();
    const request = createSession("c1");
    memory.faults.push("lost-after");
    const result = await engine.execute(request);
    expect(result.seq).toBe(1);
    expect(memory.streams.get(request.streamId)?.seq).toBe(1);
    await engine.whenIdle();
    expect([appended, uncertain]).toEqual([[], [request.streamId]]);
  });

  it("carries a command through a lost connection, a locked row and a head that moved", async () => {
    const { engine, newEngine, memory } = setup();
    const created = createSession("c1");
    memory.faults.push("lost-before", "busy");
    await engine.execute(created);
    // Another replica moves the stream behind this one's cache.
    const other = newEngine();
    await other.execute(startTurn(created.streamId, "t1"));
    expect(await reasonOf(engine.execute(close(created.streamId, "x1")))).toBe("TURN_ACTIVE");
  });

  it("lets one of two commands win that expect the same seq", async () => {
    const { engine } = setup();
    const created = createSession("c1");
    await engine.execute(created);
    const results = await Promise.all([reasonOf(engine.execute(close(created.streamId, "x1", 1))), reasonOf(engine.execute(close(created.streamId, "x2", 1)))]);
    expect(results.sort()).toEqual(["SEQ_MISMATCH", "accepted"]);
  });

  it("puts commands of different streams into one batch, at most one append a stream", async () => {
    const { engine, memory } = setup();
    await Promise.all(Array.from({ length: 20 }, (_, index) => engine.execute(createSession(`c${index}`))));
    expect(memory.batches.length).toBeLessThan(20);
    for (const batch of memory.batches) expect(new Set(batch.map((append) => append.streamId)).size).toBe(batch.length);
  });

  it("fails only the command whose lease is gone when several share an append", async () => {
    const { engine, memory } = setup();
    const created = createSession("c1");
    await engine.execute(created);
    memory.fencedKeys.add("stolen");
    const proof = { streamId: created.streamId, key: "stolen", epoch: 1, token: new Uint8Array(16) };
    // Decided together, the turn would be refused, because the session would be closed; but it is not.
    const results = await Promise.all([
      reasonOf(engine.execute({ ...close(created.streamId, "x1"), proofs: [proof] })),
      reasonOf(engine.execute(startTurn(created.streamId, "t1"))),
    ]);
    expect(results).toEqual(["LEASE_LOST", "accepted"]);
  });

  it("refuses a command for another kind of stream alone, whatever it shares an append with", async () => {
    const { engine, bugs } = setup();
    const created = createSession("c1");
    await engine.execute(created);
    const stranger = (id: string): CommandRequest => ({ ...close(created.streamId, id), kind: "run" });
    const results = await Promise.allSettled([
      engine.execute(stranger("x1")),
      engine.execute(startTurn(created.streamId, "t1")),
      engine.execute(stranger("x2")),
    ]);
    expect(results.map(({ status }) => status)).toEqual(["rejected", "fulfilled", "rejected"]);
    expect(bugs).toEqual([]);
  });

  it("lets a command that can't be decided at all fail alone", async () => {
    const { engine, bugs } = setup();
    const created = createSession("c1");
    await engine.execute(created);
    const broken: CommandRequest = { ...close(created.streamId, "x1"), command: { $typeName: "nobody.knows" } };
    const results = await Promise.allSettled([engine.execute(broken), engine.execute(startTurn(created.streamId, "t1"))]);
    expect(results.map(({ status }) => status)).toEqual(["rejected", "fulfilled"]);
    expect(bugs.length).toBeGreaterThan(0);
  });

  it("publishes each event once, in order, after it is stored", async () => {
    const { engine, appended, memory } = setup();
    const created = createSession("c1");
    await engine.execute(created);
    await engine.execute(startTurn(created.streamId, "t1"));
    const seqs = appended.flatMap((entry) => entry.events.map((event) => event.seq));
    expect(seqs).toEqual(Array.from({ length: memory.streams.get(created.streamId)?.seq ?? 0 }, (_, index) => index + 1));
  });

  it("says that a stream does not exist, also under an id of another kind", async () => {
    const { engine } = setup();
    const created = createSession("c1");
    await engine.execute(created);
    await expect(engine.execute(close(deriveId("default", "nothing"), "x1"))).rejects.toThrow("does not exist");
    await expect(engine.execute({ ...close(created.streamId, "x1"), kind: "run" })).rejects.toThrow("does not exist");
  });

  it("is busy until the snapshots that it has begun are saved", async () => {
    const { engine, memory } = setup();
    const created = createSession("c1");
    await engine.execute(created);
    const saved = Promise.withResolvers<void>();
    memory.snapshotSaved = saved.promise;
    const policy = (index: number): CommandRequest => {
      const command: Command = create(UpdateSessionPolicyRequestSchema, { header: { commandId: `p${index}` }, sessionId: created.streamId, policy: {} });
      return {
        ...base,
        streamId: created.streamId,
        creates: false,
        command,
        commandId: `p${index}`,
        digest: sha256("p"),
        resultSchema: UpdateSessionPolicyResponseSchema,
      };
    };
    for (let index = 0; index < SNAPSHOT_EVENTS; index++) await engine.execute(policy(index));
    expect(engine.isBusy).toBe(true);
    let isIdle = false;
    const idle = engine.whenIdle().then(() => {
      isIdle = true;
    });
    // All that could let it be idle has happened by then.
    await nextTurn();
    expect(isIdle).toBe(false);
    saved.resolve();
    await idle;
    expect(engine.isBusy).toBe(false);
  });
});

describe("kinds that came after the first format", () => {
  const newer = { reads: 2, kinds: new Map([["session.closed", 2]]) };

  it("are written once every control plane reads them, and not before", async () => {
    const { engine, memory, mayWrite } = setup(newer);
    await engine.execute(createSession("c1"));
    const id = deriveId("default", "session", "c1");
    expect(mayWrite).not.toHaveBeenCalled();
    mayWrite.mockResolvedValueOnce(false);
    await expect(engine.execute(close(id, "close-1"))).rejects.toMatchObject({
      code: ErrorCode.UNSUPPORTED_VERSION,
      reason: "FORMAT_NOT_READ",
      detail: { retryable: true },
    });
    expect(memory.streams.get(id)?.events).toHaveLength(1);
    await engine.execute(close(id, "close-1"));
    expect(mayWrite.mock.calls).toEqual([[2], [2]]);
    expect(memory.streams.get(id)?.events.map(({ kind }) => kind)).toEqual(["session.created", "session.closed"]);
  });

  it("stop their stream where they are not read, and no other", async () => {
    const { engine, memory } = setup(newer);
    for (const commandId of ["c1", "c2"]) await engine.execute(createSession(commandId));
    const [closed, open] = ["c1", "c2"].map((commandId) => deriveId("default", "session", commandId)) as [string, string];
    await engine.execute(close(closed, "close-1"));
    const older = setup({ reads: 1, kinds: newer.kinds });
    for (const [id, stream] of memory.streams) older.memory.streams.set(id, stream);
    await expect(older.engine.execute(close(closed, "close-2"))).rejects.toMatchObject({
      code: ErrorCode.UNSUPPORTED_VERSION,
      reason: "UNKNOWN_EVENT",
      detail: { retryable: true },
    });
    expect(older.unreadable).toEqual([closed]);
    expect((await older.engine.read("default", open, "session"))?.seq).toBe(1);
    expect(older.bugs).toEqual([]);
  });
});
