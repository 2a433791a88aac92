import { createHash } from "node:crypto";
import { setImmediate as nextTurn } from "node:timers/promises";
import { delta, finish } from "@forge/agent/testing";
import { commandHeader } from "@forge/client";
import { ArtifactService } from "@forge/protocol/artifact";
import { ErrorCode } from "@forge/protocol/common";
import { EventService } from "@forge/protocol/event";
import { SessionService } from "@forge/protocol/session";
import { Decision } from "@forge/protocol/tool";
import { expect } from "vitest";
import { createSession, say, sessionRequest, startTurn, turnEnded } from "../../../harness/work.ts";
import type { Scenario, World } from "../scenario.ts";
import { atMost } from "../steps/at-most.ts";
import { accepted, refused } from "../steps/outcomes.ts";
import { SCRIPTED_MODEL, startOwnExecutor } from "../steps/own-executor.ts";
import { expectCompleted, followUntil, isEndOf, wholeOf } from "../steps/streams.ts";

const { createSession: create, getSessionSnapshot, listSessions, readConversation, startTurn: start } = SessionService.method;
const { getArtifact, putArtifact } = ArtifactService.method;
const { subscribeEvents } = EventService.method;

/** What a layer on the way may be tempted to change. */
const TEXTS: readonly string[] = [
  "line \u2028 and paragraph \u2029 separators",
  "\ufeffbegins with a mark",
  "a family 👩‍👩‍👧‍👦, a flag 🏴󠁧󠁢󠁳󠁣󠁴󠁿, and e\u0301 beside é",
  "control \u0001 \u0008 \u001b \u007f \u0085, and a tab\tand\r\nlines\rof\nall kinds",
  "  spaces at both ends  ",
  'a quote " a backslash \\ an escape \\u0000 and </script>',
  "عربي\u202e and \u2066direction\u2069",
  "\ufffd\ufffe\uffff noncharacters \u{10ffff}",
  "%2F%00 +&=;",
  // The most that fits with the others, each character as long as any.
  "🐢".repeat(10_000),
];

async function saysTexts(world: World): Promise<void> {
  const client = await world.open();
  const sessionId = await createSession(world.reference, { agent: { model: "demo/echo" } });
  const { turnId } = await accepted(client.call(start, { header: commandHeader(), sessionId, input: TEXTS.map(say) }));
  const events = await followUntil(client, sessionId, isEndOf(turnId));
  expectCompleted(events);
  const added = events.find(({ kind }) => kind === "message.added")?.payload;
  expect(textsOf(added?.case === "messageAdded" ? added.value.message?.parts : undefined)).toStrictEqual(TEXTS);
  const { messages } = await accepted(client.call(readConversation, { sessionId }));
  expect(textsOf(messages[0]?.parts)).toStrictEqual(TEXTS);
  expect(textsOf(messages[1]?.parts)).toStrictEqual([TEXTS.join("\n")]);
}

function textsOf(parts: readonly { readonly kind: { readonly case?: string | undefined; readonly value?: unknown } }[] = []): readonly unknown[] {
  return parts.map(({ kind }) => (kind.case === "text" ? (kind.value as { readonly text: string }).text : kind.case));
}

async function refusesNul(world: World): Promise<void> {
  const client = await world.open();
  const sessionId = await createSession(world.reference);
  const request = { ...sessionRequest(), header: commandHeader() };
  for (const title of ["a\0b", "\0"]) expect((await refused(client.call(create, { ...request, title }))).code).toBe(ErrorCode.VALIDATION);
  for (const labels of [{ "a\0b": "c" }, { a: "b\0c" }] as Record<string, string>[])
    expect((await refused(client.call(create, { ...request, labels }))).code).toBe(ErrorCode.VALIDATION);
  const error = await refused(client.call(start, { header: commandHeader(), sessionId, input: [say("a\0b")] }));
  expect(error.code).toBe(ErrorCode.VALIDATION);
  expect((await world.reference.session.getSessionSnapshot({ sessionId })).session?.seq).toBe(1n);
}

const TEN_MIB = 10 * 1024 * 1024;
/** A server that is busy with the bytes of all clients at once would not hear its workers in time. */
const keptAtMost = atMost(3);
const refusedAtMost = atMost(3);

