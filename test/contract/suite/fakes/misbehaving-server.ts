import { create } from "@bufbuild/protobuf";
import { StreamKind } from "@forge/protocol/common";
import { EventService, SubscribeEventsResponseSchema } from "@forge/protocol/event";
import { GetSessionSnapshotResponseSchema, SessionService } from "@forge/protocol/session";
import { type FakeRequest, type FakeResponse, type FakeServer, startFakeServer } from "./fake-server.ts";
import { MISBEHAVIOURS, type MisbehaviourName } from "./misbehaviours.ts";
import { pathOf, Wire } from "./wire.ts";

/** The session and stream of the good parts of its answers. */
export const FAKE_ID = "00000000-0000-7000-8000-00000000fa4e";
const TITLE = "What a good server would say, long enough that half of it is something.";

const goodSnapshot = create(GetSessionSnapshotResponseSchema, { session: { sessionId: FAKE_ID, seq: 7n, title: TITLE } });

/** What a stream sends: how far it has come. */
function goodPosition(seq: bigint) {
  return create(SubscribeEventsResponseSchema, { kind: { case: "position", value: { stream: { kind: StreamKind.SESSION, id: FAKE_ID }, seq } } });
}

export interface MisbehavingServer extends FakeServer {
  /** The client has what is good of the stream. */
  readonly heard: () => void;
}

/** Answers GetSessionSnapshot and SubscribeEvents badly, always in the same way: a stream once the client has what is good of it. */
export async function startMisbehavingServer(name: MisbehaviourName): Promise<MisbehavingServer> {
  const { promise: heard, resolve } = Promise.withResolvers<void>();
  const server = await startFakeServer((request, response) => {
    request.resume();
    request.once("end", () => void misbehave(name, request, response, heard));
  });
  // Not spread: what the server counts is read when it is asked for.
  return Object.assign(server, { heard: resolve });
}

/** Answers one call badly. */
async function misbehave(name: MisbehaviourName, request: FakeRequest, response: FakeResponse, heard: Promise<void>): Promise<void> {
  const wire = new Wire(request);
  const isStream = request.url === pathOf(EventService.method.subscribeEvents);
  if (!isStream && request.url !== pathOf(SessionService.method.getSessionSnapshot)) {
    // Whatever a client asks first, to see whether anybody is there.
    wire.answerEmpty(response);
    return;
  }
  const message = isStream ? wire.encode(SubscribeEventsResponseSchema, goodPosition(1n)) : wire.encode(GetSessionSnapshotResponseSchema, goodSnapshot);
  await MISBEHAVIOURS[name]({ response, wire, message, isStream, heard });
}
