export * from "./gen/forge/engine/v1/archive_pb.ts";
export * from "./gen/forge/engine/v1/engine_pb.ts";
