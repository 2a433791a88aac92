export * from "./gen/forge/token/v1/token_pb.ts";
