import type { ForgeError } from "@forge/protocol/common";

/** Whether a worker did nothing, because the world is no longer as the call was decided on. */
export function isStale(error: ForgeError | undefined): boolean {
  return error?.reason === "PREVIEW_STALE";
}
