export type { Outcome, TaskContext, TaskHandler } from "./handler.ts";
// For whoever writes handlers.
export { failure, interrupted } from "./outcomes.ts";
export type { ControlPlanePort } from "./port.ts";
export { readArguments } from "./read-arguments.ts";
export { startWorker, type Worker, type WorkerOptions } from "./worker.ts";
