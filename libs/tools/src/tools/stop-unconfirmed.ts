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

const unknown = new WeakSet<object>();

/** Marks an error that says why a call ended, and not whether it had an effect: the call is settled as unknown. */
export function outcomeUnknown(error: ForgeError): ForgeError {
  unknown.add(error);
  return error;
}

/** Whether an error leaves open what became of the call: something may still be running, or may have had its effect. */
export function isStopUnconfirmed(error: unknown): boolean {
  return error instanceof ForgeError && (error.reason === REASON || unknown.has(error));
}
