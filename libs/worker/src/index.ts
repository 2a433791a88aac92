export type { Outcome, TaskContext, TaskHandler } from "./handler.ts";
// For whoever writes hooks.
export { type HookChange, hookEdits } from "./hooks/hook-edits.ts";
export { HOOK_POINTS, type HookMessage, type HookPoint, type HookToolCall, type HookView, readHookView } from "./hooks/hook-view.ts";
// For whoever writes handlers.
export { failure, interrupted } from "./outcomes.ts";
export type { ControlPlanePort } from "./port.ts";
export { readArguments } from "./read-arguments.ts";
export { startWorker, type Worker, type WorkerOptions } from "./worker.ts";
