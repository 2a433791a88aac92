import type { DescMethod } from "@bufbuild/protobuf";
import { ForgeError, type Role } from "@forge/protocol";
import { ErrorCode } from "@forge/protocol/common";

const READ: readonly Role[] = ["viewer", "operator", "approver", "admin"];
const COMMAND: readonly Role[] = ["operator", "admin"];
const APPROVE: readonly Role[] = ["approver", "admin"];
const ADMINISTER: readonly Role[] = ["admin"];
const WORK: readonly Role[] = ["worker"];

/** Which roles may call a method, by service and method; nobody may call what is missing here. A worker's reads need its lease as well. */
const CALLERS: Readonly<Record<string, readonly Role[]>> = {
  "SessionService.CreateSession": COMMAND,
  "SessionService.StartTurn": COMMAND,
  "SessionService.CancelTurn": COMMAND,
  "SessionService.AbandonTurn": COMMAND,
  "SessionService.SteerTurn": COMMAND,
  "SessionService.PauseTurn": COMMAND,
  "SessionService.ContinueTurn": COMMAND,
  "SessionService.ProvideInput": COMMAND,
  "SessionService.ForkSession": COMMAND,
  "SessionService.UpdateSessionPolicy": COMMAND,
  "SessionService.CompactSession": COMMAND,
  "SessionService.UndoChanges": COMMAND,
  "SessionService.RewindSession": COMMAND,
  "SessionService.ListChanges": [...READ, ...WORK],
  "SessionService.CloseSession": COMMAND,
  "SessionService.GetSessionSnapshot": READ,
  "SessionService.ListSessions": READ,
  "SessionService.ReadConversation": [...READ, ...WORK],
  "WorkflowService.StartRun": COMMAND,
  "WorkflowService.CancelRun": COMMAND,
  "WorkflowService.SignalRun": COMMAND,
  "WorkflowService.PauseRun": COMMAND,
  "WorkflowService.ContinueRun": COMMAND,
  "WorkflowService.ResumeRun": COMMAND,
  "WorkflowService.ForkRun": COMMAND,
  "WorkflowService.ReplayRun": READ,
  "WorkflowService.GetRun": READ,
  "WorkflowService.ListRuns": READ,
  "WorkflowService.ArchiveRuns": ADMINISTER,
  "WorkflowService.RegisterDefinition": COMMAND,
  "WorkflowService.GetDefinition": READ,
  "WorkflowService.ListDefinitions": READ,
  "ScheduleService.PutSchedule": COMMAND,
  "ScheduleService.PauseSchedule": COMMAND,
  "ScheduleService.ContinueSchedule": COMMAND,
  "ScheduleService.DeleteSchedule": COMMAND,
  "ScheduleService.TriggerSchedule": COMMAND,
  "ScheduleService.GetSchedule": READ,
  "ScheduleService.ListSchedules": READ,
  "ScheduleService.ListScheduleTimes": READ,
  "EventService.SubscribeEvents": READ,
  "EventService.WatchStreams": READ,
  "EventService.GetCommandResult": READ,
  "ApprovalService.ResolveApproval": APPROVE,
  "ApprovalService.ListPendingApprovals": READ,
  "ArtifactService.PutArtifact": [...COMMAND, ...WORK],
  "ArtifactService.GetArtifact": [...READ, ...WORK],
  "WorkspaceService.CreateRevision": COMMAND,
  "WorkspaceService.GetRevision": READ,
  "WorkspaceService.ListRevisions": READ,
  "TokenService.CreateToken": ADMINISTER,
  "TokenService.ListTokens": ADMINISTER,
  "TokenService.RevokeToken": ADMINISTER,
  "WorkerService.Register": WORK,
  "WorkerService.LeaseTasks": WORK,
  "WorkerService.StartTasks": WORK,
  "WorkerService.Heartbeat": WORK,
  "WorkerService.ReportOutput": WORK,
  "WorkerService.SettleTasks": WORK,
  "WorkerService.Drain": WORK,
};

/** The roles that may call a method; none for one that nobody has decided about. */
export function callersOf(service: string, method: string): readonly Role[] {
  return CALLERS[`${service}.${method}`] ?? [];
}

/** Errors: permission_denied, ROLE_REQUIRED, which names the roles that may. */
export function checkRole(role: Role, method: DescMethod): void {
  const service = method.parent.name;
  const allowed = callersOf(service, method.name);
  if (allowed.includes(role)) return;
  const needed = allowed.length === 0 ? "a role that does not exist here" : `the role ${allowed.join(" or ")}`;
  throw new ForgeError(ErrorCode.PERMISSION_DENIED, `${service}.${method.name} needs ${needed}; this credential's role is ${role}`, {
    reason: "ROLE_REQUIRED",
    metadata: { role, roles: allowed.join(",") },
  });
}
