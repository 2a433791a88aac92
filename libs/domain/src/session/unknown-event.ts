import { ForgeError } from "@forge/protocol";
import { ErrorCode } from "@forge/protocol/common";
import type { Event } from "@forge/protocol/event";

/** An event that can't be folded: written by a newer version, or by a bug. */
export function unknownEvent(event: Event, why: string): ForgeError {
  return new ForgeError(ErrorCode.INTERNAL, `Event ${event.seq} of session ${event.stream?.id ?? ""} can't be folded: ${why}.`, {
    reason: "UNKNOWN_EVENT",
    origin: "control-plane",
    relatedIds: [event.stream?.id ?? "", event.eventId],
  });
}
