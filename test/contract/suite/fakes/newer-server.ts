import { create, type Message } from "@bufbuild/protobuf";
import { Code, ConnectError } from "@connectrpc/connect";
import { connectNodeAdapter } from "@connectrpc/connect-node";
import { StreamKind } from "@forge/protocol/common";
import { WorkflowService } from "@forge/protocol/workflow";
import { type FakeServer, startFakeServer } from "./fake-server.ts";
import { NEWER, newer } from "./newer-contract.ts";

/** A session of a newer server, and one whose second event is of a protocol that no client of today speaks. */
export const NEWER_SESSION = "00000000-0000-7000-8000-000000000001";
export const ANOTHER_MAJOR = "00000000-0000-7000-8000-000000000002";

export interface NewerServer extends FakeServer {
  /** After which seq each subscription asked. */
  readonly cursors: readonly number[];
}

/** In the newer contract: what is sent of the session and of its stream. */
export const newerSnapshot = create(newer.getSessionSnapshotResponse, {
  session: { sessionId: NEWER_SESSION, seq: 4n, status: NEWER.status, title: "Newer", turnCount: 1, mood: "curious" },
  mood: "calm",
});

export const newerStream: readonly Message[] = [
  event(1, "session.created", { case: "sessionCreated", value: { title: "Newer" } }),
  event(2, "turn.started", { case: "turnStarted", value: {} }, { weather: "fair" }),
  event(3, "session.renamed", { case: "sessionRenamed", value: "Newest" }),
  response({ case: "notice", value: "Something that is no event." }),
  event(4, "turn.completed", { case: "turnCompleted", value: { outcome: NEWER.outcome, textPreview: "done" } }),
  response({ case: "caughtUp", value: { incarnation: "the same", positions: [{ stream: streamOf(NEWER_SESSION), seq: 4n }] } }),
];

/**
 * A server that speaks the next minor version of the protocol: GetSessionSnapshot, SubscribeEvents, and CancelTurn, which fails with a code that is new. The first
 * subscription that begins at the beginning breaks off after the event that is new.
 */
export async function startNewerServer(): Promise<NewerServer> {
  const cursors: number[] = [];
  const adapter = connectNodeAdapter({
    jsonOptions: { useProtoFieldName: true },
    routes: (router) => {
      // What a client may ask first of all, to see whether anybody is there.
      router.service(WorkflowService, { listRuns: () => ({}) });
      router.service(newer.sessionService, {
        getSessionSnapshot: () => newerSnapshot,
        cancelTurn: () => {
          throw tooEarly();
        },
      } as never);
      router.service(newer.eventService, {
        async *subscribeEvents({ streams, noFollow }: { streams: { stream: { id: string }; afterSeq: bigint }[]; noFollow: boolean }) {
          const [cursor] = streams;
          const after = Number(cursor?.afterSeq ?? 0n);
          if (cursor?.stream.id === ANOTHER_MAJOR) {
            yield* anotherMajor();
            return;
          }
          const isFirst = cursors.push(after) === 1;
          // An event's place in the list is its seq; the notice stands behind the third.
          for (const [index, message] of newerStream.entries()) {
            if (index >= after) yield message;
            if (isFirst && !noFollow && index === 2) throw new ConnectError("told by the server", Code.Unavailable);
          }
        },
      } as never);
    },
  });
  const server = await startFakeServer(adapter);
  return Object.assign(server, { cursors });
}

function* anotherMajor(): Generator<Message> {
  for (const major of [1, 2, 1]) yield event(major, "turn.paused", { case: "turnPaused", value: {} }, { version: { major }, stream: streamOf(ANOTHER_MAJOR) });
}

function tooEarly(): ConnectError {
  const value = { code: NEWER.code, reason: "TOO_EARLY", message: "come back later", origin: "control-plane", metadata: { when: "tomorrow" } };
  return new ConnectError(value.message, Code.FailedPrecondition, undefined, [{ desc: newer.forgeError, value }]);
}

function streamOf(id: string) {
  return { kind: StreamKind.SESSION, id };
}

function event(seq: number, kind: string, payload: object, more: object = {}): Message {
  const envelope = { protocol: "forge.event", version: { major: 1, minor: 99 }, stream: streamOf(NEWER_SESSION), seq: BigInt(seq), kind, payload };
  return response({ case: "event", value: { ...envelope, ...more } });
}

function response(kind: object): Message {
  return create(newer.subscribeEventsResponse, { kind });
}
