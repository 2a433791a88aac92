import { type DescField, type DescMessage, toBinary } from "@bufbuild/protobuf";
import { BinaryWriter, WireType } from "@bufbuild/protobuf/wire";
import { type Event, EventSchema } from "@forge/protocol/event";
import type { StoredEvent } from "../ports/index.ts";

interface PayloadField {
  readonly no: number;
  readonly message: DescMessage;
}

function payloadFields(): ReadonlyMap<string, PayloadField> {
  const fields = EventSchema.oneofs.find((oneof) => oneof.localName === "payload")?.fields ?? [];
  return new Map(
    fields.flatMap((field: DescField) => (field.message === undefined ? [] : [[field.localName, { no: field.number, message: field.message }] as const])),
  );
}

const PAYLOADS = payloadFields();

/** The envelope's text fields, by number. */
const TEXTS = [
  [7, "kind"],
  [8, "turnId"],
  [9, "toolCallId"],
  [10, "runId"],
  [11, "stepId"],
  [12, "modelCallId"],
  [13, "commandId"],
  [14, "correlationId"],
  [15, "causationId"],
] as const;

/**
 * An event's bytes, the same as `toBinary(EventSchema, event)` gives: a test holds them equal. Every event has the same envelope, so that it is written field by
 * field here, several times as fast as by reflection; only the payload is left to the library. Events read from elsewhere, with unknown fields, are not for this.
 */
export function encodeEvent(event: Event): StoredEvent {
  const writer = new BinaryWriter();
  text(writer, 1, event.protocol);
  if (event.version !== undefined) {
    writer.tag(2, WireType.LengthDelimited).fork();
    varint(writer, 1, event.version.major);
    varint(writer, 2, event.version.minor);
    writer.join();
  }
  text(writer, 3, event.eventId);
  if (event.stream !== undefined) {
    writer.tag(4, WireType.LengthDelimited).fork();
    varint(writer, 1, event.stream.kind);
    text(writer, 2, event.stream.id);
    writer.join();
  }
  if (event.seq !== 0n) writer.tag(5, WireType.Varint).uint64(event.seq);
  if (event.occurredAt !== undefined) {
    writer.tag(6, WireType.LengthDelimited).fork();
    if (event.occurredAt.seconds !== 0n) writer.tag(1, WireType.Varint).int64(event.occurredAt.seconds);
    if (event.occurredAt.nanos !== 0) writer.tag(2, WireType.Varint).int32(event.occurredAt.nanos);
    writer.join();
  }
  for (const [no, name] of TEXTS) text(writer, no, event[name]);
  if (event.redaction !== undefined) {
    writer.tag(16, WireType.LengthDelimited).fork();
    varint(writer, 1, event.redaction.class);
    writer.join();
  }
  if (event.principal !== undefined) {
    writer.tag(17, WireType.LengthDelimited).fork();
    text(writer, 1, event.principal.id);
    writer.join();
  }
  const { payload } = event;
  if (payload.case !== undefined) {
    const field = PAYLOADS.get(payload.case);
    if (field === undefined) throw new Error(`no payload ${payload.case}`);
    writer.tag(field.no, WireType.LengthDelimited).bytes(toBinary(field.message, payload.value));
  }
  return { seq: Number(event.seq), kind: event.kind, bytes: writer.finish() };
}

function text(writer: BinaryWriter, no: number, value: string): void {
  if (value !== "") writer.tag(no, WireType.LengthDelimited).string(value);
}

function varint(writer: BinaryWriter, no: number, value: number): void {
  if (value !== 0) writer.tag(no, WireType.Varint).uint32(value);
}
