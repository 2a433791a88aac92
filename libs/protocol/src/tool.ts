export * from "./gen/forge/tool/v1/tool_pb.ts";
