import { Code, ConnectError } from "@connectrpc/connect";
import { ForgeError } from "@forge/protocol";
import { ErrorCode, ForgeErrorSchema } from "@forge/protocol/common";
import { givenUp } from "./cancelled.ts";

/**
 * For statuses that came without a ForgeError: from a proxy, the library, or the network. What is not here is a broken connection: the library says
 * `aborted` for one that was reset, and `canceled` for a stream that the other side reset.
 */
const CODES: Readonly<Partial<Record<Code, ErrorCode>>> = {
  [Code.InvalidArgument]: ErrorCode.VALIDATION,
  [Code.DeadlineExceeded]: ErrorCode.DEADLINE_EXCEEDED,
  [Code.NotFound]: ErrorCode.NOT_FOUND,
  [Code.AlreadyExists]: ErrorCode.CONFLICT,
  [Code.FailedPrecondition]: ErrorCode.CONFLICT,
  [Code.PermissionDenied]: ErrorCode.PERMISSION_DENIED,
  [Code.ResourceExhausted]: ErrorCode.RESOURCE_EXHAUSTED,
  [Code.Unimplemented]: ErrorCode.UNSUPPORTED,
  [Code.Unauthenticated]: ErrorCode.UNAUTHENTICATED,
};

/** Reason of an error that the server never gave: the call may or may not have had its effect. */
export const TRANSPORT = "TRANSPORT";

/** What a call failed with, as the one error class. `stopped` says that this side gave the call up: one that was cancelled without it broke on the way. */
export function fromStatus(error: unknown, stopped: boolean): ForgeError {
  if (error instanceof ForgeError) return error;
  const status = ConnectError.from(error);
  const [detail] = status.findDetails(ForgeErrorSchema);
  if (detail !== undefined) return ForgeError.from(detail);
  if (stopped) return givenUp(error);
  // A connection that broke in the middle is told as an internal or unknown error by some layers; no answer of the server has no details.
  const code = isBrokenAnswer(status) ? undefined : CODES[status.code];
  if (code === undefined)
    return new ForgeError(ErrorCode.STORAGE_ERROR, status.rawMessage, { reason: TRANSPORT, retryable: true, origin: "client", cause: error });
  return new ForgeError(code, status.rawMessage, { retryable: false, origin: "client", cause: error });
}

/** The library says of an answer that is cut short or can't be read what a server says of a request: `invalid_argument`. */
function isBrokenAnswer({ code, isWireError }: ConnectError): boolean {
  return code === Code.InvalidArgument && !isWireError;
}
