import { create, type MessageInitShape } from "@bufbuild/protobuf";
import { ErrorCode, type ProtocolVersionSchema, StreamKind } from "@forge/protocol/common";
import { type SubscribeEventsResponse, SubscribeEventsResponseSchema } from "@forge/protocol/event";
import { describe, expect, it } from "vitest";
import { spokenEvents } from "./spoken-events.ts";

function event(seq: bigint, version?: MessageInitShape<typeof ProtocolVersionSchema>): SubscribeEventsResponse {
  return create(SubscribeEventsResponseSchema, { kind: { case: "event", value: { seq, version, stream: { kind: StreamKind.SESSION, id: "one" } } } });
}

const position = create(SubscribeEventsResponseSchema, { kind: { case: "position", value: { seq: 9n } } });

async function* all(responses: readonly SubscribeEventsResponse[]): AsyncGenerator<SubscribeEventsResponse> {
  yield* responses;
}

describe("a subscription", () => {
  it("passes on events of its version, of a larger minor, and what it does not know", async () => {
    const responses = [event(1n, { major: 1 }), event(2n, { major: 1, minor: 99 }), event(3n), position, create(SubscribeEventsResponseSchema)];
    const passed: SubscribeEventsResponse[] = [];
    for await (const response of spokenEvents(all(responses))) passed.push(response);
    expect(passed).toEqual(responses);
  });

  it.each([0, 2])("ends at an event of major version %i", async (major) => {
    const read: SubscribeEventsResponse[] = [];
    const reading = (async () => {
      for await (const response of spokenEvents(all([event(1n, { major: 1 }), event(2n, { major }), event(3n, { major: 1 })]))) read.push(response);
    })();
    await expect(reading).rejects.toMatchObject({
      code: ErrorCode.UNSUPPORTED_VERSION,
      detail: { retryable: false, relatedIds: ["one"], metadata: { seq: "2" } },
    });
    expect(read).toHaveLength(1);
  });
});
