import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import { inspect } from "node:util";
import { toBinary } from "@bufbuild/protobuf";
import { delta, finish, statusReply, streamReply } from "@forge/agent/testing";
import { commandHeader } from "@forge/client";
import { ErrorCode } from "@forge/protocol/common";
import { ApprovalService, type Event, EventSchema, EventService } from "@forge/protocol/event";
import { GetSessionSnapshotResponseSchema, ListSessionsResponseSchema, ReadConversationResponseSchema, SessionService } from "@forge/protocol/session";
import { Decision } from "@forge/protocol/tool";
import { createBuiltinTools, createSecretSource } from "@forge/tools";
import { expect } from "vitest";
import { sessionRequest, startTurn, turnEnded, useTool } from "../../../harness/work.ts";
import type { SuiteClient } from "../client.ts";
import type { Scenario, World } from "../scenario.ts";
import { accepted, refused } from "../steps/outcomes.ts";
import { callsTool, ownTool, SCRIPTED_MODEL, startOwnExecutor } from "../steps/own-executor.ts";
import { expectCompleted, followUntil, isEndOf } from "../steps/streams.ts";

const { getSessionSnapshot, listSessions, readConversation } = SessionService.method;
const { subscribeEvents } = EventService.method;
const { listPendingApprovals } = ApprovalService.method;

const ANSWERS = [subscribeEvents, getSessionSnapshot, listSessions, readConversation];

/** Bytes in which a text is found however it is encoded there: UTF-8 as it is, in hexadecimal, and in base64 at any of its three places. */
function occursIn(secret: string, bytes: Uint8Array): boolean {
  const haystack = Buffer.from(bytes);
  const text = Buffer.from(secret);
  const encoded = [0, 1, 2].map((shift) =>
    Buffer.concat([Buffer.alloc(shift), text])
      .toString("base64")
      .slice(shift === 0 ? 0 : shift + 1, -4),
  );
  return [secret, text.toString("hex"), ...encoded].some((needle) => haystack.includes(needle));
}

/** The kinds of events that a secret is in. */
function kindsWith(secret: string, events: readonly Event[]): readonly string[] {
  return [...new Set(events.filter((event) => occursIn(secret, toBinary(EventSchema, event))).map(({ kind }) => kind))];
}

type Labels = Readonly<Record<string, string>>;

/** What the case's session is listed by. */
function labelsOf({ queue }: World): Labels {
  return { case: queue };
}

/** What a client reads about a session beside its events, as bytes by method. */
async function answersAbout(client: SuiteClient, sessionId: string, labels: Labels): Promise<Readonly<Record<string, Uint8Array>>> {
  const listed = await accepted(client.call(listSessions, { labels }));
  expect(listed.sessions.map((session) => session.sessionId)).toStrictEqual([sessionId]);
  return {
    getSessionSnapshot: toBinary(GetSessionSnapshotResponseSchema, await accepted(client.call(getSessionSnapshot, { sessionId }))),
    listSessions: toBinary(ListSessionsResponseSchema, listed),
    readConversation: toBinary(ReadConversationResponseSchema, await accepted(client.call(readConversation, { sessionId }))),
  };
}

function answersWith(secret: string, answers: Readonly<Record<string, Uint8Array>>): readonly string[] {
  return Object.entries(answers).flatMap(([method, bytes]) => (occursIn(secret, bytes) ? [method] : []));
}

async function environmentStays(world: World): Promise<void> {
  const secret = `canary-${crypto.randomUUID()}`;
  const name = `FORGE_CANARY_${world.queue.replaceAll("-", "_").toUpperCase()}`;
  process.env[name] = secret;
  world.defer(() => void delete process.env[name]);
  const workspace = await mkdtemp(path.join(tmpdir(), "forge-canary-"));
  world.defer(() => rm(workspace, { recursive: true, force: true }));
  const { provider, problems } = await startOwnExecutor(world, { tools: createBuiltinTools({ workspace }) });
  provider.enqueue(callsTool("tools.shell", { command: "env; echo printed" }), streamDone());
  const sessionId = await ownSession(world, ["tools.shell"]);
  const client = await world.open();
  const turnId = await startTurn(world.reference, sessionId, "print it");
  const events = await followUntil(client, sessionId, isEndOf(turnId));
  expectCompleted(events);
  const completed = events.find(({ kind }) => kind === "tool.completed")?.payload;
  const output = completed?.case === "toolCompleted" && completed.value.output?.kind.case === "json" ? completed.value.output.kind.value : "";
  expect(output).toContain("printed");
  expect(output).toContain("PATH=");
  expect(kindsWith(secret, events)).toStrictEqual([]);
  expect(answersWith(secret, await answersAbout(client, sessionId, labelsOf(world)))).toStrictEqual([]);
  expect(provider.requests.some(({ bodyText }) => bodyText.includes(secret))).toBe(false);
  expect(inspect(problems, { depth: 10 })).not.toContain(secret);
  expect(world.serverLog()).not.toContain(secret);
}

