import { ForgeError } from "@forge/protocol";
import { ErrorCode } from "@forge/protocol/common";
import type { ToolPreview } from "@forge/protocol/tool";

/** The world is no longer as it was when the call was decided on. `what` says what differs, as the beginning of a sentence. */
export function previewStale(what: string): ForgeError {
  return new ForgeError(ErrorCode.CONFLICT, `${what} since the call was shown for approval; nothing was done. Look again, and call again.`, {
    reason: "PREVIEW_STALE",
    origin: "tool",
  });
}

/** Throws previewStale() where a call was shown, and its facts are others now. */
export function requireFacts(previewed: ToolPreview | undefined, factsJson: string, what: string): void {
  if (previewed !== undefined && previewed.factsJson !== factsJson) throw previewStale(what);
}
