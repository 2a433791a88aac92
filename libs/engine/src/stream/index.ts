export type { Aggregate, Aggregates, Command } from "./aggregate.ts";
export { EVENT_FORMATS } from "./event-formats.ts";
export { deriveId, sha256 } from "./identity.ts";
export type { CommandRequest } from "./request.ts";
export { StreamEngine, type StreamEngineOptions } from "./stream-engine.ts";
