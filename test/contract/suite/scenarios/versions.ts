import { type DescMessage, equals, fromBinary, type Message, toBinary } from "@bufbuild/protobuf";
import { ErrorCode } from "@forge/protocol/common";
import { ApprovalService, EventService, SubscribeEventsResponseSchema } from "@forge/protocol/event";
import { GetSessionSnapshotResponseSchema, SessionService } from "@forge/protocol/session";
import { WorkflowService } from "@forge/protocol/workflow";
import { expect } from "vitest";
import { sessionRequest, sessionStream, threeSteps } from "../../../harness/work.ts";
import type { SuiteClient } from "../client.ts";
import { NEWER, newer } from "../fakes/newer-contract.ts";
import { ANOTHER_MAJOR, NEWER_SESSION, type NewerServer, newerSnapshot, newerStream, startNewerServer } from "../fakes/newer-server.ts";
import type { Scenario, World } from "../scenario.ts";
import { accepted, refusalIn, refused } from "../steps/outcomes.ts";
import { eventsOf, wholeOf } from "../steps/streams.ts";

const { cancelTurn, createSession, getSessionSnapshot, startTurn } = SessionService.method;
const { subscribeEvents } = EventService.method;
const { resolveApproval } = ApprovalService.method;
const { startRun } = WorkflowService.method;

const NOBODY = "00000000-0000-7000-8000-000000000000";
const WAIT_MS = 20_000;

async function withNewer(world: World): Promise<{ readonly server: NewerServer; readonly client: SuiteClient }> {
  const server = await startNewerServer();
  world.defer(() => server.close());
  return { server, client: await world.open({ url: server.url }) };
}

/** A message of this contract, read as the newer server means it, is what that one sent. */
function expectKept(schema: DescMessage, message: Message, newerSchema: DescMessage, sent: Message): void {
  const kept = fromBinary(newerSchema, toBinary(schema, message));
  expect(
    equals(newerSchema, kept, sent),
    `${schema.typeName} has lost something: ${JSON.stringify(message, (_, value) => (typeof value === "bigint" ? String(value) : value))}`,
  ).toBe(true);
}

