import type { ArtifactRef, Value } from "@forge/protocol/common";
import type { ListChangesRequest, ListChangesResponse, ReadConversationRequest, ReadConversationResponse } from "@forge/protocol/session";
import type { Capability, LeasedTask, OutputDelta, Settlement, Task, TaskStart } from "@forge/protocol/worker";

/** How a task ended, as it is settled. */
export type Outcome = Settlement["outcome"];

/** What a handler is given for one leased task. */
export interface TaskContext {
  readonly lease: LeasedTask;
  /** The task, whole, wherever it was kept. */
  readonly task: Task;
  /** Aborted on cancellation, on a lost lease and at the deadline; `reason` is a ForgeError with code cancelled, worker_lost or deadline_exceeded. */
  readonly signal: AbortSignal;
  /** Records the start and resolves with the go-ahead. Rejects when it was refused: then nothing may happen. */
  start(kind: TaskStart["kind"]): Promise<void>;
  /** Queues a piece of output; coalesced (the first at once, then every 50 ms or 4 KiB), never fails the task. */
  report(kind: OutputDelta["kind"]): void;
  /** Says that the work waits for its turn in this process: its time does not run until `begun`. */
  queued(): void;
  /** Says that the work begins now: its time counts from here. */
  begun(): void;
  /** Says that the work goes on, where it has no output to show for it: what is silent for longer than its step allows is stopped. */
  heartbeat(): void;
  readConversation(request: ReadConversationRequest): Promise<ReadConversationResponse>;
  /** Changes of files of the session that the task is of. */
  listChanges(request: ListChangesRequest): Promise<ListChangesResponse>;
  /** Also after `signal` has aborted, unless the lease was lost: what was changed by then is to be told. */
  putArtifact(content: Uint8Array, mediaType: string): Promise<ArtifactRef>;
  getArtifact(sha256: string): Promise<Uint8Array>;
  /** JSON text as a Value: inline up to 64 KiB, else stored as an artifact. */
  toValue(json: string): Promise<Value>;
  /** The JSON text of a Value. */
  fromValue(value: Value): Promise<string>;
}

/**
 * Serves one capability. `run` resolves only when everything it began has stopped, also after `signal` aborted: then its outcome is `cancelled` when it
 * is known to have stopped, a failure with `unknown: true` when that can't be known. What it throws is settled as a failure.
 */
export interface TaskHandler {
  readonly capability: Capability;
  run(context: TaskContext): Promise<Outcome>;
}
