export * from "./gen/forge/contract/v1/contract_pb.ts";
