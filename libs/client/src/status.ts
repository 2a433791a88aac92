import { Code, ConnectError } from "@connectrpc/connect";
import { ForgeError } from "@forge/protocol";
import { ErrorCode, ForgeErrorSchema } from "@forge/protocol/common";

/**
 * For statuses that came without a ForgeError: from a proxy, the library, or the network. What is not here is a broken connection; the library says
 * `aborted` for one that was reset.
 */
const CODES: Readonly<Partial<Record<Code, ErrorCode>>> = {
  [Code.Canceled]: ErrorCode.CANCELLED,
  [Code.InvalidArgument]: ErrorCode.VALIDATION,
  [Code.DeadlineExceeded]: ErrorCode.DEADLINE_EXCEEDED,
  [Code.NotFound]: ErrorCode.NOT_FOUND,
  [Code.AlreadyExists]: ErrorCode.CONFLICT,
  [Code.FailedPrecondition]: ErrorCode.CONFLICT,
  [Code.PermissionDenied]: ErrorCode.PERMISSION_DENIED,
  [Code.ResourceExhausted]: ErrorCode.RESOURCE_EXHAUSTED,
  [Code.Unimplemented]: ErrorCode.UNSUPPORTED,
  [Code.Unauthenticated]: ErrorCode.UNAUTHENTICATED,
  [Code.Unavailable]: ErrorCode.STORAGE_ERROR,
  [Code.Internal]: ErrorCode.INTERNAL,
};

/** Reason of an error that the server never gave: the call may or may not have had its effect. */
export const TRANSPORT = "TRANSPORT";

/** What a call failed with, as the one error class. `signal` is the caller's own: a stream that was cancelled without it broke on the way. */
export function fromStatus(error: unknown, signal?: AbortSignal): ForgeError {
  const status = ConnectError.from(error);
  const [detail] = status.findDetails(ForgeErrorSchema);
  if (detail !== undefined) return ForgeError.from(detail);
  const broke = status.code === Code.Canceled && signal?.aborted !== true;
  const code = broke ? ErrorCode.STORAGE_ERROR : (CODES[status.code] ?? ErrorCode.STORAGE_ERROR);
  // A connection that broke in the middle is told as an internal or unknown error by some layers; no answer of the server has no details.
  const transport = code === ErrorCode.STORAGE_ERROR || code === ErrorCode.INTERNAL;
  return new ForgeError(transport ? ErrorCode.STORAGE_ERROR : code, status.rawMessage, { reason: transport ? TRANSPORT : "", retryable: transport, origin: "client", cause: error });
}
