import { ForgeError } from "@forge/protocol";
import { ErrorCode } from "@forge/protocol/common";
import type { Rejected } from "../decider.ts";

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

export function turnNotActive(sessionId: string, turnId: string): Rejected {
  return conflict("TURN_NOT_ACTIVE", `Turn ${turnId} is not the active turn of session ${sessionId}; nothing was done.`, [sessionId, turnId]);
}

export function turnCancelling(sessionId: string, turnId: string): Rejected {
  return conflict("TURN_CANCELLING", `Turn ${turnId} of session ${sessionId} was asked to stop. Wait for its end and start another one.`, [sessionId, turnId]);
}

export function taskNotOpen(key: string): Rejected {
  return conflict("TASK_NOT_OPEN", `Task ${key} has ended or was given out anew; nothing was changed.`, [], { key });
}
