import type { DescService } from "@bufbuild/protobuf";
import type { Api } from "@forge/protocol";
import { ArtifactService } from "@forge/protocol/artifact";
import { ApprovalService, EventService } from "@forge/protocol/event";
import { SessionService } from "@forge/protocol/session";
import { TokenService } from "@forge/protocol/token";
import { WorkerService } from "@forge/protocol/worker";
import { ScheduleService, WorkflowService } from "@forge/protocol/workflow";
import { WorkspaceService } from "@forge/protocol/workspace";

/** What is served: every service of the control plane as plain functions. */
export interface ServedApis {
  readonly session: Api<typeof SessionService>;
  readonly workflow: Api<typeof WorkflowService>;
  readonly schedule: Api<typeof ScheduleService>;
  readonly event: Api<typeof EventService>;
  readonly approval: Api<typeof ApprovalService>;
  readonly artifact: Api<typeof ArtifactService>;
  readonly workspace: Api<typeof WorkspaceService>;
  readonly token: Api<typeof TokenService>;
  readonly worker: Api<typeof WorkerService>;
}

export interface ServedService {
  readonly service: DescService;
  readonly api: keyof ServedApis;
}

export const SERVICES: readonly ServedService[] = [
  { service: SessionService, api: "session" },
  { service: WorkflowService, api: "workflow" },
  { service: ScheduleService, api: "schedule" },
  { service: EventService, api: "event" },
  { service: ApprovalService, api: "approval" },
  { service: ArtifactService, api: "artifact" },
  { service: WorkspaceService, api: "workspace" },
  { service: TokenService, api: "token" },
  { service: WorkerService, api: "worker" },
];
