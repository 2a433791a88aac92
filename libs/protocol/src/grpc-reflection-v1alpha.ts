export * from "./gen/grpc/reflection/v1alpha/reflection_pb.ts";
