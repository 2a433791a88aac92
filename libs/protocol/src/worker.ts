export * from "./gen/forge/worker/v1/worker_pb.ts";
