import { Batcher, backoffMs, jitterMs, Lru, Mailboxes, type Placement, pause } from "@forge/core";
import { ForgeError } from "@forge/protocol";
import { ErrorCode } from "@forge/protocol/common";
import type { AppendOutcome, Store, StoredEvent, StoredTask, StreamAppend } from "../ports/index.ts";
import type { Aggregates, StreamKindName } from "./aggregate.ts";
import { type AppendPorts, buildAppend, type PreparedAppend } from "./build-append.ts";
import { type DeltaRequest, deltaAppend } from "./delta.ts";
import { type Entry, emptyEntry, foldEntry, isSnapshotDue, snapshotBytes } from "./entry.ts";
import { HeadReader } from "./head-reader.ts";
import { streamKey } from "./identity.ts";
import { plan } from "./plan.ts";
import { fenced, refusedData, reused, toForgeError } from "./refusals.ts";
import type { CommandRequest, CommandResult } from "./request.ts";

/** What happened to a stream, for whoever follows it on this replica. */
export interface Appended {
  readonly namespace: string;
  readonly streamId: string;
  readonly kind: StreamKindName;
  readonly events: readonly StoredEvent[];
  /** The events are output that no fold reads. */
  readonly deltas: boolean;
  readonly seq: number;
  /** What lists show of the stream has changed. */
  readonly listed: boolean;
  /** Tasks asked to stop. */
  readonly cancelled: readonly string[];
  /** Work that found no free slot. */
  readonly unplacedRoutes: readonly string[];
  /** Work that is not due yet. */
  readonly laterRoutes: readonly { readonly route: string; readonly dueAtMs: number }[];
  /** Commands to other streams, leased to this replica. */
  readonly commands: readonly StoredTask[];
  /** When the earliest timer that was added fires; undefined: none was. */
  readonly timerDueAtMs: number | undefined;
}

export interface StreamEngineOptions extends AppendPorts {
  readonly store: Store;
  readonly aggregates: Aggregates;
  readonly placement: Placement<StoredTask>;
  readonly onAppended: (appended: Appended) => void;
  readonly onBug: (error: unknown, where: string) => void;
  /** The answer of an append was lost: the stream may have moved, and nobody was told. */
  readonly onUncertainAppend: (namespace: string, streamId: string) => void;
  /** A stream holds what this version does not know. */
  readonly onUnreadable: (streamId: string, error: ForgeError) => void;
  /** Streams kept in memory. */
  readonly cacheMax: number;
}

interface PendingCommand extends CommandRequest {
  readonly resolve: (result: CommandResult) => void;
  readonly reject: (error: ForgeError) => void;
}

interface PendingDelta extends DeltaRequest {
  readonly resolve: (result: undefined) => void;
  readonly reject: (error: ForgeError) => void;
}

type Pending = { readonly type: "command"; readonly request: PendingCommand } | { readonly type: "delta"; readonly request: PendingDelta };

/** Commands that may wait for one stream; more are refused, but for those that end something. */
const STREAM_QUEUE_MAX = 1024;
/** Conflicts, busy rows and lost connections that one command is carried through before it gives up. */
const ATTEMPTS_MAX = 200;
const STORAGE_FAILURES_MAX = 8;

const ENDING: ReadonlySet<string> = new Set([
  "forge.session.v1.CancelTurnRequest",
  "forge.session.v1.AbandonTurnRequest",
  "forge.session.v1.CloseSessionRequest",
  "forge.workflow.v1.CancelRunRequest",
  "forge.engine.v1.ReportTurnEnd",
  "forge.engine.v1.RejectCommand",
  "task.settled",
  "task.lost",
  "timer.fired",
]);

/** Commands that end something are bounded as well, but only where something must be badly wrong. */
const ENDING_QUEUE_MAX = 64 * STREAM_QUEUE_MAX;

/**
 * load -> decide -> append -> publish, the same way for every stream. Commands of one stream are decided in the order they came, those that wait together
 * share an append; appends of different streams share a commit. Correct with any number of replicas: the store's head check decides, the cache only saves loads.
 */
