import { deserialize, serialize } from "node:v8";
import { fromBinary } from "@bufbuild/protobuf";
import { timestampMs } from "@bufbuild/protobuf/wkt";
import type { Listing, Outstanding } from "@forge/domain";
import { ForgeError } from "@forge/protocol";
import { ErrorCode } from "@forge/protocol/common";
import { EventSchema } from "@forge/protocol/event";
import type { LoadedStream } from "../ports/index.ts";
import type { Aggregate, Aggregates, StreamKindName } from "./aggregate.ts";
import { neededFormat } from "./content-format.ts";
import { type EventFormats, formatOf } from "./event-formats.ts";

/** A stream in memory: its folded state as of a head. Replaced as a whole, never changed. */
export interface Entry {
  readonly kind: StreamKindName;
  readonly aggregate: Aggregate;
  readonly state: unknown;
  /** The head's seq, deltas included; 0: the stream does not exist. */
  readonly seq: number;
  /** The seq of the last event that is no delta. */
  readonly stateSeq: number;
  /** When the last event occurred, milliseconds since the epoch. */
  readonly occurredAtMs: number;
  /** The newest event format among its events. */
  readonly format: number;
  readonly outstanding: Outstanding;
  /** Its list row; undefined where the stream does not exist yet. */
  readonly listing: Listing | undefined;
  readonly sinceSnapshot: SinceSnapshot;
  /** Its events are in an archive: nothing is decided on it any more, and the state says nothing. */
  readonly isArchived: boolean;
}

/** What has come since the last snapshot was taken. */
export interface SinceSnapshot {
  readonly events: number;
  readonly bytes: number;
  /** How large that snapshot was; 0: there is none. */
  readonly snapshotBytes: number;
}

const SNAPSHOT_EVENTS_MIN = 256;

/**
 * Whether a snapshot is worth its cost: once there are some events, which weigh as much as the last one did. So a state that grows with its stream is written
 * again only as often as it doubles what is read, and a stream costs its events, not their square.
 */
export function isSnapshotDue({ events, bytes, snapshotBytes: size }: SinceSnapshot): boolean {
  return events >= SNAPSHOT_EVENTS_MIN && bytes >= size;
}

interface SnapshotContent {
  readonly state: unknown;
  readonly occurredAtMs: number;
  /** The newest event format that was folded into it, absent: 1. An older version must not take such a state for one of its own. */
  readonly format?: number;
}

/** A stream that does not exist yet. */
export function emptyEntry(kind: StreamKindName, aggregates: Aggregates): Entry {
  const aggregate = aggregates[kind];
  return {
    kind,
    aggregate,
    state: aggregate.initial(),
    seq: 0,
    stateSeq: 0,
    occurredAtMs: 0,
    format: 1,
    outstanding: [],
    listing: undefined,
    sinceSnapshot: { events: 0, bytes: 0, snapshotBytes: 0 },
    isArchived: false,
  };
}

/** Folds what was loaded. A snapshot that can't be read is passed over by the caller, who loads without it. */
export function foldEntry(loaded: LoadedStream, aggregates: Aggregates, formats: EventFormats): Entry {
  const aggregate = aggregates[loaded.kind];
  if (loaded.archive !== undefined) return { ...emptyEntry(loaded.kind, aggregates), seq: loaded.seq, stateSeq: loaded.seq, isArchived: true };
  let state = aggregate.initial();
  let occurredAtMs = 0;
  let stateSeq = 0;
  let format = 1;
  if (loaded.snapshot !== undefined) {
    const content = deserialize(loaded.snapshot.bytes) as SnapshotContent;
    state = content.state;
    occurredAtMs = content.occurredAtMs;
    format = content.format ?? 1;
    if (format > formats.reads) throw unknownEvent(`the snapshot at seq ${loaded.snapshot.seq} holds events of format ${format}`, {});
    stateSeq = loaded.snapshot.seq;
  }
  for (const stored of loaded.events) {
    const event = fromBinary(EventSchema, stored.bytes);
    if (event.payload.case === undefined || formatOf(formats, stored.kind) > formats.reads) {
      throw unknownEvent(`event ${stored.seq} of stream ${event.stream?.id ?? ""} is a ${stored.kind}`, { kind: stored.kind });
    }
    state = aggregate.evolve(state, event);
    format = Math.max(format, formatOf(formats, stored.kind), neededFormat(formats, event.payload));
    stateSeq = stored.seq;
    if (event.occurredAt !== undefined) occurredAtMs = timestampMs(event.occurredAt);
  }
  return {
    kind: loaded.kind,
    aggregate,
    state,
    seq: loaded.seq,
    stateSeq,
    occurredAtMs,
    format,
    outstanding: aggregate.outstanding(state),
    listing: aggregate.listing(state),
    sinceSnapshot: {
      events: loaded.events.length,
      bytes: loaded.events.reduce((sum, { bytes }) => sum + bytes.length, 0),
      snapshotBytes: loaded.snapshot?.bytes.length ?? 0,
    },
    isArchived: false,
  };
}

function unknownEvent(what: string, metadata: Readonly<Record<string, string>>): ForgeError {
  return new ForgeError(ErrorCode.UNSUPPORTED_VERSION, `${what}, which this control plane does not know: a newer one must serve this stream`, {
    reason: "UNKNOWN_EVENT",
    origin: "control-plane",
    retryable: true,
    metadata,
  });
}

/** A snapshot's bytes. Its format is Node's structured clone: disposable, so that a version that can't read it refolds. */
export function snapshotBytes(entry: Entry): Uint8Array {
  const content: SnapshotContent = { state: entry.state, occurredAtMs: entry.occurredAtMs, format: entry.format };
  return serialize(content);
}
