// For programs that serve a file as `forge worker` does.

export { type FileWorker, type FileWorkerOptions, startFileWorker } from "./file-worker.ts";
export type { FileWorkerEvent } from "./file-worker-events.ts";
