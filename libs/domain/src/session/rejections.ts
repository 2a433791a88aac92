import { ForgeError } from "@forge/protocol";
import { ErrorCode } from "@forge/protocol/common";
import type { Rejected } from "../decider.ts";
import type { SessionState } from "./state.ts";

/** The reasons for which a session says no, each in one place. */

export function invalid(field: string, message: string): Rejected {
  return { rejection: ForgeError.validation(field, message, { origin: "control-plane" }).detail };
}

export function notFound(reason: string, message: string, ...relatedIds: string[]): Rejected {
  return { rejection: new ForgeError(ErrorCode.NOT_FOUND, message, { reason, origin: "control-plane", relatedIds }).detail };
}

export function conflict(reason: string, message: string, relatedIds: string[], metadata: { [key: string]: string } = {}): Rejected {
  return { rejection: new ForgeError(ErrorCode.CONFLICT, message, { reason, origin: "control-plane", relatedIds, metadata }).detail };
}

export function sessionMissing(sessionId: string): Rejected {
  return notFound("SESSION_NOT_FOUND", `There is no session ${sessionId}. Check the id with ListSessions.`, sessionId);
}

export function sessionExists(sessionId: string): Rejected {
  return conflict("SESSION_EXISTS", `Session ${sessionId} exists already.`, [sessionId]);
}

export function sessionClosed(sessionId: string): Rejected {
  return conflict("SESSION_CLOSED", `Session ${sessionId} is closed. Create another session.`, [sessionId]);
}

export function turnActive(sessionId: string, turnId: string): Rejected {
  return conflict("TURN_ACTIVE", `Turn ${turnId} of session ${sessionId} is still active. Wait for its end or cancel it.`, [sessionId, turnId]);
}

/** Files are being taken back, or a summary is being written: what would change what they work on has to wait. Undefined where neither is. */
export function sessionBusy(state: Pick<SessionState, "sessionId" | "undo" | "compacting">): Rejected | undefined {
  if (state.undo !== undefined) {
    const { undoId } = state.undo;
    return conflict("SESSION_BUSY", `Undo ${undoId} of session ${state.sessionId} is under way. Wait for its end.`, [state.sessionId, undoId]);
  }
  if (state.compacting === undefined) return undefined;
  const { compactionId } = state.compacting;
  return conflict("SESSION_BUSY", `Compaction ${compactionId} of session ${state.sessionId} is under way. Wait for its end.`, [state.sessionId, compactionId]);
}

export function turnNotActive(sessionId: string, turnId: string): Rejected {
  return conflict("TURN_NOT_ACTIVE", `Turn ${turnId} is not the active turn of session ${sessionId}; nothing was done.`, [sessionId, turnId]);
}

export function turnCancelling(sessionId: string, turnId: string): Rejected {
  return conflict("TURN_CANCELLING", `Turn ${turnId} of session ${sessionId} was asked to stop. Wait for its end and start another one.`, [sessionId, turnId]);
}

export function tooManySteers(turnId: string): Rejected {
  const message = `Too many messages of turn ${turnId} wait for the agent's hooks. Try again once they have passed.`;
  const options = { reason: "STEERS_WAIT", origin: "control-plane", relatedIds: [turnId], retryable: true };
  return { rejection: new ForgeError(ErrorCode.RESOURCE_EXHAUSTED, message, options).detail };
}

export function taskNotOpen(key: string): Rejected {
  return conflict("TASK_NOT_OPEN", `Task ${key} has ended or was given out anew; nothing was changed.`, [], { key });
}
