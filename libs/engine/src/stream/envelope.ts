import type { EventDraft } from "@forge/domain";
import { RedactionClass } from "@forge/protocol/common";
import { type Event, EventSchema } from "@forge/protocol/event";
import { STREAM_KINDS, type StreamKindName } from "./aggregate.ts";
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

/** Gives a draft its envelope. Written out as the generated types have it: building messages by reflection takes most of an append's time otherwise. */
export function stamp(draft: EventDraft, seq: number, cause: Cause): Event {
  if (draft.payload.case === undefined) throw new Error("an event draft without a payload");
  return {
    $typeName: "forge.event.v1.Event",
    protocol: "forge.event",
    version: VERSION,
    eventId: newId(cause.nowMs),
    stream: { $typeName: "forge.common.v1.StreamRef", kind: STREAM_KINDS[cause.kind], id: cause.streamId },
    seq: BigInt(seq),
    occurredAt: { $typeName: "google.protobuf.Timestamp", seconds: BigInt(Math.floor(cause.nowMs / 1000)), nanos: (cause.nowMs % 1000) * 1_000_000 },
    kind: kindOf(draft.payload.case),
    turnId: draft.turnId ?? "",
    toolCallId: draft.toolCallId ?? "",
    modelCallId: draft.modelCallId ?? "",
    runId: cause.kind === "run" ? cause.streamId : "",
    stepId: draft.stepId ?? "",
    commandId: cause.commandId,
    correlationId: cause.correlationId,
    causationId: cause.causationId,
    redaction: { $typeName: "forge.common.v1.Redaction", class: draft.sensitive === true ? RedactionClass.SENSITIVE : RedactionClass.PUBLIC },
    principal: { $typeName: "forge.common.v1.Principal", id: cause.principal },
    payload: draft.payload,
  };
}
