import { ForgeError } from "@forge/protocol";
import { ErrorCode } from "@forge/protocol/common";

/** Errors: cancelled. */
export function stopIfAborted(signal: AbortSignal | undefined): void {
  if (signal?.aborted === true) throw new ForgeError(ErrorCode.CANCELLED, "it was given up by its caller", { origin: "client", cause: signal.reason });
}