/** How programs print a file with a secret in it. */
const PRINTED = [
  "cat key.txt",
  "base64 key.txt",
  "od -An -v -tx1 key.txt | tr -d ' \\n'",
  'printf \'{"a":"%s"}\' "$(cat key.txt)" | base64 -w 10',
  "cat key.txt >&2",
];

async function knownSecretStays(world: World): Promise<void> {
  const secret = `canary-${crypto.randomUUID()}`;
  const workspace = await mkdtemp(path.join(tmpdir(), "forge-canary-"));
  world.defer(() => rm(workspace, { recursive: true, force: true }));
  await writeFile(path.join(workspace, "key.txt"), secret);
  const echo = createServer((request, response) => response.end(`you sent ${request.headers.authorization}`));
  echo.listen(0, "127.0.0.1");
  await once(echo, "listening");
  world.defer(() => void echo.close());
  const host = `127.0.0.1:${(echo.address() as AddressInfo).port}`;
  const secrets = createSecretSource({ environment: { FORGE_SECRET_CANARY: secret } });
  const http = { hosts: { allow: [host] }, secretHosts: { canary: [host] } };
  const tools = createBuiltinTools({ workspace, secrets, http });
  const { provider, problems } = await startOwnExecutor(world, { tools });
  provider.enqueue(
    ...PRINTED.map((command) => callsTool("tools.shell", { command: `echo begin; ${command}; exit 3` })),
    callsTool("tools.http", { url: `http://${host}/`, headers: { authorization: "Bearer secret://canary" } }),
    streamDone(),
  );
  const sessionId = await ownSession(world, ["tools.shell", "tools.http"]);
  const client = await world.open();
  const turnId = await startTurn(world.reference, sessionId, "print it");
  const events = await followUntil(client, sessionId, isEndOf(turnId));
  expectCompleted(events);
  const results = events.filter(({ kind }) => kind === "tool.completed" || kind === "tool.failed");
  expect(results.map((event) => Buffer.from(toBinary(EventSchema, event)).includes("[secret]"))).toStrictEqual([...PRINTED, "http"].map(() => true));
  expect(kindsWith(secret, events)).toStrictEqual([]);
  expect(answersWith(secret, await answersAbout(client, sessionId, labelsOf(world)))).toStrictEqual([]);
  for (const { bodyText } of provider.requests) expect(occursIn(secret, Buffer.from(bodyText))).toBe(false);
  expect(inspect(problems, { depth: 10 })).not.toContain(secret);
  expect(world.serverLog()).not.toContain(secret);
}

function streamDone() {
  return streamReply([delta({ role: "assistant", content: "Done." }), finish("stop")]);
}

async function ownSession(world: World, tools: readonly string[]): Promise<string> {
  const agent = { model: SCRIPTED_MODEL, tools: [...tools] };
  const request = { header: commandHeader(), agent, queue: world.queue, policy: { defaultDecision: Decision.ALLOW }, labels: labelsOf(world) };
  return (await world.reference.session.createSession(request)).sessionId;
}

async function keyStays(world: World): Promise<void> {
  const apiKey = `sk-canary-${crypto.randomUUID()}`;
  const { provider, problems } = await startOwnExecutor(world, { apiKey });
  const message = `Incorrect API key provided: ${apiKey}. You sent authorization: Bearer ${apiKey}`;
  provider.enqueue(statusReply(401, { error: { message, type: "invalid_request_error" } }, { "x-echo": apiKey }));
  const sessionId = await ownSession(world, []);
  const client = await world.open();
  const turnId = await startTurn(world.reference, sessionId, "hello");
  const events = await followUntil(client, sessionId, isEndOf(turnId));
  expect(events.at(-1)?.kind).toBe("turn.failed");
  // It was sent, and only where it belongs; the provider's words are told without it.
  expect(provider.requests.map(({ headers }) => headers.authorization)).toStrictEqual([`Bearer ${apiKey}`]);
  expect(provider.requests[0]?.bodyText).not.toContain(apiKey);
  const failed = events.at(-1)?.payload;
  expect(failed?.case === "turnFailed" ? failed.value.error?.message : "").toContain("Incorrect API key provided");
  expect(kindsWith(apiKey, events)).toStrictEqual([]);
  expect(answersWith(apiKey, await answersAbout(client, sessionId, labelsOf(world)))).toStrictEqual([]);
  expect(inspect(problems, { depth: 10 })).not.toContain(apiKey);
  expect(world.serverLog()).not.toContain(apiKey);
}

