import type { Socket } from "node:net";
import { setTimeout as delay } from "node:timers/promises";
import type { ForgeError } from "@forge/protocol";
import { EventService } from "@forge/protocol/event";
import { SessionService } from "@forge/protocol/session";
import { expect } from "vitest";
import { refusal } from "../../../harness/refusal.ts";
import { sessionStream, until } from "../../../harness/work.ts";
import type { SuiteClient, SuiteStream } from "../client.ts";
import { type FakeServer, startFakeListener } from "../fakes/fake-server.ts";
import { FAKE_ID, startMisbehavingServer } from "../fakes/misbehaving-server.ts";
import { LATE_MS, type MisbehaviourName } from "../fakes/misbehaviours.ts";
import { CURSORS_EXPECTED, startPassingTroubles, TROUBLE_COUNT } from "../fakes/passing-troubles.ts";
import type { Scenario, World } from "../scenario.ts";
import { accepted, refused } from "../steps/outcomes.ts";
import { wholeOf } from "../steps/streams.ts";

const { getSessionSnapshot, startTurn } = SessionService.method;
const { subscribeEvents } = EventService.method;
const METHODS = [getSessionSnapshot, subscribeEvents];

/** By then a client that does not give up by itself hangs. */
const HANG_MS = 10_000;
const DEADLINE_MS = 300;
/** By then what a client has open is closed. */
const CLOSE_MS = 3_000;

/** What a call, or a stream after so many messages, ends with: one of these. */
interface Expected {
  readonly errors: readonly string[];
  readonly messages: number;
}

/** An error that came from no server, and may be mended by another attempt. */
const LOST = "STORAGE_ERROR TRANSPORT, retryable";
/** What this side refuses to read, however often it comes. */
const TOO_LARGE = "RESOURCE_EXHAUSTED";
const LATE = "DEADLINE_EXCEEDED";

function named(error: ForgeError | undefined): string {
  if (error === undefined) return "the end";
  return `${refusal(error)}${error.detail.retryable ? ", retryable" : ""}`;
}

/** All of a stream, and its end; tells when the first message has come. */
async function readAll<T>(stream: SuiteStream<T>, heard?: () => void): Promise<{ readonly messages: readonly T[]; readonly error?: ForgeError }> {
  const first: { readonly message?: T; readonly error?: ForgeError } = await stream.next();
  heard?.();
  if (first.message === undefined) return { messages: [], error: first.error };
  const { messages, error } = await wholeOf(stream);
  return { messages: [first.message, ...messages], error };
}

/** Makes a call and opens a stream, and looks at what they end with. */
async function expectOutcomes(client: SuiteClient, { errors, messages }: Expected, timeoutMs: number, heard?: () => void): Promise<void> {
  const [call, stream] = await Promise.all([
    refused(client.call(getSessionSnapshot, { sessionId: FAKE_ID }, { timeoutMs })),
    readAll(client.open(subscribeEvents, { streams: [{ stream: sessionStream(FAKE_ID) }] }, { timeoutMs }), heard),
  ]);
  expect(errors, "of a call").toContain(named(call));
  expect(errors, "of a stream").toContain(named(stream.error));
  expect(stream.messages).toHaveLength(messages);
}

/** Nothing of a client is open once it is closed. */
async function expectNoLeak(client: SuiteClient, server: Pick<FakeServer, "connections">): Promise<void> {
  await client.close();
  await until("all of the client's connections are closed", () => server.connections === 0, CLOSE_MS);
}

/** A server that answers badly. */
function misbehaving(does: string, misbehaviour: MisbehaviourName, expected: Expected, timeoutMs = HANG_MS): Scenario {
  return {
    group: "A misbehaving server",
    name: `a server that ${does} gives a typed error, no hang and no leak`,
    methods: METHODS,
    bringsServer: true,
    breaksServer: true,
    run: async (world) => {
      const server = await startMisbehavingServer(misbehaviour);
      world.defer(() => server.close());
      const client = await world.open({ url: server.url });
      await expectOutcomes(client, expected, timeoutMs, server.heard);
      await until("no call is open any more", () => server.calls === 0, CLOSE_MS);
      await expectNoLeak(client, server);
    },
  };
}

/** A server that speaks no HTTP. */
function unspoken(does: string, handle: (socket: Socket) => void, expected: Expected, timeoutMs = HANG_MS): Scenario {
  return {
    group: "A misbehaving server",
    name: `a server that ${does} gives a typed error, no hang and no leak`,
    methods: METHODS,
    bringsServer: true,
    breaksServer: true,
    run: async (world) => {
      const server = await startFakeListener(handle);
      world.defer(() => server.close());
      const client = await world.open({ url: server.url });
      await expectOutcomes(client, expected, timeoutMs);
      await expectNoLeak(client, server);
    },
  };
}

