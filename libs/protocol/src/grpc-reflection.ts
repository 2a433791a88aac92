export * from "./gen/grpc/reflection/v1/reflection_pb.ts";
