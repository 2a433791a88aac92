export * from "./gen/forge/session/v1/conversation_pb.ts";
export * from "./gen/forge/session/v1/session_pb.ts";
