import { fromBinary } from "@bufbuild/protobuf";
import type { SessionState } from "@forge/domain";
import { ForgeError } from "@forge/protocol";
import { ErrorCode } from "@forge/protocol/common";
import { type Event, EventSchema } from "@forge/protocol/event";
import type { Store } from "../ports/index.ts";

/** More events than this are not read at once. */
const EVENTS_MAX = 50_000;
const PAGE = 5_000;

/** The events of a session's conversation in a range. */
export interface ConversationEvents {
  readonly events: readonly Event[];
  /** The seq of the last compaction or rewind in the range; 0: none. Where there is one, the events are those of the whole conversation. */
  readonly compactedSeq: number;
}

/**
 * The events that the conversation in (afterSeq, throughSeq] is folded from. What the newest compaction left behind is not read. One within the range makes
 * the range begin anew, since whoever read up to `afterSeq` holds what no longer stands. Rejects with resource_exhausted where there are too many.
 */
export async function conversationEvents(
  store: Pick<Store, "readEvents">,
  namespace: string,
  state: SessionState,
  range: { readonly afterSeq: number; readonly throughSeq: number },
): Promise<ConversationEvents> {
  const { sessionId, compaction } = state;
  const { afterSeq, throughSeq } = range;
  const isNewest = compaction !== undefined && compaction.seq > afterSeq && compaction.seq <= throughSeq;
  const events = await readEvents(store, namespace, sessionId, { afterSeq: isNewest ? compaction.keptAfterSeq : afterSeq, throughSeq });
  if (isNewest) return { events, compactedSeq: compaction.seq };
  // Of those before the newest one nothing is kept, so that only reading tells: whoever asks for a conversation as it once was.
  const earlier = Number(events.findLast(({ payload }) => payload.case === "sessionCompacted" || payload.case === "sessionRewound")?.seq ?? 0n);
  if (earlier === 0 || afterSeq === 0) return { events, compactedSeq: earlier };
  return { events: await readEvents(store, namespace, sessionId, { afterSeq: 0, throughSeq }), compactedSeq: earlier };
}

async function readEvents(
  store: Pick<Store, "readEvents">,
  namespace: string,
  sessionId: string,
  range: { readonly afterSeq: number; readonly throughSeq: number },
): Promise<Event[]> {
  const events: Event[] = [];
  let from = range.afterSeq;
  while (events.length < EVENTS_MAX) {
    const page = await store.readEvents(namespace, sessionId, { afterSeq: from, throughSeq: range.throughSeq, limit: PAGE, deltas: false });
    for (const { bytes } of page.events) events.push(fromBinary(EventSchema, bytes));
    const last = page.events.at(-1);
    if (last === undefined || page.events.length < PAGE) return events;
    from = last.seq;
  }
  throw new ForgeError(
    ErrorCode.RESOURCE_EXHAUSTED,
    `the conversation of session ${sessionId} has more than ${EVENTS_MAX} events in this range: read a smaller one, or compact the session`,
    { retryable: false },
  );
}
