import type { DescMethod } from "@bufbuild/protobuf";
import { ArtifactService } from "@forge/protocol/artifact";
import { ApprovalService, EventService } from "@forge/protocol/event";
import { SessionService } from "@forge/protocol/session";
import { TokenService } from "@forge/protocol/token";
import { ScheduleService, WorkflowService } from "@forge/protocol/workflow";
import { WorkspaceService } from "@forge/protocol/workspace";

/** Everything that a client may have; workers speak a protocol of their own. */
export const CLIENT_METHODS: readonly DescMethod[] = [
  SessionService,
  WorkflowService,
  ScheduleService,
  EventService,
  ApprovalService,
  ArtifactService,
  WorkspaceService,
  TokenService,
].flatMap(({ methods }) => methods);
