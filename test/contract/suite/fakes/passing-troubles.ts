import { create } from "@bufbuild/protobuf";
import { StreamKind } from "@forge/protocol/common";
import { EventService, SubscribeEventsRequestSchema, type SubscribeEventsResponse, SubscribeEventsResponseSchema } from "@forge/protocol/event";
import { SessionService, StartTurnRequestSchema, StartTurnResponseSchema } from "@forge/protocol/session";
import { type FakeRequest, type FakeResponse, type FakeServer, startFakeServer } from "./fake-server.ts";
import { FAKE_ID } from "./misbehaving-server.ts";
import { MISBEHAVIOURS } from "./misbehaviours.ts";
import { pathOf, Wire } from "./wire.ts";

/** A server that is in trouble at first, each time in another, and then well. */
export interface PassingTroubles extends FakeServer {
  /** The seq after which each subscription asked. */
  readonly cursors: readonly number[];
  /** Of each StartTurn. */
  readonly commandIds: readonly string[];
}

const TROUBLES = ["cutsMessage", "leavesOutEnd", "isUnavailable", "showsErrorPage", "sendsGarbage"] as const;
export const TROUBLE_COUNT = TROUBLES.length;
/** What a subscriber that misses nothing asks for: the first two and the last trouble come after an event. */
export const CURSORS_EXPECTED: readonly number[] = [0, 1, 2, 2, 2, 3];

/** SubscribeEvents has three events, and breaks off by each of the troubles before it catches up; StartTurn starts a turn after each of them. */
export async function startPassingTroubles(): Promise<PassingTroubles> {
  const cursors: number[] = [];
  const commandIds: string[] = [];
  const subscribe = async (wire: Wire, body: Buffer, response: FakeResponse): Promise<void> => {
    const after = Number(wire.decode(SubscribeEventsRequestSchema, body).streams[0]?.afterSeq ?? 0n);
    const trouble = TROUBLES[cursors.push(after) - 1];
    if (trouble !== undefined) {
      await MISBEHAVIOURS[trouble]({ response, wire, message: wire.encode(SubscribeEventsResponseSchema, eventOf(after + 1)), isStream: true });
      return;
    }
    wire.begin(response);
    response.write(wire.frame(wire.encode(SubscribeEventsResponseSchema, caughtUp(after))));
    wire.end(response);
  };
  const startTurn = async (wire: Wire, body: Buffer, response: FakeResponse): Promise<void> => {
    const trouble = TROUBLES[commandIds.push(wire.decode(StartTurnRequestSchema, body).header?.commandId ?? "") - 1];
    const message = wire.encode(StartTurnResponseSchema, create(StartTurnResponseSchema, { turnId: FAKE_ID, seq: 2n }));
    if (trouble !== undefined) {
      await MISBEHAVIOURS[trouble]({ response, wire, message, isStream: false });
      return;
    }
    wire.begin(response);
    response.write(wire.frame(message));
    wire.end(response);
  };
  const server = await startFakeServer((request, response) => {
    const wire = new Wire(request);
    void whole(request).then((body) => {
      if (request.url === pathOf(EventService.method.subscribeEvents)) return subscribe(wire, body, response);
      if (request.url === pathOf(SessionService.method.startTurn)) return startTurn(wire, body, response);
      // Whatever a client asks first, to see whether anybody is there.
      return wire.answerEmpty(response);
    });
  });
  // Not spread: what the server counts is read when it is asked for.
  return Object.assign(server, { cursors, commandIds });
}

const STREAM = { kind: StreamKind.SESSION, id: FAKE_ID };

function eventOf(seq: number): SubscribeEventsResponse {
  const event = {
    protocol: "forge.event",
    version: { major: 1 },
    stream: STREAM,
    seq: BigInt(seq),
    kind: "turn.paused",
    payload: { case: "turnPaused" as const, value: {} },
  };
  return create(SubscribeEventsResponseSchema, { kind: { case: "event", value: event } });
}

function caughtUp(seq: number): SubscribeEventsResponse {
  const value = { incarnation: "the same", positions: [{ stream: STREAM, seq: BigInt(seq) }] };
  return create(SubscribeEventsResponseSchema, { kind: { case: "caughtUp", value } });
}

async function whole(request: FakeRequest): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
}
