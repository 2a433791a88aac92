export * from "./gen/forge/common/v1/common_pb.ts";
