import type { ForkFromRun, GrantConcurrency, RejectCommand, ReportRunEnd, ReportTurnEnd, StartChildRun } from "@forge/protocol/engine";
import type { ResolveApprovalRequest, ResolveApprovalResponse } from "@forge/protocol/event";
import type {
  CancelRunRequest,
  CancelRunResponse,
  ContinueRunRequest,
  ContinueRunResponse,
  ForkRunResponse,
  PauseRunRequest,
  PauseRunResponse,
  ResumeRunRequest,
  ResumeRunResponse,
  SignalRunRequest,
  SignalRunResponse,
  StartRunRequest,
  StartRunResponse,
} from "@forge/protocol/workflow";
import type { TaskCommand } from "../task.ts";

/** Everything that can be asked of a run, told apart by `$typeName`. */
export type RunCommand =
  | StartRunRequest
  | StartChildRun
  | ForkFromRun
  | CancelRunRequest
  | SignalRunRequest
  | PauseRunRequest
  | ContinueRunRequest
  | ResumeRunRequest
  | ResolveApprovalRequest
  | ReportTurnEnd
  | ReportRunEnd
  | GrantConcurrency
  | RejectCommand
  | TaskCommand;

/** What a caller is answered; undefined for the engine's own commands. */
export type RunResult =
  | StartRunResponse
  | ForkRunResponse
  | CancelRunResponse
  | SignalRunResponse
  | PauseRunResponse
  | ContinueRunResponse
  | ResumeRunResponse
  | ResolveApprovalResponse
  | undefined;