async function answersLate(world: World): Promise<void> {
  const server = await startMisbehavingServer("answersLate");
  world.defer(() => server.close());
  const client = await world.open({ url: server.url });
  await expectOutcomes(client, { errors: [LATE], messages: 1 }, DEADLINE_MS, server.heard);
  // What comes now is for nobody: not for the next call either, which has time to wait.
  await delay(LATE_MS - DEADLINE_MS);
  const { session } = await accepted(client.call(getSessionSnapshot, { sessionId: FAKE_ID }, { timeoutMs: HANG_MS }));
  expect(session?.sessionId).toBe(FAKE_ID);
  await until("no call is open any more", () => server.calls === 0, CLOSE_MS);
  await expectNoLeak(client, server);
}

async function getsOverTroubles(world: World): Promise<void> {
  const server = await startPassingTroubles();
  world.defer(() => server.close());
  const client = await world.open({ url: server.url });
  const { messages, error } = await wholeOf(
    client.open(subscribeEvents, { streams: [{ stream: sessionStream(FAKE_ID) }], noFollow: true }, { resume: true, timeoutMs: 20_000 }),
  );
  expect(error).toBeUndefined();
  const seqs = messages.flatMap(({ kind }) => (kind.case === "event" ? [Number(kind.value.seq)] : []));
  expect(seqs).toStrictEqual([1, 2, 3]);
  expect(server.cursors).toStrictEqual(CURSORS_EXPECTED);
  expect(messages.filter(({ kind }) => kind.case === "caughtUp")).toHaveLength(1);
  await expectNoLeak(client, server);
}

async function repeatsCommand(world: World): Promise<void> {
  const server = await startPassingTroubles();
  world.defer(() => server.close());
  const client = await world.open({ url: server.url });
  const header = { version: { major: 1, minor: 0 }, commandId: "once-and-again" };
  const request = { header, sessionId: FAKE_ID, input: [{ kind: { case: "text" as const, value: { text: "hello" } } }] };
  const answer = await accepted(client.call(startTurn, request, { retry: true, timeoutMs: 20_000 }));
  expect(answer.turnId).toBe(FAKE_ID);
  expect(server.commandIds).toStrictEqual(Array.from({ length: TROUBLE_COUNT + 1 }, () => header.commandId));
  await expectNoLeak(client, server);
}

const GARBAGE = Buffer.alloc(64, 0xfe);

export const SCENARIOS: readonly Scenario[] = [
  misbehaving("cuts its connection in the middle of a message", "cutsMessage", { errors: [LOST], messages: 1 }),
  misbehaving("leaves out the end of its answer, or the trailers", "leavesOutEnd", { errors: [LOST], messages: 1 }),
  misbehaving("is unavailable", "isUnavailable", { errors: [LOST], messages: 0 }),
  misbehaving("has a proxy before it that shows an error page", "showsErrorPage", { errors: [LOST], messages: 0 }),
  // Where messages have frames, the first characters of a page may be read as the length of one.
  misbehaving("answers with a page instead of a message", "showsPage", { errors: [LOST, TOO_LARGE], messages: 0 }),
  misbehaving("answers with garbage instead of a message", "sendsGarbage", { errors: [LOST], messages: 1 }),
  misbehaving("says that a message is compressed which is not", "liesAboutCompression", { errors: [LOST], messages: 1 }),
  // A client may refuse it at once, or wait for what never comes whole.
  misbehaving("promises a message of 4 GiB", "promisesTooMuch", { errors: [TOO_LARGE, LOST], messages: 1 }),
  misbehaving("falls silent until the deadline", "fallsSilent", { errors: [LATE], messages: 1 }, DEADLINE_MS),
  {
    group: "A misbehaving server",
    name: "a server that answers after the deadline gives a typed error, and the late answer is taken for no other",
    methods: METHODS,
    bringsServer: true,
    breaksServer: true,
    run: answersLate,
  },
  unspoken("says something else than HTTP", (socket) => socket.once("data", () => socket.end(GARBAGE)), { errors: [LOST], messages: 0 }),
  unspoken("ends every connection at once", (socket) => socket.destroy(), { errors: [LOST], messages: 0 }),
  unspoken("takes connections and says nothing", (socket) => socket.resume(), { errors: [LATE], messages: 0 }, DEADLINE_MS),
  {
    group: "A misbehaving server",
    name: "a subscription that reconnects by itself gets over each of these troubles, and misses nothing",
    methods: [subscribeEvents],
    bringsServer: true,
    breaksServer: true,
    run: getsOverTroubles,
  },
  {
    group: "A misbehaving server",
    name: "a command that is made again over each of these troubles has the same id every time",
    methods: [startTurn],
    bringsServer: true,
    breaksServer: true,
    run: repeatsCommand,
  },
];
