import { ForgeError } from "@forge/protocol";
import { ErrorCode } from "@forge/protocol/common";
import type { CommandRequest } from "./request.ts";

/** A required lease no longer holds. */
export function fenced(request: { kind: string; streamId: string }): ForgeError {
  return new ForgeError(
    ErrorCode.CONFLICT,
    `the lease is no longer held: the task of ${request.kind} ${request.streamId} was settled, cancelled or given to another worker`,
    {
      reason: "LEASE_LOST",
      relatedIds: [request.streamId],
    },
  );
}

/** The stream's events are in an archive. */
export function archived(request: { kind: string; streamId: string }): ForgeError {
  return new ForgeError(
    ErrorCode.CONFLICT,
    `${request.kind} ${request.streamId} has been archived: it can be read, and changed no more; fork it to go on from one of its steps`,
    { reason: "RUN_ARCHIVED", origin: "control-plane", relatedIds: [request.streamId] },
  );
}

/** The database can't keep what the command says. */
export function refusedData(request: { kind: string; streamId: string }, message: string): ForgeError {
  return new ForgeError(ErrorCode.VALIDATION, `the database refused the data of this command to ${request.kind} ${request.streamId}: ${message}`, {
    reason: "STORAGE_VALIDATION",
  });
}

/** The command id has its record, with another request. */
export function reused(request: CommandRequest): ForgeError {
  return new ForgeError(
    ErrorCode.CONFLICT,
    `command id ${request.commandId} was used for another request to ${request.kind} ${request.streamId}: use a fresh id`,
    {
      reason: "COMMAND_ID_REUSED",
      relatedIds: [request.streamId],
      metadata: { command_id: request.commandId },
    },
  );
}

/** Whatever was thrown: what is no ForgeError is a bug. */
export function toForgeError(error: unknown): ForgeError {
  if (error instanceof ForgeError) return error;
  return new ForgeError(ErrorCode.INTERNAL, "an internal error: the server's log has its stack", { origin: "control-plane", cause: error });
}
