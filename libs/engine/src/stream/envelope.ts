import { create, toBinary } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import type { EventDraft } from "@forge/domain";
import { RedactionClass, StreamKind } from "@forge/protocol/common";
import { type Event, EventSchema } from "@forge/protocol/event";
import type { StoredEvent } from "../ports/index.ts";
import type { StreamKindName } from "./aggregate.ts";
import { newId } from "./identity.ts";

/** What the envelope says beside the draft. */
export interface Cause {
  readonly kind: StreamKindName;
  readonly streamId: string;
  readonly principal: string;
  readonly commandId: string;
  readonly correlationId: string;
  readonly causationId: string;
  readonly nowMs: number;
}

const KINDS = new Map<string, string>(
  EventSchema.oneofs.find((oneof) => oneof.localName === "payload")?.fields.map((field) => [field.localName, field.name.replace("_", ".")]) ?? [],
);

/** The dotted kind of a payload case: toolCompleted is tool.completed. */
export function kindOf(payloadCase: string): string {
  const kind = KINDS.get(payloadCase);
  if (kind === undefined) throw new Error(`no event kind for ${payloadCase}`);
  return kind;
}

/** Every kind that this version writes and reads. */
export const EVENT_KINDS: ReadonlySet<string> = new Set(KINDS.values());

const VERSION = { $typeName: "forge.common.v1.ProtocolVersion" as const, major: 1, minor: 0 };

/** Gives a draft its envelope. */
export function stamp(draft: EventDraft, seq: number, cause: Cause): Event {
  if (draft.payload.case === undefined) throw new Error("an event draft without a payload");
  return create(EventSchema, {
    protocol: "forge.event",
    version: VERSION,
    eventId: newId(cause.nowMs),
    stream: { kind: cause.kind === "session" ? StreamKind.SESSION : StreamKind.RUN, id: cause.streamId },
    seq: BigInt(seq),
    occurredAt: timestampFromMs(cause.nowMs),
    kind: kindOf(draft.payload.case),
    turnId: draft.turnId ?? "",
    toolCallId: draft.toolCallId ?? "",
    modelCallId: draft.modelCallId ?? "",
    runId: cause.kind === "run" ? cause.streamId : "",
    stepId: draft.stepId ?? "",
    commandId: cause.commandId,
    correlationId: cause.correlationId,
    causationId: cause.causationId,
    redaction: { class: draft.sensitive === true ? RedactionClass.SENSITIVE : RedactionClass.PUBLIC },
    principal: { id: cause.principal },
    payload: draft.payload,
  });
}

export function encode(event: Event): StoredEvent {
  return { seq: Number(event.seq), kind: event.kind, bytes: toBinary(EventSchema, event) };
}