async function credentialsStay(world: World): Promise<void> {
  const { sessionId } = await world.reference.session.createSession({ ...sessionRequest(), labels: labelsOf(world) });
  const turnId = await startTurn(world.reference, sessionId, useTool("test.append", {}));
  await turnEnded(world.reference, sessionId, turnId);
  const client = await world.open();
  const events = await followUntil(client, sessionId, isEndOf(turnId));
  const answers = await answersAbout(client, sessionId, labelsOf(world));
  for (const secret of [world.token, world.workerToken]) {
    expect(kindsWith(secret, events)).toStrictEqual([]);
    expect(answersWith(secret, answers)).toStrictEqual([]);
    expect(world.serverLog()).not.toContain(secret);
  }
}

async function wrongTokenIsNotEchoed(world: World): Promise<void> {
  const token = `forge_canary_${crypto.randomUUID().replaceAll("-", "")}`;
  const client = await world.open({ token });
  const error = await refused(client.call(listSessions, {}));
  expect(error.code).toBe(ErrorCode.UNAUTHENTICATED);
  expect(inspect(error, { depth: 10 })).not.toContain(token);
  expect(world.serverLog()).not.toContain(token);
}

/** Where what a model, a tool or a person says is kept, since it is what the session is about. */
const SAID = new Set([
  "message.added",
  "turn.output_delta",
  "model.completed",
  "tool.requested",
  "tool.output_delta",
  "tool.completed",
  "tool.failed",
  "turn.completed",
]);

async function saidStaysWhereItWasSaid(world: World): Promise<void> {
  const [inArguments, inOutput, inError] = ["argument", "output", "error"].map((where) => `canary-${where}-${crypto.randomUUID()}`) as [string, string, string];
  const tools = [
    ownTool("test.own", async () => ({ secret: inOutput })),
    ownTool("test.fails", async () => {
      throw new Error(`it went wrong with ${inError}`);
    }),
  ];
  const { provider, problems } = await startOwnExecutor(world, { tools });
  provider.enqueue(callsTool("test.own", { password: inArguments }), callsTool("test.fails", {}), streamDone());
  const sessionId = await ownSession(world, ["test.own", "test.fails"]);
  const client = await world.open();
  const turnId = await startTurn(world.reference, sessionId, "hello");
  const events = await followUntil(client, sessionId, isEndOf(turnId));
  expectCompleted(events);
  const answers = await answersAbout(client, sessionId, labelsOf(world));
  const pending = await accepted(client.call(listPendingApprovals, {}));
  for (const secret of [inArguments, inOutput, inError]) {
    expect(kindsWith(secret, events).filter((kind) => !SAID.has(kind))).toStrictEqual([]);
    expect(answersWith(secret, answers).filter((method) => method !== "readConversation")).toStrictEqual([]);
    expect(inspect(problems, { depth: 10 })).not.toContain(secret);
    expect(world.serverLog()).not.toContain(secret);
    expect(inspect(pending, { depth: 10 })).not.toContain(secret);
  }
}

export const SCENARIOS: readonly Scenario[] = [
  {
    group: "Secrets",
    name: "a secret in the executor's environment reaches no tool, event, answer or provider",
    methods: ANSWERS,
    run: environmentStays,
  },
  {
    group: "Secrets",
    name: "a secret that the executor knows, printed, encoded, sent for a call's arguments or in an error, is in no event, answer or request to the provider",
    methods: ANSWERS,
    run: knownSecretStays,
  },
  { group: "Secrets", name: "a provider's key is in no event, answer or error, also where the provider says it again", methods: ANSWERS, run: keyStays },
  { group: "Secrets", name: "the tokens of a client and of a worker are in no event and no answer", methods: ANSWERS, run: credentialsStay },
  {
    group: "Secrets",
    name: "a token that is not known is not said again in the error",
    methods: [listSessions],
    bringsServer: true,
    run: wrongTokenIsNotEchoed,
  },
  {
    group: "Secrets",
    name: "a secret in a call's arguments, output or error is where it was said and nowhere else",
    methods: [...ANSWERS, listPendingApprovals],
    run: saidStaysWhereItWasSaid,
  },
];
