import type { StreamKindName } from "@forge/domain";
import type { NewTask } from "./append.ts";

/** A task row. */
export interface StoredTask {
  readonly namespace: string;
  readonly streamId: string;
  readonly streamKind: StreamKindName;
  readonly key: string;
  readonly kind: "work" | "timer" | "command";
  readonly route: string;
  readonly epoch: number;
  readonly owner: string | undefined;
  readonly token: Uint8Array | undefined;
  readonly leaseUntilMs: number | undefined;
  readonly dueAtMs: number;
  readonly started: boolean;
  readonly cancelRequested: boolean;
  readonly needsStart: boolean;
  readonly idempotent: boolean;
  /** Encoded forge.engine.v1.TaskRecord. */
  readonly bytes: Uint8Array;
}

export interface TaskId {
  readonly namespace: string;
  readonly streamId: string;
  readonly key: string;
}

/** A worker session says that it lives, and what it holds. */
export interface Heartbeat {
  readonly sessionId: string;
  readonly held: readonly (TaskId & { readonly epoch: number })[];
}

export interface HeartbeatAnswer {
  /** False: the session has ended. */
  readonly known: boolean;
  /** Of what it holds: asked to stop, and no longer its own. */
  readonly cancelled: readonly TaskId[];
  readonly lost: readonly TaskId[];
}

export interface StoredWorker {
  readonly sessionId: string;
  readonly namespace: string;
  readonly name: string;
  readonly principal: string;
  readonly queues: readonly string[];
  /** Encoded forge.worker.v1.Capability messages. */
  readonly capabilities: readonly Uint8Array[];
  readonly slots: number;
  readonly draining: boolean;
}

/** Leases and workers. Times are the database's clock. */
export interface TaskStore {
  /** Leases due, unowned tasks of the routes, oldest due first per route, at most limit; never waits for a lock. Each lease gets epoch + 1 and a fresh token. */
  leaseTasks(request: {
    namespace: string;
    routes: readonly string[];
    owner: string;
    ttlMs: number;
    limit: number;
    /** Streams whose tasks are left to others. */
    except?: readonly string[];
  }): Promise<readonly StoredTask[]>;
  /** Routes in which due work waits that nobody holds, at most limit. */
  waitingRoutes(limit: number): Promise<readonly { namespace: string; route: string }[]>;
  /** As leaseTasks for the control plane's own timers and commands of every namespace; commands in order of their key within a source and target stream. */
  leaseInternal(request: {
    kind: "timer" | "command";
    owner: string;
    ttlMs: number;
    limit: number;
    except?: readonly string[];
  }): Promise<{ tasks: readonly StoredTask[]; nextDueInMs: number | undefined }>;
  /**
   * Of worker sessions: extends what they hold and name; unowns what they hold and do not name (unstarted, with its routes) or returns it as abandoned
   * (started). The answers are in the order of the heartbeats.
   */
  heartbeat(
    beats: readonly Heartbeat[],
    ttlMs: number,
  ): Promise<{
    answers: readonly HeartbeatAnswer[];
    abandoned: readonly StoredTask[];
    routes: readonly { namespace: string; route: string }[];
  }>;
  /** Unowns the unstarted tasks of these owners at once and returns their started ones, whose fate the streams must decide. Routes that got tasks back are returned. */
  releaseOwners(owners: readonly string[]): Promise<{ started: readonly StoredTask[]; routes: readonly { namespace: string; route: string }[] }>;
  /** The same for leases whose time has passed, at most limit. */
  expireLeases(limit: number, except?: readonly string[]): Promise<{ started: readonly StoredTask[]; routes: readonly { namespace: string; route: string }[] }>;
  /** Unleased tasks that are asked to stop; leased to the owner so that it can settle them. */
  leaseCancelled(request: { owner: string; ttlMs: number; limit: number; streamId?: string; except?: readonly string[] }): Promise<readonly StoredTask[]>;
  /** Gives leases back that were just given and that nothing was done with: the tasks are unowned again. */
  unlease(tasks: readonly StoredTask[]): Promise<void>;
  /**
   * The task that a live worker of this principal holds under this lease, and whether its stream refers to an artifact; undefined where it does not hold it (any
   * more). A lease whose time has passed holds until it is taken away.
   */
  leasedTask(
    lease: TaskId & { readonly epoch: number; readonly token: Uint8Array; readonly principal: string },
    sha256?: string,
  ): Promise<{ readonly bytes: Uint8Array; readonly refersTo: boolean } | undefined>;
  /** All tasks of a stream. */
  tasksOf(namespace: string, streamId: string): Promise<readonly StoredTask[]>;
  /** Makes a stream's work tasks equal to what its state wants (recovery); only when the head is still at seq. */
  repairTasks(
    namespace: string,
    streamId: string,
    seq: number,
    change: { add: readonly NewTask[]; remove: readonly string[]; cancel: readonly string[] },
  ): Promise<boolean>;
  /** Streams with a status that is not final, page by page, for recovery. */
  openStreams(
    after: { namespace: string; streamId: string } | undefined,
    limit: number,
  ): Promise<readonly { namespace: string; streamId: string; kind: "session" | "run" }[]>;

  /** Joins; other sessions of the same namespace, name and principal are removed and returned. Undefined, and nothing done, where another principal's live worker has the name. */
  saveWorker(worker: StoredWorker, ttlMs: number): Promise<{ replaced: readonly string[] } | undefined>;
  /** Workers whose heartbeat is not older than their ttl. */
  liveWorkers(namespace: string): Promise<readonly StoredWorker[]>;
  drainWorker(sessionId: string): Promise<boolean>;
  /** Workers whose ttl has passed are removed and returned. */
  removeDeadWorkers(): Promise<readonly string[]>;
}
