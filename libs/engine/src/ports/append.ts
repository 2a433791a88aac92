import type { Listing, StreamKindName } from "@forge/domain";
import type { StoredEvent } from "./stored-event.ts";

/** A task's lease as its holder proves it. */
export interface LeaseProof {
  readonly streamId: string;
  readonly key: string;
  readonly epoch: number;
  /** 16 random bytes. */
  readonly token: Uint8Array;
  /** Of a worker: the session that must hold the lease, so that a token is no use to another. */
  readonly owner?: string;
}

/** A lease that a new task is born with. */
export interface BornLease {
  /** The worker session, or the replica for its own tasks. */
  readonly owner: string;
  readonly token: Uint8Array;
  readonly ttlMs: number;
}

export interface NewTask {
  readonly key: string;
  readonly kind: "work" | "timer" | "command";
  /** "<queue> <capability>" for work, "timer" or "command" for the control plane's own. */
  readonly route: string;
  /** Milliseconds since the epoch; 0: now, by the database's clock. */
  readonly dueAtMs: number;
  readonly needsStart: boolean;
  readonly idempotent: boolean;
  /** Asked to stop before it was ever given out: never leased as work, only to be settled. */
  readonly cancelRequested: boolean;
  /** Encoded forge.engine.v1.TaskRecord, at most 16 KiB (larger ones point to an artifact). */
  readonly bytes: Uint8Array;
  /** Epoch 1 where present, else the task waits unleased with epoch 0. */
  readonly lease: BornLease | undefined;
}

/** All that one stream appends in one batch. The store does all of it or nothing. */
export interface StreamAppend {
  readonly namespace: string;
  readonly streamId: string;
  readonly kind: StreamKindName;
  /** The head's seq that was decided on; 0 creates the stream. */
  readonly expectedSeq: number;
  /** Contiguous from expectedSeq + 1; at least one. */
  readonly events: readonly StoredEvent[];
  /** Where true the events go to the delta table, and commands, tasks and listing must be empty; `requires` may prove leases. */
  readonly deltas: boolean;
  readonly commands: readonly {
    readonly commandId: string;
    readonly digest: Uint8Array;
    readonly seq: number;
    readonly resultType: string;
    readonly result: Uint8Array;
  }[];
  /** Leases that must hold (epoch and token; same stream or another); else the outcome is fenced. */
  readonly requires: readonly LeaseProof[];
  /** Tasks that are removed; those of other streams are commands delivered here. Each should be among `requires`: one that is not is removed unproven. */
  readonly settles: readonly { readonly streamId: string; readonly key: string }[];
  /** Tasks of this stream, among `requires`, that are marked started. */
  readonly starts: readonly string[];
  readonly addTasks: readonly NewTask[];
  /** Tasks of this stream removed whoever holds them. */
  readonly removeTasks: readonly string[];
  /** Tasks of this stream marked cancel requested. */
  readonly cancelTasks: readonly string[];
  /** The list row, when it changed. */
  readonly listing: Listing | undefined;
  /** Hashes of artifacts that the events refer to. */
  readonly artifacts: readonly string[];
}

export type AppendOutcome =
  | { readonly outcome: "ok" }
  /** A command of it has its record already; nothing of it was done. */
  | { readonly outcome: "seen" }
  /** The head has moved to seq (0: the stream does not exist). */
  | { readonly outcome: "conflict"; readonly seq: number }
  /** A required lease no longer holds; nothing was done. */
  | { readonly outcome: "fenced" }
  /** A row was locked by somebody else; try again after 2 to 5 ms of jitter. */
  | { readonly outcome: "busy" }
  /** Its own data was refused (SQLSTATE class 22 or 23). */
  | { readonly outcome: "error"; readonly message: string };
