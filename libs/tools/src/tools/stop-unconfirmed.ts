import { ForgeError } from "@forge/protocol";
import { ErrorCode } from "@forge/protocol/common";

const REASON = "STOP_UNCONFIRMED";

/** Something was to be stopped, and it is not known to have stopped: the call is settled as unknown. */
export function stopUnconfirmed(what: string): ForgeError {
  return new ForgeError(ErrorCode.INTERNAL, `${what} was told to stop, and it is not known whether all of its processes have`, {
    reason: REASON,
    origin: "tool",
  });
}

/** Whether an error says that something may still be running. */
export function isStopUnconfirmed(error: unknown): boolean {
  return error instanceof ForgeError && error.reason === REASON;
}
