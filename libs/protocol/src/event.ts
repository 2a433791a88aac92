export * from "./gen/forge/event/v1/approval_service_pb.ts";
export * from "./gen/forge/event/v1/event_pb.ts";
export * from "./gen/forge/event/v1/event_service_pb.ts";
export * from "./gen/forge/event/v1/run_events_pb.ts";
export * from "./gen/forge/event/v1/session_events_pb.ts";
