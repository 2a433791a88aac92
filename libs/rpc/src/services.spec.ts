import { describe, expect, it } from "vitest";
import { mayCall, SERVICES } from "./services.ts";

/** Every method by who may call it. A method that is added must be put here by somebody who has thought about it. */
const CALLERS: Readonly<Record<string, "client" | "worker" | "both">> = {
  "SessionService.CreateSession": "client",
  "SessionService.StartTurn": "client",
  "SessionService.CancelTurn": "client",
  "SessionService.AbandonTurn": "client",
  "SessionService.SteerTurn": "client",
  "SessionService.PauseTurn": "client",
  "SessionService.ContinueTurn": "client",
  "SessionService.ProvideInput": "client",
  "SessionService.ForkSession": "client",
  "SessionService.UpdateSessionPolicy": "client",
  "SessionService.CompactSession": "client",
  "SessionService.CloseSession": "client",
  "SessionService.GetSessionSnapshot": "client",
  "SessionService.ListSessions": "client",
  "SessionService.ReadConversation": "both",
  "WorkflowService.StartRun": "client",
  "WorkflowService.CancelRun": "client",
  "WorkflowService.GetRun": "client",
  "WorkflowService.ListRuns": "client",
  "EventService.SubscribeEvents": "client",
  "EventService.GetCommandResult": "client",
  "ApprovalService.ResolveApproval": "client",
  "ApprovalService.ListPendingApprovals": "client",
  "ArtifactService.PutArtifact": "both",
  "ArtifactService.GetArtifact": "both",
  "EventService.WatchStreams": "client",
  "WorkspaceService.CreateRevision": "client",
  "WorkspaceService.GetRevision": "client",
  "WorkspaceService.ListRevisions": "client",
  "TokenService.CreateToken": "client",
  "TokenService.ListTokens": "client",
  "TokenService.RevokeToken": "client",
  "WorkerService.Register": "worker",
  "WorkerService.LeaseTasks": "worker",
  "WorkerService.StartTasks": "worker",
  "WorkerService.Heartbeat": "worker",
  "WorkerService.ReportOutput": "worker",
  "WorkerService.SettleTasks": "worker",
  "WorkerService.Drain": "worker",
};

describe("a credential's kind", () => {
  const methods = SERVICES.flatMap(({ service }) =>
    service.methods.map((method) => ({ service: service.name, method: method.name, name: `${service.name}.${method.name}` })),
  );

  it("is decided for every method", () => {
    expect(Object.keys(CALLERS).toSorted()).toEqual(methods.map(({ name }) => name).toSorted());
  });

  it.each(methods)("says who may call $name", ({ service, method, name }) => {
    const allowed = CALLERS[name];
    expect({ client: mayCall("client", service, method), worker: mayCall("worker", service, method) }).toEqual({
      client: allowed !== "worker",
      worker: allowed !== "client",
    });
  });
});
