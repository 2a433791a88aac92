export * from "./gen/forge/engine/v1/engine_pb.ts";
