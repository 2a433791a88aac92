import { type DescMessage, fromBinary, type MessageShape } from "@bufbuild/protobuf";
import { type ReflectMessage, reflect } from "@bufbuild/protobuf/reflect";
import { type ArtifactRef, ArtifactRefSchema } from "@forge/protocol/common";
import { TaskRecordSchema } from "@forge/protocol/engine";
import { type Event, EventSchema } from "@forge/protocol/event";

const CARRIERS = new Map<string, boolean>();

/** Whether a message type can hold an artifact reference anywhere inside: most events can't, and are not looked into. */
function carries(schema: DescMessage): boolean {
  const known = CARRIERS.get(schema.typeName);
  if (known !== undefined) return known;
  if (schema.typeName === ArtifactRefSchema.typeName) return true;
  CARRIERS.set(schema.typeName, false);
  const found = schema.fields.some((field) => field.message !== undefined && carries(field.message));
  CARRIERS.set(schema.typeName, found);
  return found;
}

function collect(message: ReflectMessage, found: Set<string>): void {
  if (message.desc.typeName === ArtifactRefSchema.typeName) {
    found.add((message.message as ArtifactRef).sha256);
    return;
  }
  for (const field of message.fields) {
    if (field.message === undefined || !carries(field.message) || !message.isSet(field)) continue;
    const value: unknown = message.get(field);
    if (field.fieldKind === "message") collect(value as ReflectMessage, found);
    else
      for (const item of field.fieldKind === "list" ? (value as Iterable<unknown>) : (value as ReadonlyMap<unknown, unknown>).values())
        collect(item as ReflectMessage, found);
  }
}

/** The payloads that can hold one, by their case: only these are looked into, and the envelope never is. */
const PAYLOADS = new Map<string | undefined, DescMessage>(
  EventSchema.oneofs
    .flatMap(({ fields }) => fields)
    .flatMap(({ localName, message }) => (message !== undefined && carries(message) ? [[localName, message] as const] : [])),
);

/** The hashes of all artifacts that events refer to: their rows join the append, so that nothing referenced is swept. */
export function artifactsOf(events: readonly Event[]): readonly string[] {
  const found = new Set<string>();
  for (const { payload } of events) {
    const schema = PAYLOADS.get(payload.case);
    if (schema !== undefined) collect(reflect(schema, payload.value), found);
  }
  return [...found];
}

/** The hashes of all artifacts that a message refers to. */
export function artifactsIn<S extends DescMessage>(schema: S, message: MessageShape<S>): readonly string[] {
  const found = new Set<string>();
  if (carries(schema)) collect(reflect(schema, message), found);
  return [...found];
}

/** Whether a task's record (encoded forge.engine.v1.TaskRecord) refers to an artifact: its own whole text, or an input of its. */
export function recordRefersTo(bytes: Uint8Array, sha256: string): boolean {
  const found = new Set<string>();
  collect(reflect(TaskRecordSchema, fromBinary(TaskRecordSchema, bytes)), found);
  return found.has(sha256);
}
