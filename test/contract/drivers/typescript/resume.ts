import { create } from "@bufbuild/protobuf";
import { type Followed, type ForgeClient, followEvents } from "@forge/client/web";
import { type SubscribeEventsRequest, type SubscribeEventsResponse, SubscribeEventsResponseSchema } from "@forge/protocol/event";

/** The client's own subscription, which reconnects by itself, told in the messages of a plain one. */
export async function* resumed(client: ForgeClient, request: SubscribeEventsRequest, signal: AbortSignal): AsyncGenerator<SubscribeEventsResponse> {
  const streams = request.streams.flatMap(({ stream, afterSeq }) => (stream === undefined ? [] : [{ stream, afterSeq: Number(afterSeq) }]));
  const { followChildren, noFollow } = request;
  for await (const followed of followEvents(client, { streams, followChildren, noFollow, excludeKinds: request.filter?.excludeKinds, signal })) {
    yield create(SubscribeEventsResponseSchema, { kind: kindOf(followed) });
  }
}

function kindOf(followed: Followed): SubscribeEventsResponse["kind"] {
  if (followed.kind === "event") return { case: "event", value: followed.event };
  if (followed.kind === "caughtUp") return { case: "caughtUp", value: followed.caughtUp };
  return { case: "position", value: followed.position };
}
