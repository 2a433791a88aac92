import type { StreamKindName } from "@forge/domain";
import type { Role } from "@forge/protocol";
import type { AppendOutcome, StreamAppend } from "./append.ts";
import type { ArchiveStore } from "./archive-store.ts";
import type { DefinitionStore } from "./definition-store.ts";
import type { ReplicaStore } from "./replica-store.ts";
import type { RevisionStore } from "./revision-store.ts";
import type { ScheduleStore } from "./schedule-store.ts";
import type { StoredEvent } from "./stored-event.ts";
import type { TaskStore } from "./task-store.ts";

/** A stream's head and what is needed to fold it. */
export interface LoadedStream {
  readonly kind: StreamKindName;
  /** Deltas included. */
  readonly seq: number;
  /** The newest snapshot of the asked reducer version, if there is one. */
  readonly snapshot: { readonly seq: number; readonly bytes: Uint8Array } | undefined;
  /** Events without deltas after the snapshot, through seq, in order. */
  readonly events: readonly StoredEvent[];
  /** The artifact that holds the events, which are no longer here; undefined: they are. */
  readonly archive?: string;
}

/** A page of events, and what was left out of it. */
export interface EventPage {
  readonly events: readonly StoredEvent[];
  /** The head's seq when the page was read; 0 where the stream does not exist. */
  readonly headSeq: number;
  /** Deltas up to here have been pruned; 0: none. */
  readonly prunedThroughSeq: number;
  /** The artifact that holds the events, which are no longer in the store; its archiving moved the head by one. Undefined: they are. */
  readonly archive?: string;
}

export interface StoredCommand {
  readonly commandId: string;
  readonly digest: Uint8Array;
  readonly seq: number;
  readonly resultType: string;
  readonly result: Uint8Array;
  readonly decidedAtMs: number;
}

export interface ListFilter {
  readonly kind: "session" | "run";
  readonly status?: string;
  readonly subject?: string;
  readonly labels: Readonly<Record<string, string>>;
  /** Inclusive, milliseconds since the epoch. */
  readonly createdFromMs?: number;
  /** Exclusive. */
  readonly createdBeforeMs?: number;
  /** 1 to 500. */
  readonly limit: number;
  /** The last row of the page before: newest first by (createdAtMs, streamId). */
  readonly before?: { readonly createdAtMs: number; readonly streamId: string };
}

export interface ListedStream {
  readonly streamId: string;
  readonly status: string;
  readonly detailStatus: string;
  readonly title: string;
  readonly subject: string;
  readonly version: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly createdAtMs: number;
  readonly updatedAtMs: number;
  readonly archived: boolean;
}

/** A list row, and what kind of stream it is of. */
export interface KindedListing extends ListedStream {
  readonly kind: "session" | "run";
}

export interface PendingApprovalRow {
  readonly streamId: string;
  readonly kind: "session" | "run";
  /** Encoded forge.tool.v1.PendingApproval. */
  readonly approvals: readonly Uint8Array[];
}

/** Who holds a credential, and what it grants. */
export interface StoredPrincipal {
  readonly id: string;
  readonly role: Role;
  /** The first is the default. */
  readonly namespaces: readonly string[];
  /** Of a worker: the queues that it may serve; empty: all. */
  readonly queues: readonly string[];
  /** Milliseconds since the epoch; absent: never. */
  readonly expiresAtMs?: number;
}

/** A principal, and where it comes from. */
export interface GrantedPrincipal extends StoredPrincipal {
  readonly createdAtMs: number;
  /** The principal that granted it. */
  readonly createdBy: string;
}

/** Something moved: hints that may be lost or doubled. Without namespace and stream: some were lost, whatever they were of. */
export interface Wakeup {
  readonly namespace: string;
  readonly streamId: string;
  readonly seq: number;
  /** Routes ("<queue> <capability>") that may have new tasks. */
  readonly routes: readonly string[];
}

/**
 * Streams, archives, commands, tasks, lists, artifacts, definitions, revisions, schedules and principals on one database. Every method may be called concurrently and rejects with a ForgeError
 * (storage_error where the database can't be reached: the outcome of a write is then unknown). What does not exist is undefined or empty, never an error.
 */
