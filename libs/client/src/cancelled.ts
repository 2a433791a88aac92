import { ForgeError } from "@forge/protocol";
import { ErrorCode } from "@forge/protocol/common";

/** What calls of a closed client fail with. */
export function clientClosed(): ForgeError {
  return new ForgeError(ErrorCode.CANCELLED, "this client is closed", { origin: "client" });
}

/** What a call fails with that this side did not want any more. Whether it had its effect is not known. */
export function givenUp(cause?: unknown): ForgeError {
  return new ForgeError(ErrorCode.CANCELLED, "the call was given up by its caller", { origin: "client", cause });
}
