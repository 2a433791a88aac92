import { randomUUID } from "node:crypto";
import { Code, ConnectError } from "@connectrpc/connect";
import { ForgeError } from "@forge/protocol";
import { ErrorCode, ForgeErrorSchema } from "@forge/protocol/common";

const CODES: Readonly<Record<ErrorCode, Code>> = {
  [ErrorCode.UNSPECIFIED]: Code.Internal,
  [ErrorCode.VALIDATION]: Code.InvalidArgument,
  [ErrorCode.NOT_FOUND]: Code.NotFound,
  [ErrorCode.CONFLICT]: Code.FailedPrecondition,
  [ErrorCode.UNSUPPORTED]: Code.Unimplemented,
  [ErrorCode.UNSUPPORTED_VERSION]: Code.Unimplemented,
  [ErrorCode.UNAUTHENTICATED]: Code.Unauthenticated,
  [ErrorCode.PERMISSION_DENIED]: Code.PermissionDenied,
  [ErrorCode.SANDBOX_VIOLATION]: Code.PermissionDenied,
  [ErrorCode.RESOURCE_EXHAUSTED]: Code.ResourceExhausted,
  [ErrorCode.DEADLINE_EXCEEDED]: Code.DeadlineExceeded,
  [ErrorCode.CANCELLED]: Code.Canceled,
  [ErrorCode.WORKER_LOST]: Code.Unavailable,
  [ErrorCode.PROVIDER_ERROR]: Code.Unavailable,
  [ErrorCode.STORAGE_ERROR]: Code.Unavailable,
  [ErrorCode.INTERNAL]: Code.Internal,
};

/** Conflicts that another status tells better: what may succeed when decided anew, and what exists already. */
const CONFLICTS: Readonly<Record<string, Code>> = { SEQ_MISMATCH: Code.Aborted, COMMAND_ID_REUSED: Code.AlreadyExists };

/** An error as it goes over the wire: a status, with the ForgeError in its details. */
export function toStatus(error: ForgeError): ConnectError {
  const code = (error.code === ErrorCode.CONFLICT ? CONFLICTS[error.reason] : undefined) ?? CODES[error.code];
  return new ConnectError(error.message, code, undefined, [{ desc: ForgeErrorSchema, value: error.detail }], error);
}

/** Whatever was thrown; a bug is shown by an id only and logged with its stack. */
export function toForgeError(error: unknown, onBug: (error: unknown, id: string) => void): ForgeError {
  if (error instanceof ForgeError && error.code !== ErrorCode.INTERNAL) return error;
  const ended = endOfCall(error);
  if (ended !== undefined)
    return new ForgeError(ended, "the call ended before it was answered: what it asked for may or may not have happened", { origin: "control-plane" });
  const id = randomUUID().slice(0, 8);
  onBug(error, id);
  return new ForgeError(ErrorCode.INTERNAL, `an internal error with id ${id}: the server's log has its stack`, { origin: "control-plane", relatedIds: [id] });
}

/** What a call's signal was aborted with, where a service threw that: its caller is gone, or its deadline has passed. */
function endOfCall(error: unknown): ErrorCode | undefined {
  if (error instanceof ConnectError) return error.code === Code.DeadlineExceeded ? ErrorCode.DEADLINE_EXCEEDED : ErrorCode.CANCELLED;
  return error instanceof DOMException && error.name === "AbortError" ? ErrorCode.CANCELLED : undefined;
}
