export * from "./gen/forge/workspace/v1/workspace_pb.ts";
