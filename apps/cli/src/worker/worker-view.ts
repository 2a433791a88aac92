import type { FileWorkerEvent } from "@forge/sdk/file-worker";

/** What `forge worker` says while it serves. */
export interface WorkerView {
  /** Before the first event. */
  onStart(worker: WorkerStart): void;
  onEvent(event: FileWorkerEvent): void;
  /** The project's server is another one now. */
  onMoved(url: string): void;
  onProblem(error: unknown): void;
  /** Its end was asked for. */
  onEnd(): void;
  /** Another worker has joined under its name. */
  onReplaced(name: string): void;
}

/** What a worker is started with, as far as it is shown. */
export interface WorkerStart {
  readonly name: string;
  readonly queues: readonly string[];
  readonly url: string;
  readonly reload: boolean;
}
