import { fromBinary } from "@bufbuild/protobuf";
import { ForgeError } from "@forge/protocol";
import { ErrorCode } from "@forge/protocol/common";
import { type Event, EventSchema } from "@forge/protocol/event";
import type { Store, StoredEvent } from "../ports/index.ts";

/** What a page holds in memory twice is bounded as well: an event takes some hundred kilobytes at most. */
const PAGE = 1_000;
/** Of all events together, encoded: many times what the longest run of steps with small outputs has, and what a server of a gigabyte can hold. */
const BYTES_MAX = 256 * 1024 * 1024;
const ENDS: ReadonlySet<Event["payload"]["case"]> = new Set(["runCompleted", "runFailed", "runCancelled"]);
const GOES_ON: ReadonlySet<Event["payload"]["case"]> = new Set([...ENDS, "runResumed"]);

/** The names of the statuses in which a run has ended, as lists have them. */
export const ENDED_STATUSES: ReadonlySet<string> = new Set([
  "RUN_STATUS_COMPLETED",
  "RUN_STATUS_COMPLETED_WITH_ERRORS",
  "RUN_STATUS_FAILED",
  "RUN_STATUS_CANCELLED",
]);

/**
 * All events of a run, deltas left out, and its newest seq. Rejects with not_found where the stream is no run; resource_exhausted, RUN_TOO_LARGE, where they take more than
 * `bytesMax` bytes.
 */
export async function runEvents(
  store: Pick<Store, "readEvents">,
  namespace: string,
  runId: string,
  bytesMax = BYTES_MAX,
): Promise<{ readonly events: readonly Event[]; readonly seq: number }> {
  const events: Event[] = [];
  let afterSeq = 0;
  let bytes = 0;
  for (;;) {
    const page = await store.readEvents(namespace, runId, { afterSeq, limit: PAGE, deltas: false });
    bytes += page.events.reduce((sum, stored) => sum + stored.bytes.length, 0);
    if (bytes > bytesMax) {
      const message = `the events of run ${runId} take more than ${bytesMax} bytes, too many to be read at once: follow its events instead (SubscribeEvents, forge events)`;
      throw new ForgeError(ErrorCode.RESOURCE_EXHAUSTED, message, { reason: "RUN_TOO_LARGE", relatedIds: [runId] });
    }
    events.push(...page.events.map((stored) => fromBinary(EventSchema, stored.bytes)));
    if (page.events.length < PAGE) {
      if (events[0]?.payload.case !== "runCreated") {
        throw new ForgeError(ErrorCode.NOT_FOUND, `run ${runId} does not exist`, { reason: "RUN_NOT_FOUND", relatedIds: [runId] });
      }
      // Archiving has moved the head by one; what happened in the run is the same.
      return { events, seq: page.archive === undefined ? page.headSeq : page.headSeq - 1 };
    }
    afterSeq = (page.events.at(-1) as StoredEvent).seq;
  }
}

/** Whether the run has ended and was not resumed since. */
export function hasEnded(events: readonly Event[]): boolean {
  const last = events.findLast(({ payload }) => GOES_ON.has(payload.case));
  return last !== undefined && ENDS.has(last.payload.case);
}
