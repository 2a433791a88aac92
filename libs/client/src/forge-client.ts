import type { Client } from "@forge/protocol";
import type { ArtifactService } from "@forge/protocol/artifact";
import type { ApprovalService, EventService } from "@forge/protocol/event";
import type { SessionService } from "@forge/protocol/session";
import type { TokenService } from "@forge/protocol/token";
import type { WorkerService } from "@forge/protocol/worker";
import type { ScheduleService, WorkflowService } from "@forge/protocol/workflow";
import type { WorkspaceService } from "@forge/protocol/workspace";

/** The one interface of every client, in process or over any wire. Errors are ForgeErrors. */
export interface ForgeClient {
  readonly session: Client<typeof SessionService>;
  readonly workflow: Client<typeof WorkflowService>;
  readonly schedule: Client<typeof ScheduleService>;
  readonly event: Client<typeof EventService>;
  readonly approval: Client<typeof ApprovalService>;
  readonly artifact: Client<typeof ArtifactService>;
  readonly workspace: Client<typeof WorkspaceService>;
  readonly token: Client<typeof TokenService>;
  /** Ends open calls, and refuses new ones, with `cancelled`. */
  close(): Promise<void>;
}

/** A client that may also serve as a worker's port. */
export interface ConnectClient extends ForgeClient {
  readonly worker: Client<typeof WorkerService>;
}