export class StreamEngine {
  readonly #options: StreamEngineOptions;
  readonly #cache: Lru<Entry>;
  readonly #batcher: Batcher<StreamAppend, AppendOutcome>;
  readonly #heads: HeadReader;
  readonly #mailboxes: Mailboxes<Pending>;
  /** On their way to the store. */
  readonly #snapshots = new Set<Promise<void>>();

  constructor(options: StreamEngineOptions) {
    this.#options = options;
    this.#cache = new Lru(options.cacheMax);
    this.#batcher = new Batcher((appends) => options.store.append(appends), { concurrency: 2, batchMax: 256 });
    this.#heads = new HeadReader(options.store);
    this.#mailboxes = new Mailboxes(
      (key, batch) => this.#handle(key, batch),
      (error, batch) => {
        options.onBug(error, "stream");
        const refusal = toForgeError(error);
        for (const pending of batch) pending.request.reject(refusal);
      },
      { batchMax: 64 },
    );
  }

  /** One command, one effect: resolves with its result, also when it was done before; rejects with a ForgeError. */
  execute(request: CommandRequest): Promise<CommandResult> {
    const key = streamKey(request.namespace, request.streamId);
    const queueMax = ENDING.has(request.command.$typeName) ? ENDING_QUEUE_MAX : STREAM_QUEUE_MAX;
    if (this.#mailboxes.depth(key) >= queueMax) {
      return Promise.reject(
        new ForgeError(ErrorCode.RESOURCE_EXHAUSTED, `${queueMax} commands wait for ${request.kind} ${request.streamId}: try again`, { reason: "STREAM_BUSY" }),
      );
    }
    return new Promise((resolve, reject) => this.#mailboxes.post(key, { type: "command", request: { ...request, resolve, reject } }));
  }

  /** The effect of a command that is on record; undefined where it is not. Rejects where its id was used for another request. */
  async recorded(request: CommandRequest): Promise<CommandResult | undefined> {
    const [record] = await this.#options.store.findCommands(request.namespace, request.streamId, [request.commandId]);
    if (record === undefined) return undefined;
    if (!equalBytes(record.digest, request.digest)) throw reused(request);
    return { seq: record.seq, resultType: record.resultType, result: record.result };
  }

  /** Appends pieces of output; they have no effect on state. */
  appendDelta(request: DeltaRequest): Promise<undefined> {
    const key = streamKey(request.namespace, request.streamId);
    if (this.#mailboxes.depth(key) >= STREAM_QUEUE_MAX) {
      return Promise.reject(
        new ForgeError(ErrorCode.RESOURCE_EXHAUSTED, `${STREAM_QUEUE_MAX} appends wait for ${request.kind} ${request.streamId}: try again`, {
          reason: "STREAM_BUSY",
        }),
      );
    }
    return new Promise((resolve, reject) => this.#mailboxes.post(key, { type: "delta", request: { ...request, resolve, reject } }));
  }

  /** The stream as of a head that holds everything acknowledged before the call; undefined where it does not exist. */
  async read(namespace: string, streamId: string, kind: StreamKindName): Promise<Entry | undefined> {
    const key = streamKey(namespace, streamId);
    const cached = this.#cache.get(key);
    if (cached !== undefined && cached.kind === kind) {
      const head = await this.#heads.read(namespace, streamId);
      if (head !== undefined && head.seq === cached.seq) return cached;
    }
    const entry = await this.#load(namespace, streamId, kind);
    if (entry === undefined || entry.kind !== kind) return undefined;
    if ((this.#cache.get(key)?.seq ?? 0) < entry.seq) this.#cache.set(key, entry);
    return entry;
  }

  /** The stream as this replica last saw it; loaded where it is not in memory. */
  async peek(namespace: string, streamId: string, kind: StreamKindName): Promise<Entry | undefined> {
    return this.#cache.get(streamKey(namespace, streamId)) ?? this.read(namespace, streamId, kind);
  }

  /** Another replica has moved the stream: what is cached is behind. */
  forget(namespace: string, streamId: string, seq: number): void {
    const key = streamKey(namespace, streamId);
    const cached = this.#cache.get(key);
    if (cached !== undefined && cached.seq < seq) this.#cache.delete(key);
  }

  forgetAll(): void {
    this.#cache.clear();
  }

  get isBusy(): boolean {
    return this.#mailboxes.isBusy || this.#snapshots.size > 0;
  }

  /** Resolves once no command waits, and the store is asked for nothing any more. */
  async whenIdle(): Promise<void> {
    await this.#mailboxes.whenIdle();
    await Promise.all(this.#snapshots);
  }

  async #load(namespace: string, streamId: string, kind: StreamKindName): Promise<Entry | undefined> {
    const { store, aggregates, formats } = this.#options;
    const loaded = await store.load(namespace, streamId, aggregates[kind].reducerVersion);
    if (loaded === undefined) return undefined;
    try {
      return foldEntry(loaded, aggregates, formats);
    } catch (error) {
      if (error instanceof ForgeError && error.code === ErrorCode.UNSUPPORTED_VERSION) this.#options.onUnreadable(streamId, error);
      if (loaded.snapshot === undefined || error instanceof ForgeError) throw error;
      // A snapshot is disposable: whatever is wrong with it, the events are the truth.
      this.#options.onBug(error, "snapshot");
      const whole = await store.load(namespace, streamId, 0);
      return whole === undefined ? undefined : foldEntry(whole, aggregates, formats);
    }
  }

  async #handle(key: string, batch: readonly Pending[]): Promise<void> {
    let rest = batch;
    while (rest.length > 0) {
      const type = (rest[0] as Pending).type;
      const end = rest.findIndex((pending) => pending.type !== type);
      const group = end === -1 ? rest : rest.slice(0, end);
      rest = end === -1 ? [] : rest.slice(end);
      if (type === "command")
        await this.#commands(
          key,
          group.map((pending) => pending.request as PendingCommand),
        );
      else
        await this.#deltas(
          key,
          group.map((pending) => pending.request as PendingDelta),
        );
    }
  }

  async #commands(key: string, requests: readonly PendingCommand[]): Promise<void> {
    const { unique, repeats } = separateRepeats(requests);
    let waiting = unique;
    let storageFailures = 0;
    for (let attempt = 0; waiting.length > 0; attempt++) {
      const first = waiting[0] as PendingCommand;
      if (attempt >= ATTEMPTS_MAX) {
        const error = new ForgeError(
          ErrorCode.STORAGE_ERROR,
          `${first.kind} ${first.streamId} stayed contended after ${ATTEMPTS_MAX} attempts: try again with the same command id`,
        );
        for (const request of waiting) request.reject(error);
        break;
      }
      try {
        waiting = await this.#attempt(key, waiting, attempt === 0);
      } catch (error) {
        const known = toForgeError(error);
        this.#cache.delete(key);
        if (known.code !== ErrorCode.STORAGE_ERROR && waiting.length > 1) {
          // Whatever one of them could not be decided by must not be the others' end.
          for (const request of waiting) await this.#commands(key, [request]);
          break;
        }
        storageFailures++;
        if (known.code !== ErrorCode.STORAGE_ERROR || storageFailures >= STORAGE_FAILURES_MAX) {
          if (known.code === ErrorCode.INTERNAL) this.#options.onBug(error, `${first.kind} ${first.streamId}`);
          for (const request of waiting) request.reject(known);
          break;
        }
        // The outcome is unknown: the next attempt asks the command records first.
        await pause(backoffMs(storageFailures, 50, 2000));
        waiting = await this.#withoutRecorded(waiting).catch(() => waiting);
      }
    }
    const [{ namespace, streamId }] = requests as [PendingCommand];
    if (storageFailures > 0) this.#options.onUncertainAppend(namespace, streamId);
    for (const { request, original } of repeats) this.#repeat(request, original);
  }

  /** A repeat within one batch gets the first one's answer; with another body it is refused as every reuse is. */
  #repeat(request: PendingCommand, original: PendingCommand): void {
    if (!equalBytes(request.digest, original.digest)) {
      request.reject(reused(request));
      return;
    }
    this.execute(request).then(request.resolve, request.reject);
  }

  /** One round: returns the commands that must be tried again. */
  async #attempt(key: string, requests: readonly PendingCommand[], isFirst: boolean): Promise<readonly PendingCommand[]> {
    const first = requests[0] as PendingCommand;
    const cached = this.#cache.get(key);
    // What is to be created is rarely there: it is not looked for. Where it is there all the same, the append finds a head, or the command's record, and changes nothing.
    const isNew = isFirst && first.creates;
    const loaded = cached ?? (isNew ? undefined : await this.#load(first.namespace, first.streamId, first.kind));
    const before = loaded ?? emptyEntry(first.kind, this.#options.aggregates);
    const strangers = requests.filter((request) => request.kind !== before.kind);
    for (const request of strangers)
      request.reject(new ForgeError(ErrorCode.NOT_FOUND, `${request.kind} ${request.streamId} does not exist: the id names a ${before.kind}`));
    if (strangers.length > 0) return requests.filter((request) => !strangers.includes(request));
    const planned = await plan(before, requests, this.#options);
    // A rejection on what the cache says may be stale: another replica may have moved the stream.
    if (planned.rejected.length > 0 && (cached !== undefined || isNew) && (await this.#moved(first, before))) {
      this.#cache.delete(key);
      return requests;
    }
    if (planned.accepted.length === 0) {
      if (before.seq > 0) this.#cache.set(key, before);
      await this.#refuse(planned.rejected);
      return [];
    }
    const prepared = await buildAppend(first, before, planned, this.#options);
    let outcome: AppendOutcome;
    try {
      outcome = await this.#batcher.submit(prepared.append);
    } catch (error) {
      prepared.release();
      throw error;
    }
    if (outcome.outcome === "ok") {
      this.#cache.set(key, planned.after);
      this.#publish(first, prepared, planned.encoded, planned.after);
      for (const { request, result } of planned.accepted) request.resolve(result);
      this.#snapshotIfDue(key, first, planned.after);
      await this.#refuse(planned.rejected);
      return [];
    }
    // Nothing was appended: what was refused was refused on top of what did not happen, so all of it is decided again.
    prepared.release();
    if (outcome.outcome === "busy") {
      if (before.seq > 0) this.#cache.set(key, before);
      await pause(jitterMs(2, 5));
      return requests;
    }
    this.#cache.delete(key);
    if (outcome.outcome === "conflict") return requests;
    if (outcome.outcome === "seen") return this.#withoutRecorded(requests);
    if (requests.length === 1) {
      if ((await this.#withoutRecorded(requests)).length > 0) first.reject(outcome.outcome === "fenced" ? fenced(first) : refusedData(first, outcome.message));
      return [];
    }
    // One of them is the culprit: each goes alone, in the same order.
    for (const request of requests) await this.#commands(key, [request]);
    return [];
  }

  /** A command that has its record is answered by it, whatever the state now says. */
  async #refuse(rejected: readonly { readonly request: PendingCommand; readonly error: ForgeError }[]): Promise<void> {
    const refused = await this.#withoutRecorded(rejected.map((rejection) => rejection.request));
    for (const { request, error } of rejected) if (refused.includes(request)) request.reject(error);
  }

  async #moved(request: CommandRequest, entry: Entry): Promise<boolean> {
    const head = await this.#heads.read(request.namespace, request.streamId);
    return (head?.seq ?? 0) !== entry.seq;
  }

  /** Answers the commands that have their record already; returns the others. */
  async #withoutRecorded(requests: readonly PendingCommand[]): Promise<readonly PendingCommand[]> {
    const first = requests[0];
    if (first === undefined) return [];
    const records = await this.#options.store.findCommands(
      first.namespace,
      first.streamId,
      requests.map((request) => request.commandId),
    );
    if (records.length === 0) return requests;
    const byId = new Map(records.map((record) => [record.commandId, record]));
    return requests.filter((request) => {
      const record = byId.get(request.commandId);
      if (record === undefined) return true;
      if (equalBytes(record.digest, request.digest)) request.resolve({ seq: record.seq, resultType: record.resultType, result: record.result });
      else request.reject(reused(request));
      return false;
    });
  }

  async #deltas(key: string, requests: readonly PendingDelta[]): Promise<void> {
    try {
      await this.#appendDeltas(key, requests);
    } catch (error) {
      this.#cache.delete(key);
      const known = toForgeError(error);
      for (const request of requests) request.reject(known);
    }
  }

  async #appendDeltas(key: string, requests: readonly PendingDelta[]): Promise<void> {
    const first = requests[0] as PendingDelta;
    for (let attempt = 0; attempt < ATTEMPTS_MAX; attempt++) {
      const before = this.#cache.get(key) ?? (await this.#load(first.namespace, first.streamId, first.kind));
      if (before === undefined) throw new ForgeError(ErrorCode.NOT_FOUND, `${first.kind} ${first.streamId} does not exist`);
      const nowMs = Math.max(this.#options.nowMs(), before.occurredAtMs);
      const append = deltaAppend(before, requests, nowMs);
      const outcome = await this.#batcher.submit(append);
      if (outcome.outcome === "ok") {
        const after: Entry = { ...before, seq: before.seq + append.events.length, occurredAtMs: nowMs };
        this.#cache.set(key, after);
        this.#publish(first, undefined, append.events, after);
        for (const request of requests) request.resolve(undefined);
        return;
      }
      this.#cache.delete(key);
      if (outcome.outcome === "busy") await pause(jitterMs(2, 5));
      if (outcome.outcome === "fenced" || outcome.outcome === "error") {
        if (requests.length === 1) throw outcome.outcome === "fenced" ? fenced(first) : refusedData(first, outcome.message);
        for (const request of requests) await this.#deltas(key, [request]);
        return;
      }
    }
    throw new ForgeError(ErrorCode.STORAGE_ERROR, `output of ${first.kind} ${first.streamId} could not be appended: the stream stayed contended`);
  }

  #publish(
    request: { namespace: string; streamId: string; kind: StreamKindName },
    prepared: PreparedAppend | undefined,
    events: readonly StoredEvent[],
    after: Entry,
  ): void {
    const placed = prepared?.commit();
    this.#options.onAppended({
      namespace: request.namespace,
      streamId: request.streamId,
      kind: request.kind,
      events,
      deltas: prepared === undefined,
      seq: after.seq,
      listed: prepared?.append.listing !== undefined,
      cancelled: placed?.cancelled ?? [],
      unplacedRoutes: placed?.unplacedRoutes ?? [],
      laterRoutes: placed?.laterRoutes ?? [],
      commands: placed?.commands ?? [],
      timerDueAtMs: placed?.timerDueAtMs,
    });
  }

  #snapshotIfDue(key: string, request: CommandRequest, entry: Entry): void {
    if (!isSnapshotDue(entry.sinceSnapshot)) return;
    const bytes = snapshotBytes(entry);
    this.#cache.set(key, { ...entry, sinceSnapshot: { events: 0, bytes: 0, snapshotBytes: bytes.length } });
    const saved = this.#options.store
      .saveSnapshot(request.namespace, request.streamId, entry.stateSeq, entry.aggregate.reducerVersion, bytes)
      // Snapshots are an optimisation: one that could not be written is written by a later one.
      .catch((error: unknown) => this.#options.onBug(error, "snapshot"))
      .finally(() => this.#snapshots.delete(saved));
    this.#snapshots.add(saved);
  }
}

function separateRepeats(requests: readonly PendingCommand[]): {
  unique: readonly PendingCommand[];
  repeats: { request: PendingCommand; original: PendingCommand }[];
} {
  const byId = new Map<string, PendingCommand>();
  const repeats: { request: PendingCommand; original: PendingCommand }[] = [];
  for (const request of requests) {
    const original = byId.get(request.commandId);
    if (original === undefined) byId.set(request.commandId, request);
    else repeats.push({ request, original });
  }
  return { unique: [...byId.values()], repeats };
}

function equalBytes(a: Uint8Array, b: Uint8Array): boolean {
  return a.length === b.length && a.every((byte, index) => byte === b[index]);
}