async function keepsTenMib(world: World): Promise<void> {
  const client = await world.open();
  // Characters of three bytes, so that pieces end within one.
  const line = `${world.queue} größer als €uro\n`;
  const content = Buffer.from(line.repeat(Math.ceil(TEN_MIB / Buffer.byteLength(line)))).subarray(0, TEN_MIB);
  const sha256 = createHash("sha256").update(content).digest("hex");
  const { artifact } = await accepted(client.call(putArtifact, { content, mediaType: "text/plain" }));
  expect(artifact).toMatchObject({ sha256, size: BigInt(TEN_MIB) });
  const hash = createHash("sha256");
  const { messages, error } = await wholeOf(client.open(getArtifact, { sha256 }));
  expect(error).toBeUndefined();
  for (const piece of messages) hash.update(piece.content);
  expect(hash.digest("hex")).toBe(sha256);
}

async function refusesTenMib(world: World): Promise<void> {
  const client = await world.open();
  const sessionId = await createSession(world.reference);
  const error = await refused(client.call(start, { header: commandHeader(), sessionId, input: [say("ä".repeat(TEN_MIB / 2))] }));
  expect(error).toMatchObject({ code: ErrorCode.VALIDATION, detail: { retryable: false } });
  expect((await accepted(client.call(getSessionSnapshot, { sessionId }))).session?.seq).toBe(1n);
}

/** Pieces as providers really send them: an emoji's halves in two, the bytes of one in two, and a family in four. */
const SPLIT_TEXT = "Look: 😀 and 🐢, then 👩‍👩‍👧.";

async function splitsEmoji(world: World): Promise<void> {
  const { provider } = await startOwnExecutor(world);
  provider.enqueue(async (response) => {
    response.writeHead(200, { "content-type": "text/event-stream" });
    const bytes = Buffer.from(
      // The escapes of the halves of 😀.
      [
        delta({ role: "assistant", content: "Look: \ud83d" }),
        delta({ content: "\ude00 and 🐢, then 👩‍" }),
        delta({ content: "👩‍" }),
        delta({ content: "👧." }),
      ].join("") + finish("stop"),
    );
    // Amid the four bytes of 🐢.
    const middle = bytes.indexOf(Buffer.from("🐢")) + 2;
    response.write(bytes.subarray(0, middle));
    await nextTurn();
    response.end(bytes.subarray(middle));
  });
  const { sessionId } = await world.reference.session.createSession({ header: commandHeader(), agent: { model: SCRIPTED_MODEL }, queue: world.queue });
  const client = await world.open();
  const turnId = await startTurn(world.reference, sessionId, "look");
  const events = await followUntil(client, sessionId, isEndOf(turnId));
  expectCompleted(events);
  let text = "";
  for (const { payload } of events) {
    if (payload.case !== "turnOutputDelta" || payload.value.channel.case !== "text") continue;
    expect(Number(payload.value.offset)).toBe(text.length);
    expect(payload.value.channel.value.isWellFormed()).toBe(true);
    text += payload.value.channel.value;
  }
  // Pieces may be gone once the whole is there, but then all of them.
  if (text !== "") expect(text).toBe(SPLIT_TEXT);
  const completed = events.find(({ kind }) => kind === "model.completed")?.payload;
  expect(textsOf(completed?.case === "modelCompleted" ? completed.value.parts : undefined)).toStrictEqual([SPLIT_TEXT]);
  const { messages } = await accepted(client.call(readConversation, { sessionId }));
  expect(textsOf(messages[1]?.parts)).toStrictEqual([SPLIT_TEXT]);
}

const DEPTH = 500;
/** JSON that is easily changed on its way: depth, keys that objects have by themselves, an empty key, half a character's escape, digits beyond a double's. */
const ARGUMENTS = `{"__proto__":{"constructor":1}, "":"","🙂":${"[".repeat(DEPTH)}${"]".repeat(DEPTH)},"half":"\\ud800","n":12345678901234567890.10,"n":1e400,"z":"\\u0000"}`;

