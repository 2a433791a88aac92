export * from "./gen/forge/artifact/v1/artifact_pb.ts";
