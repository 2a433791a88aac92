import { ForgeError } from "@forge/protocol";
import { ErrorCode } from "@forge/protocol/common";

const PASSING: ReadonlySet<ErrorCode> = new Set([
  ErrorCode.STORAGE_ERROR,
  ErrorCode.INTERNAL,
  ErrorCode.RESOURCE_EXHAUSTED,
  // A newer replica may read what this one can't.
  ErrorCode.UNSUPPORTED_VERSION,
]);

/** Whether an error says nothing about the command itself: sent again, later or by another replica, it may be decided. */
export function isPassing(error: unknown): boolean {
  return !(error instanceof ForgeError) || PASSING.has(error.code) || error.detail.retryable;
}