async function keepsArguments(world: World): Promise<void> {
  const client = await world.open();
  const sessionId = await createSession(world.reference);
  const turnId = await startTurn(world.reference, sessionId, `use the test.append tool with ${ARGUMENTS}`);
  await turnEnded(world.reference, sessionId, turnId);
  const events = await followUntil(client, sessionId, isEndOf(turnId));
  expectCompleted(events);
  const requested = events.find(({ kind }) => kind === "tool.requested")?.payload;
  expect(requested?.value).toMatchObject({ argumentsJson: ARGUMENTS });
  expect(events.filter(({ kind }) => kind === "tool.completed")).toHaveLength(1);
  const { messages } = await accepted(client.call(readConversation, { sessionId }));
  const calls = messages.flatMap(({ parts }) => parts.flatMap(({ kind }) => (kind.case === "toolCall" ? [kind.value.argumentsJson] : [])));
  expect(calls).toStrictEqual([ARGUMENTS]);
}

async function keepsToolOutput(world: World): Promise<void> {
  const client = await world.open();
  const message = "\\ud800 \u2028 👩‍👩‍👧 \\u0000";
  const sessionId = await createSession(world.reference, { agent: { model: "demo/chat", tools: ["tools.echo"] }, policy: { defaultDecision: Decision.ALLOW } });
  const turnId = await startTurn(world.reference, sessionId, `use the tools.echo tool with {"message":"${message}"}`);
  const events = await followUntil(client, sessionId, isEndOf(turnId));
  expectCompleted(events);
  const completed = events.find(({ kind }) => kind === "tool.completed")?.payload;
  const output = completed?.case === "toolCompleted" ? completed.value.output?.kind : undefined;
  expect(output?.case === "json" ? JSON.parse(output.value) : undefined).toStrictEqual({ message: JSON.parse(`"${message}"`) });
}

/** A map without its order, and with every key that it has. */
function entriesOf(map: Readonly<Record<string, string>> = {}): readonly string[] {
  return Object.entries(map)
    .map((entry) => JSON.stringify(entry))
    .toSorted();
}

async function keepsLabels(world: World): Promise<void> {
  const client = await world.open();
  const labels = Object.fromEntries([
    ["__proto__", "x"],
    ["constructor", world.queue],
    ["toString", ""],
    ["$typeName", "t"],
    ["🙂", "👩‍👩‍👧"],
    ["a b/c.d", " "],
  ]);
  const request = sessionRequest();
  const { sessionId } = await accepted(client.call(create, { ...request, labels }));
  const { session } = await accepted(client.call(getSessionSnapshot, { sessionId }));
  expect(entriesOf(session?.labels)).toStrictEqual(entriesOf(labels));
  const found = await accepted(client.call(listSessions, { labels }));
  expect(found.sessions.map((listed) => listed.sessionId)).toStrictEqual([sessionId]);
  expect(entriesOf(found.sessions[0]?.labels)).toStrictEqual(entriesOf(labels));
  expect((await refused(client.call(create, { ...request, header: commandHeader(), labels: { "": "x" } }))).code).toBe(ErrorCode.VALIDATION);
}

export const SCENARIOS: readonly Scenario[] = [
  {
    group: "Payloads",
    name: "a text comes back as it was sent: separators, marks, families, controls, noncharacters, 40,000 bytes of emoji",
    methods: [start, subscribeEvents, readConversation],
    run: saysTexts,
  },
  { group: "Payloads", name: "a NUL is refused where it can't be kept, and has no effect", methods: [create, start], run: refusesNul },
  {
    group: "Payloads",
    name: "10 MiB of text are kept as an artifact",
    methods: [putArtifact, getArtifact],
    run: (world) => keptAtMost(() => keepsTenMib(world)),
  },
  {
    group: "Payloads",
    name: "10 MiB of text are refused as a turn's input",
    methods: [start, getSessionSnapshot],
    run: (world) => refusedAtMost(() => refusesTenMib(world)),
  },
  { group: "Payloads", name: "an emoji that a provider splits over pieces comes whole", methods: [subscribeEvents, readConversation], run: splitsEmoji },
  {
    group: "Payloads",
    name: "a call's arguments are kept to the letter: depth, odd keys, escapes, digits",
    methods: [subscribeEvents, readConversation],
    run: keepsArguments,
  },
  {
    group: "Payloads",
    name: "half a character and a NUL that are escaped in a tool's output are still that",
    methods: [subscribeEvents],
    run: keepsToolOutput,
  },
  {
    group: "Payloads",
    name: "labels with odd keys and empty values are kept and found, and an empty key is refused",
    methods: [create, getSessionSnapshot, listSessions],
    run: keepsLabels,
  },
];
