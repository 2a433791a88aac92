import type { Context, Decision, Rejected } from "../decider.ts";
import { Recorder } from "../recorder.ts";
import { advanceTurn } from "./advance-turn.ts";
import { resolveApproval } from "./approval.ts";
import { compactSession } from "./compact-session.ts";
import { evolveSession } from "./evolve.ts";
import { forkSession } from "./fork-session.ts";
import { provideInput } from "./input.ts";
import { continueTurn, pauseTurn } from "./pause-turn.ts";
import type { SessionCommand, SessionRecorder, SessionResult } from "./session-command.ts";
import { closeSession, createSession } from "./session-lifecycle.ts";
import { startTurn } from "./start-turn.ts";
import type { SessionState } from "./state.ts";
import { steerTurn } from "./steer-turn.ts";
import { abandonTurn, cancelTurn } from "./stop-turn.ts";
import { endChild, refuseChild } from "./sub-agents/child-end.ts";
import { applyTaskCommand } from "./task-commands.ts";
import { rewindSession, undoChanges } from "./undo.ts";
import { updateSessionPolicy } from "./update-policy.ts";

/** What a command does to a session: its own effect first, then all that follows from it without anybody outside. */
export function decideSession(state: SessionState, command: SessionCommand, context: Context): Decision<SessionResult> {
  const recorder: SessionRecorder = new Recorder("session", state, evolveSession, context);
  const outcome = apply(recorder, command);
  if (outcome !== undefined && "rejection" in outcome) return outcome;
  advanceTurn(recorder);
  return { events: recorder.events, result: outcome };
}

function apply(recorder: SessionRecorder, command: SessionCommand): SessionResult | Rejected {
  switch (command.$typeName) {
    case "forge.session.v1.CreateSessionRequest":
      return createSession(recorder, command);
    case "session.fork_from":
      return forkSession(recorder, command);
    case "forge.session.v1.UpdateSessionPolicyRequest":
      return updateSessionPolicy(recorder, command);
    case "forge.session.v1.CompactSessionRequest":
      return compactSession(recorder, command);
    case "session.undo_these":
      return undoChanges(recorder, command);
    case "session.rewind_to":
      return rewindSession(recorder, command);
    case "forge.session.v1.SteerTurnRequest":
      return steerTurn(recorder, command);
    case "forge.session.v1.PauseTurnRequest":
      return pauseTurn(recorder, command);
    case "forge.session.v1.ContinueTurnRequest":
      return continueTurn(recorder, command);
    case "forge.session.v1.ProvideInputRequest":
      return provideInput(recorder, command);
    case "forge.session.v1.StartTurnRequest":
      return startTurn(recorder, command);
    case "forge.session.v1.CancelTurnRequest":
      return cancelTurn(recorder, command);
    case "forge.session.v1.AbandonTurnRequest":
      return abandonTurn(recorder, command);
    case "forge.session.v1.CloseSessionRequest":
      return closeSession(recorder);
    case "forge.event.v1.ResolveApprovalRequest":
      return resolveApproval(recorder, command);
    case "task.started":
    case "task.settled":
    case "task.lost":
    case "task.reported_late":
    case "timer.fired":
      return applyTaskCommand(recorder, command);
    case "forge.engine.v1.ReportTurnEnd":
      return endChild(recorder, command);
    case "forge.engine.v1.RejectCommand":
      return refuseChild(recorder, command);
    default:
      return command satisfies never;
  }
}
