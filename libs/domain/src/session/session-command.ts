import type { RejectCommand, ReportTurnEnd } from "@forge/protocol/engine";
import type { ResolveApprovalRequest, ResolveApprovalResponse } from "@forge/protocol/event";
import type {
  AbandonTurnRequest,
  AbandonTurnResponse,
  CancelTurnRequest,
  CancelTurnResponse,
  CloseSessionRequest,
  CloseSessionResponse,
  CompactSessionRequest,
  CompactSessionResponse,
  ContinueTurnRequest,
  ContinueTurnResponse,
  CreateSessionRequest,
  CreateSessionResponse,
  ForkSessionResponse,
  PauseTurnRequest,
  PauseTurnResponse,
  ProvideInputRequest,
  ProvideInputResponse,
  RewindSessionResponse,
  StartTurnRequest,
  StartTurnResponse,
  SteerTurnRequest,
  SteerTurnResponse,
  UndoChangesResponse,
  UpdateSessionPolicyRequest,
  UpdateSessionPolicyResponse,
} from "@forge/protocol/session";
import type { Recorder } from "../recorder.ts";
import type { TaskCommand } from "../task.ts";
import type { ForkFrom } from "./fork-from.ts";
import type { SessionState } from "./state.ts";
import type { RewindTo, UndoThese } from "./undo-command.ts";

/** Everything that a session may be told, discriminated by `$typeName`. */
export type SessionCommand =
  | CreateSessionRequest
  | ForkFrom
  | UpdateSessionPolicyRequest
  | CompactSessionRequest
  | UndoThese
  | RewindTo
  | StartTurnRequest
  | SteerTurnRequest
  | PauseTurnRequest
  | ContinueTurnRequest
  | ProvideInputRequest
  | CancelTurnRequest
  | AbandonTurnRequest
  | CloseSessionRequest
  | ResolveApprovalRequest
  | TaskCommand
  | ReportTurnEnd
  | RejectCommand;

/** The answer to a client's command, its seq still 0; undefined for the engine's own. */
export type SessionResult =
  | CreateSessionResponse
  | ForkSessionResponse
  | UpdateSessionPolicyResponse
  | CompactSessionResponse
  | UndoChangesResponse
  | RewindSessionResponse
  | StartTurnResponse
  | SteerTurnResponse
  | PauseTurnResponse
  | ContinueTurnResponse
  | ProvideInputResponse
  | CancelTurnResponse
  | AbandonTurnResponse
  | CloseSessionResponse
  | ResolveApprovalResponse
  | undefined;

export type SessionRecorder = Recorder<SessionState>;
