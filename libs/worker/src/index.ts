export type { Outcome, TaskContext, TaskHandler } from "./handler.ts";
export type { ControlPlanePort } from "./port.ts";
export { startWorker, type Worker, type WorkerOptions } from "./worker.ts";