export interface Store extends ArchiveStore, DefinitionStore, TaskStore, ReplicaStore, RevisionStore, ScheduleStore {
  /** Appends for many streams in one statement and one commit; at most one per stream; one outcome each, in order. A lost connection rejects: outcome unknown. */
  append(appends: readonly StreamAppend[]): Promise<readonly AppendOutcome[]>;
  /** Consistent as of one database snapshot. */
  load(namespace: string, streamId: string, reducerVersion: number, afterSeq?: number): Promise<LoadedStream | undefined>;
  /** Events with seq in (afterSeq, throughSeq], deltas included when asked, of these kinds only where some are named, at most `limit` (1 to 10,000), in order. */
  readEvents(
    namespace: string,
    streamId: string,
    range: { afterSeq: number; throughSeq?: number; limit: number; deltas: boolean; kinds?: readonly string[] },
  ): Promise<EventPage>;
  /** Head seqs of streams that exist. */
  heads(
    streams: readonly { namespace: string; streamId: string }[],
  ): Promise<readonly { namespace: string; streamId: string; kind: StreamKindName; seq: number }[]>;
  findCommands(namespace: string, streamId: string, commandIds: readonly string[]): Promise<readonly StoredCommand[]>;
  saveSnapshot(namespace: string, streamId: string, seq: number, reducerVersion: number, bytes: Uint8Array): Promise<void>;
  /** Removes deltas up to a seq and remembers how far. Idempotent. */
  pruneDeltas(namespace: string, streamId: string, throughSeq: number): Promise<void>;

  list(namespace: string, filter: ListFilter): Promise<readonly ListedStream[]>;
  /** The rows of these streams as they are now, in no order; at most 500. */
  listed(namespace: string, streamIds: readonly string[]): Promise<readonly KindedListing[]>;
  pendingApprovals(namespace: string, page: { limit: number; afterStreamId?: string; streamId?: string }): Promise<readonly PendingApprovalRow[]>;

  /** Idempotent by content; at most 16 MiB. */
  putArtifact(namespace: string, sha256: string, mediaType: string, content: Uint8Array): Promise<void>;
  /** Rejects with storage_error when the stored bytes do not match the hash. */
  getArtifact(namespace: string, sha256: string): Promise<{ mediaType: string; content: Uint8Array } | undefined>;

  /** Creates or replaces the principal of this id: for whoever starts a server, which grants its own. */
  savePrincipal(principal: StoredPrincipal, tokenHash: Uint8Array): Promise<void>;
  /** Also one that has expired, so that its holder can be told so. */
  findPrincipal(tokenHash: Uint8Array): Promise<StoredPrincipal | undefined>;
  /** Idempotent by content: the same again is the same. Undefined, and nothing done, where another that has not expired has the id or the token. */
  createPrincipal(principal: StoredPrincipal, createdBy: string, tokenHash: Uint8Array): Promise<GrantedPrincipal | undefined>;
  /** Those that have not expired and reach no other namespaces than these, by id; at most limit (1 to 500). */
  listPrincipals(page: { namespaces: readonly string[]; limit: number; afterId?: string }): Promise<readonly GrantedPrincipal[]>;
  /** Whether there was one, reaching no other namespaces than these. */
  removePrincipal(id: string, namespaces: readonly string[]): Promise<boolean>;

  /** Whether any work or command waits or is being done, or a schedule's time is to come, in any namespace. Timers don't count. */
  hasWork(): Promise<boolean>;
  /** Changes when the store may have lost a tail. */
  incarnation(): Promise<string>;
  /** Sends wake-ups to other replicas, from a connection of its own; best effort, coalesced. */
  wake(wakeups: readonly Wakeup[]): void;
  /** Calls back for wake-ups of other replicas until the signal aborts; `onReconnect` whenever some may have been lost. */
  listen(onWakeups: (wakeups: readonly Wakeup[]) => void, onReconnect: () => void, signal: AbortSignal): Promise<void>;
  close(): Promise<void>;
}
