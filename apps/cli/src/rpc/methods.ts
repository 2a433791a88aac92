import type { DescMethod, DescService } from "@bufbuild/protobuf";
import type { ForgeClient } from "@forge/client";
import { ArtifactService } from "@forge/protocol/artifact";
import { ApprovalService, EventService } from "@forge/protocol/event";
import { SessionService } from "@forge/protocol/session";
import { TokenService } from "@forge/protocol/token";
import { ScheduleService, WorkflowService } from "@forge/protocol/workflow";
import { WorkspaceService } from "@forge/protocol/workspace";

/** A method that may be called, and the service of a client that it belongs to. */
export interface RpcMethod {
  readonly service: Exclude<keyof ForgeClient, "close">;
  readonly method: DescMethod;
}

const SERVICES: readonly (readonly [RpcMethod["service"], DescService])[] = [
  ["session", SessionService],
  ["workflow", WorkflowService],
  ["schedule", ScheduleService],
  ["event", EventService],
  ["approval", ApprovalService],
  ["artifact", ArtifactService],
  ["workspace", WorkspaceService],
  ["token", TokenService],
];

const METHODS: ReadonlyMap<string, RpcMethod> = new Map(
  SERVICES.flatMap(([service, { name, methods }]) => methods.map((method) => [`${name}.${method.name}`, { service, method }] as const)),
);

/** By service and method, as SessionService.StartTurn. */
export function findMethod(name: string): RpcMethod | undefined {
  return METHODS.get(name);
}
