import type { DescMethod, DescService } from "@bufbuild/protobuf";
import type { ConnectClient } from "@forge/client";
import { ArtifactService } from "@forge/protocol/artifact";
import { ApprovalService, EventService } from "@forge/protocol/event";
import { SessionService } from "@forge/protocol/session";
import { TokenService } from "@forge/protocol/token";
import { WorkerService } from "@forge/protocol/worker";
import { ScheduleService, WorkflowService } from "@forge/protocol/workflow";
import { WorkspaceService } from "@forge/protocol/workspace";

/** What each property of a client is bound to. */
const SERVICES: Readonly<Record<Exclude<keyof ConnectClient, "close">, DescService>> = {
  session: SessionService,
  workflow: WorkflowService,
  schedule: ScheduleService,
  event: EventService,
  approval: ApprovalService,
  artifact: ArtifactService,
  workspace: WorkspaceService,
  token: TokenService,
  worker: WorkerService,
};

/** A method, and the property of a client that has it. */
export interface Found {
  readonly property: string;
  readonly method: DescMethod;
}

/** Every method of a client by its full name; of one of `forge rpc`, which has a person's credential, without those of workers. */
export function methodsOf(implementation: string): ReadonlyMap<string, Found> {
  const services = Object.entries(SERVICES).filter(([property]) => property !== "worker" || implementation !== "json-lines");
  const methods = services.flatMap(([property, { typeName, methods: all }]) =>
    all.map((method) => [`${typeName}/${method.name}`, { property, method }] as const),
  );
  return new Map(methods);
}
