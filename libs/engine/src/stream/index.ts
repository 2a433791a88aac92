export type { Aggregate, Aggregates, Command } from "./aggregate.ts";
export { deriveId, sha256 } from "./identity.ts";
export type { CommandRequest } from "./request.ts";
export { StreamEngine, type StreamEngineOptions } from "./stream-engine.ts";