export const SCENARIOS: readonly Scenario[] = [
  {
    group: "Versions",
    name: "a newer server's fields and enum values do not keep a client from reading the rest",
    methods: [getSessionSnapshot],
    bringsServer: true,
    run: async (world) => {
      const { client } = await withNewer(world);
      const { session } = await accepted(client.call(getSessionSnapshot, { sessionId: NEWER_SESSION }, { timeoutMs: WAIT_MS }));
      expect(session).toMatchObject({ sessionId: NEWER_SESSION, seq: 4n, title: "Newer", turnCount: 1 });
    },
  },
  {
    group: "Versions",
    name: "a newer server's fields and enum values are kept",
    methods: [getSessionSnapshot],
    bringsServer: true,
    run: async (world) => {
      const { client } = await withNewer(world);
      const response = await accepted(client.call(getSessionSnapshot, { sessionId: NEWER_SESSION }, { timeoutMs: WAIT_MS }));
      expect(response.session?.status).toBe(NEWER.status);
      expectKept(GetSessionSnapshotResponseSchema, response, newer.getSessionSnapshotResponse, newerSnapshot);
    },
  },
  {
    group: "Versions",
    name: "a subscription passes over what a newer server says of a kind that is new, and goes on",
    methods: [subscribeEvents],
    bringsServer: true,
    run: async (world) => {
      const { client } = await withNewer(world);
      const { messages, error } = await wholeOf(
        client.open(subscribeEvents, { streams: [{ stream: sessionStream(NEWER_SESSION) }], noFollow: true }, { timeoutMs: WAIT_MS }),
      );
      expect(error).toBeUndefined();
      const events = eventsOf(messages);
      expect(events.map(({ seq, kind }) => `${seq} ${kind}`)).toStrictEqual(["1 session.created", "2 turn.started", "3 session.renamed", "4 turn.completed"]);
      expect(events[3]?.payload).toMatchObject({ case: "turnCompleted", value: { textPreview: "done" } });
      expect(messages.filter(({ kind }) => kind.case === "caughtUp")).toHaveLength(1);
    },
  },
  {
    group: "Versions",
    name: "what a newer server says of a kind that is new is kept",
    methods: [subscribeEvents],
    bringsServer: true,
    run: async (world) => {
      const { client } = await withNewer(world);
      const { messages } = await wholeOf(
        client.open(subscribeEvents, { streams: [{ stream: sessionStream(NEWER_SESSION) }], noFollow: true }, { timeoutMs: WAIT_MS }),
      );
      expect(messages).toHaveLength(newerStream.length);
      for (const [index, message] of messages.entries())
        expectKept(SubscribeEventsResponseSchema, message, newer.subscribeEventsResponse, newerStream[index] as Message);
    },
  },
  {
    group: "Versions",
    name: "a subscription that reconnects by itself goes on behind an event of a kind that is new",
    methods: [subscribeEvents],
    bringsServer: true,
    run: async (world) => {
      const { client, server } = await withNewer(world);
      const stream = client.open(subscribeEvents, { streams: [{ stream: sessionStream(NEWER_SESSION) }] }, { resume: true, timeoutMs: WAIT_MS });
      const seqs: number[] = [];
      while (seqs.at(-1) !== 4) {
        const read = await stream.next();
        if (read.message === undefined) throw read.error ?? new Error(`the subscription ended after ${seqs.join(", ")}`);
        if (read.message.kind.case === "event") seqs.push(Number(read.message.kind.value.seq));
      }
      stream.cancel();
      expect(seqs).toStrictEqual([1, 2, 3, 4]);
      expect(server.cursors.slice(0, 2)).toStrictEqual([0, 3]);
    },
  },
  {
    group: "Versions",
    name: "an error with a code that is new is that error, with all that it says",
    methods: [cancelTurn],
    bringsServer: true,
    run: async (world) => {
      const { client } = await withNewer(world);
      const header = { version: { major: 1, minor: 0 }, commandId: "early" };
      const error = await refused(client.call(cancelTurn, { header, sessionId: NEWER_SESSION, turnId: NOBODY }, { timeoutMs: WAIT_MS }));
      expect(error).toMatchObject({ code: NEWER.code, reason: "TOO_EARLY", message: "come back later", detail: { metadata: { when: "tomorrow" } } });
    },
  },
  ...[false, true].map(
    (resume): Scenario => ({
      group: "Versions",
      name: `a subscription${resume ? " that reconnects by itself" : ""} ends with unsupported_version at an event of a larger major`,
      methods: [subscribeEvents],
      bringsServer: true,
      run: async (world) => {
        const { client } = await withNewer(world);
        const { messages, error } = await wholeOf(
          client.open(subscribeEvents, { streams: [{ stream: sessionStream(ANOTHER_MAJOR) }] }, { resume, timeoutMs: WAIT_MS }),
        );
        expect(error?.code).toBe(ErrorCode.UNSUPPORTED_VERSION);
        expect(eventsOf(messages).map(({ seq }) => Number(seq))).toStrictEqual([1]);
      },
    }),
  ),
  {
    group: "Versions",
    name: "a command of a larger minor is accepted",
    methods: [createSession],
    run: async (world) => {
      const client = await world.open();
      const { sessionId } = await accepted(
        client.call(createSession, { ...sessionRequest(), header: { version: { major: 1, minor: 99 }, commandId: world.queue } }),
      );
      expect((await world.reference.session.getSessionSnapshot({ sessionId })).session?.sessionId).toBe(sessionId);
    },
  },
  {
    group: "Versions",
    name: "a command of another major is refused with unsupported_version, and has no effect",
    methods: [createSession, startTurn, cancelTurn, resolveApproval, startRun],
    run: async (world) => {
      const client = await world.open();
      const { sessionId } = await world.reference.session.createSession(sessionRequest());
      for (const major of [0, 2]) {
        const header = { version: { major, minor: 0 }, commandId: `${world.queue}-${major}` };
        const input = [{ kind: { case: "text" as const, value: { text: "hello" } } }];
        const outcomes = await Promise.all([
          refusalIn(client.call(createSession, { ...sessionRequest(), header })),
          refusalIn(client.call(startTurn, { header, sessionId, input })),
          refusalIn(client.call(cancelTurn, { header, sessionId, turnId: NOBODY })),
          refusalIn(client.call(resolveApproval, { header, stream: sessionStream(sessionId), approvalId: NOBODY, decision: 1 })),
          refusalIn(client.call(startRun, { header, definition: threeSteps() })),
        ]);
        expect(outcomes).toStrictEqual(outcomes.map(() => "UNSUPPORTED_VERSION"));
      }
      expect((await world.reference.session.getSessionSnapshot({ sessionId })).session?.seq).toBe(1n);
    },
  },
];
