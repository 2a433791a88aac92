export * from "./gen/forge/workflow/v1/definition_pb.ts";
export * from "./gen/forge/workflow/v1/schedule_pb.ts";
export * from "./gen/forge/workflow/v1/workflow_pb.ts";
