import { randomBytes, randomUUID } from "node:crypto";

/** Commands at once, and the streams that they are spread over. */
export const IN_FLIGHT = 32;
export const STREAMS = 64;

/** An event's encoded size; the engine's events are filled up to it. */
export const EVENT_BYTES = 300;
export const EVENT_KIND = "message.added";

/** What a command record answers: the encoded response of a turn's start has this size. */
export const RESULT_BYTES = 42;
export const RESULT_TYPE = "forge.session.v1.StartTurnResponse";

/** A stream that a workload appends to. */
export interface BenchStream {
  readonly id: string;
  seq: number;
}

export function newStreams(): BenchStream[] {
  return Array.from({ length: STREAMS }, () => ({ id: randomUUID(), seq: 0 }));
}

/** Bytes of an event's size, the same for all: what they are does not matter to the database. */
export const EVENT = randomBytes(EVENT_BYTES);
export const DIGEST = randomBytes(32);
export const RESULT = randomBytes(RESULT_BYTES);
