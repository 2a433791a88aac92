import { create, type MessageInitShape } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { type Event, EventSchema } from "@forge/protocol/event";

type Payload = NonNullable<MessageInitShape<typeof EventSchema>["payload"]>;

/** An event for what is shown of it; time and the ids that it is about may be given. */
export function eventOf(
  payload: Payload,
  envelope: Omit<MessageInitShape<typeof EventSchema>, "payload" | "$typeName"> & { readonly atMs?: number } = {},
): Event {
  const { atMs = 0, ...ids } = envelope;
  const [domain = "", ...rest] = String(payload.case)
    .replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
    .split("_");
  return create(EventSchema, { kind: `${domain}.${rest.join("_")}`, occurredAt: timestampFromMs(atMs), ...ids, payload });
}
