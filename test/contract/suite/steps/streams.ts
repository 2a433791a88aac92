import type { ForgeError } from "@forge/protocol";
import { type Event, EventService, type SubscribeEventsResponse } from "@forge/protocol/event";
import { PATIENCE_MS, sessionStream } from "../../../harness/work.ts";
import type { SuiteClient, SuiteStream } from "../client.ts";

const { subscribeEvents } = EventService.method;

/** What a stream said, and what it ended with; without an error: in peace. */
export interface Whole<T> {
  readonly messages: readonly T[];
  readonly error: ForgeError | undefined;
}

/** Reads a stream to its end. */
export async function wholeOf<T>(stream: SuiteStream<T>): Promise<Whole<T>> {
  const messages: T[] = [];
  for (;;) {
    const read = await stream.next();
    if ("message" in read && read.message !== undefined) messages.push(read.message);
    else return { messages, error: "error" in read ? read.error : undefined };
  }
}

export function eventsOf(messages: readonly SubscribeEventsResponse[]): readonly Event[] {
  return messages.flatMap(({ kind }) => (kind.case === "event" ? [kind.value] : []));
}

/** A session's durable events after a seq. */
export async function eventsAfter(client: SuiteClient, sessionId: string, afterSeq = 0n): Promise<readonly Event[]> {
  const { messages, error } = await wholeOf(
    client.open(subscribeEvents, { streams: [{ stream: sessionStream(sessionId), afterSeq }], noFollow: true }, { timeoutMs: PATIENCE_MS }),
  );
  if (error !== undefined) throw error;
  return eventsOf(messages);
}

/** Follows a session, over lost connections, until an event satisfies; answers all events up to it. */
export async function followUntil(client: SuiteClient, sessionId: string, isLast: (event: Event) => boolean, afterSeq = 0n): Promise<readonly Event[]> {
  const stream = client.open(subscribeEvents, { streams: [{ stream: sessionStream(sessionId), afterSeq }] }, { resume: true, timeoutMs: PATIENCE_MS });
  const events: Event[] = [];
  for (;;) {
    const read = await stream.next();
    if (read.message === undefined) {
      const seen = events.map(({ kind }) => kind).join(", ");
      throw new Error(`the subscription ended before the awaited event (${read.error?.message ?? "in peace"}); there were: ${seen}`);
    }
    if (read.message.kind.case !== "event") continue;
    events.push(read.message.kind.value);
    if (isLast(read.message.kind.value)) break;
  }
  stream.cancel();
  return events;
}

const TURN_ENDS: ReadonlySet<string> = new Set(["turn.completed", "turn.failed", "turn.cancelled", "turn.abandoned"]);

/** Whether an event ends the turn. */
export function isEndOf(turnId: string): (event: Event) => boolean {
  return (event) => event.turnId === turnId && TURN_ENDS.has(event.kind);
}

/** Of events through a turn's end: it has completed. Throws what it failed with. */
export function expectCompleted(events: readonly Event[]): void {
  const failures = events.flatMap(({ payload: { value } }) =>
    value !== undefined && "error" in value && value.error !== undefined ? [value.error.message] : [],
  );
  const end = events.at(-1)?.kind;
  if (end !== "turn.completed") throw new Error(`the turn ended with ${end}: ${failures.join("; ")}`);
}
