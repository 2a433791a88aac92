import { fromBinary } from "@bufbuild/protobuf";
import type { Placement, Reservation } from "@forge/core";
import type { Listing } from "@forge/domain";
import { TaskRecordSchema } from "@forge/protocol/engine";
import type { LeaseProof, NewTask, Store, StoredTask, StreamAppend } from "../ports/index.ts";
import { artifactsOf } from "./artifacts-of.ts";
import type { Entry } from "./entry.ts";
import { newLeaseToken } from "./identity.ts";
import { findTask } from "./outstanding.ts";
import type { Plan, PlanPorts } from "./plan.ts";
import type { CommandRequest } from "./request.ts";
import { prepareCommand, prepareTask, taskChanges } from "./task-changes.ts";

export interface AppendPorts extends PlanPorts {
  readonly store: Store;
  readonly placement: Placement<StoredTask>;
  /** This replica's own owner name, for commands to other streams. */
  readonly replica: string;
  readonly leaseTtlMs: number;
}

/** What came of an append's tasks once it was committed. */
export interface Placed {
  /** Tasks that are asked to stop. */
  readonly cancelled: readonly string[];
  readonly unplacedRoutes: readonly string[];
  readonly laterRoutes: readonly { readonly route: string; readonly dueAtMs: number }[];
  readonly commands: readonly StoredTask[];
  readonly timerDueAtMs: number | undefined;
}

/** An append, and the slots that were taken for the tasks in it. */
export interface PreparedAppend {
  readonly append: StreamAppend;
  /** Hands the tasks to the workers whose slots they took. */
  commit(): Placed;
  /** Gives the slots back. */
  release(): void;
}

interface Born {
  readonly reservation: Reservation;
  readonly task: StoredTask;
}

function sameListing(a: Listing | undefined, b: Listing | undefined): boolean {
  if (a === undefined || b === undefined) return a === b;
  return (
    a.status === b.status &&
    a.detailStatus === b.detailStatus &&
    a.title === b.title &&
    a.subject === b.subject &&
    a.version === b.version &&
    a.labels === b.labels &&
    sameApprovals(a.approvals, b.approvals)
  );
}

function sameApprovals(a: Listing["approvals"], b: Listing["approvals"]): boolean {
  return a === b || (a.length === b.length && a.every((bytes, index) => Buffer.compare(bytes, b[index] as Uint8Array) === 0));
}

/** Turns a plan into an append: task rows, born leased where a worker has room, proofs, listing. Stores what is too large for a row beforehand. */
export async function buildAppend<R extends CommandRequest>(
  request: CommandRequest,
  before: Entry,
  planned: Plan<R>,
  ports: AppendPorts,
): Promise<PreparedAppend> {
  const { namespace, streamId, kind } = request;
  const { after } = planned;
  const changes = taskChanges(before.outstanding, after.outstanding);
  const requires = planned.accepted.flatMap((accepted) => accepted.request.proofs);
  const proven = new Set(requires.filter((proof) => proof.streamId === streamId).map((proof) => proof.key));
  const removed = new Set(changes.remove);
  const rows: NewTask[] = [];
  const born: Born[] = [];
  const commands: StoredTask[] = [];
  const bornCancelled: string[] = [];
  const unplaced = new Set<string>();
  const later: { route: string; dueAtMs: number }[] = [];
  let timerDueAtMs: number | undefined;

  const prepared = changes.add.map(prepareTask);
  for (const { artifact } of prepared) {
    if (artifact !== undefined) await ports.store.putArtifact(namespace, artifact.sha256, "application/x-protobuf", artifact.content);
  }
  const nowMs = ports.nowMs();
  const stored = (row: NewTask, owner: string, token: Uint8Array): StoredTask => ({
    namespace,
    streamId,
    streamKind: kind,
    key: row.key,
    kind: row.kind,
    route: row.route,
    epoch: 1,
    owner,
    token,
    leaseUntilMs: nowMs + ports.leaseTtlMs,
    dueAtMs: row.dueAtMs,
    started: false,
    cancelRequested: row.cancelRequested,
    needsStart: row.needsStart,
    idempotent: row.idempotent,
    bytes: row.bytes,
  });
  for (const { row } of prepared) {
    if (row.kind === "timer") timerDueAtMs = Math.min(timerDueAtMs ?? Number.POSITIVE_INFINITY, row.dueAtMs);
    if (row.cancelRequested) {
      rows.push(row);
      bornCancelled.push(row.key);
      continue;
    }
    const reservation = row.kind === "work" && row.dueAtMs <= nowMs ? ports.placement.reserve(namespace, row.route) : undefined;
    if (reservation === undefined) {
      if (row.kind === "work" && row.dueAtMs > nowMs) later.push({ route: row.route, dueAtMs: row.dueAtMs });
      else if (row.kind === "work") unplaced.add(row.route);
      rows.push(row);
      continue;
    }
    const token = newLeaseToken();
    rows.push({ ...row, lease: { owner: reservation.owner, token, ttlMs: ports.leaseTtlMs } });
    born.push({ reservation, task: stored(row, reservation.owner, token) });
  }
  for (const outgoing of planned.outgoing) {
    const token = newLeaseToken();
    const row = { ...prepareCommand(outgoing.key, outgoing.command), lease: { owner: ports.replica, token, ttlMs: ports.leaseTtlMs } };
    rows.push(row);
    commands.push(stored(row, ports.replica, token));
  }

  const append: StreamAppend = {
    namespace,
    streamId,
    kind,
    expectedSeq: before.seq,
    events: planned.encoded,
    deltas: false,
    commands: planned.accepted.map(({ request: accepted, result }) => ({
      commandId: accepted.commandId,
      digest: accepted.digest,
      seq: result.seq,
      resultType: result.resultType,
      result: result.result,
    })),
    requires,
    settles: requires.filter((proof) => settled(proof, streamId, removed)).map((proof) => ({ streamId: proof.streamId, key: proof.key })),
    starts: [...proven].filter((key) => findTask(after.outstanding, key) !== undefined),
    addTasks: rows,
    removeTasks: changes.remove.filter((key) => !proven.has(key)),
    cancelTasks: changes.cancel,
    listing: sameListing(before.listing, after.listing) ? undefined : after.listing,
    artifacts: artifactsOf(planned.events),
  };
  return {
    append,
    commit: () => {
      for (const { reservation, task } of born) ports.placement.deliver(reservation, task);
      return { cancelled: [...changes.cancel, ...bornCancelled], unplacedRoutes: [...unplaced], laterRoutes: later, commands, timerDueAtMs };
    },
    release: () => {
      for (const { reservation } of born) ports.placement.release(reservation);
    },
  };
}

/** A proof of another stream's task is a delivered command; of this stream's, it leaves when the state wants it no longer. */
function settled(proof: LeaseProof, streamId: string, removed: ReadonlySet<string>): boolean {
  return proof.streamId !== streamId || removed.has(proof.key) || proof.key.startsWith("command:");
}

/** The record in a task row. */
export function taskRecord(task: StoredTask) {
  return fromBinary(TaskRecordSchema, task.bytes);
}
