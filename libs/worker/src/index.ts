export type { Outcome, TaskContext, TaskHandler } from "./handler.ts";
