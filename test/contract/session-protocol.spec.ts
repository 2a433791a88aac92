import { randomUUID } from "node:crypto";
import { type ConnectClient, commandHeader, createConnectClient, type ForgeClient } from "@forge/client";
import { StreamKind } from "@forge/protocol/common";
import type { Event } from "@forge/protocol/event";
import { type Message, type Session, TurnStatus } from "@forge/protocol/session";
import { Decision } from "@forge/protocol/tool";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Cluster, startCluster } from "../harness/cluster.ts";
import { refusalOf } from "../harness/refusal.ts";
import type { Service } from "../harness/service.ts";
import {
  createSession,
  eventsUntil,
  factsOf,
  kindsOf,
  type SessionOptions,
  say,
  sessionRequest,
  sessionStream,
  startTurn,
  turnEnded,
  useTool,
} from "../harness/work.ts";

const TIMES = 20;
const NOBODY = "00000000-0000-7000-8000-000000000000";

let cluster: Cluster;
let client: ConnectClient;
let executor: Service;
beforeAll(async () => {
  cluster = await startCluster();
  client = cluster.client;
  executor = cluster.executors[0] as Service;
});
afterAll(() => cluster?.close());

interface Waiting {
  readonly sessionId: string;
  readonly turnId: string;
  /** Of the approval or the question. */
  readonly id: string;
}

/** A turn that waits for a person to allow a call. */
async function waitingForApproval(): Promise<Waiting> {
  const sessionId = await createSession(client, { policy: { defaultDecision: Decision.ASK } });
  const turnId = await startTurn(client, sessionId, useTool("test.append", {}));
  const events = await eventsUntil(client, sessionStream(sessionId), (event) => event.kind === "tool.approval_required");
  const last = events.at(-1)?.payload;
  if (last?.case !== "toolApprovalRequired") throw new Error("there is no approval");
  return { sessionId, turnId, id: last.value.approvalId };
}

/** A turn whose model has asked a person. */
async function waitingForInput(options: SessionOptions = {}): Promise<Waiting> {
  const sessionId = await createSession(client, { agent: { model: "demo/chat", tools: ["tools.ask"] }, ...options });
  const turnId = await startTurn(client, sessionId, 'use the tools.ask tool with {"question":"Which colour?"}');
  const events = await eventsUntil(client, sessionStream(sessionId), (event) => event.kind === "turn.input_requested");
  const last = events.at(-1)?.payload;
  if (last?.case !== "turnInputRequested") throw new Error("there is no question");
  return { sessionId, turnId, id: last.value.inputId };
}

/** A session in which somebody has said something and was answered. */
async function spoken(options: SessionOptions = {}): Promise<string> {
  const sessionId = await createSession(client, options);
  await turnEnded(client, sessionId, await startTurn(client, sessionId, "hello"));
  return sessionId;
}

async function session(sessionId: string): Promise<Session> {
  const found = (await client.session.getSessionSnapshot({ sessionId })).session;
  if (found === undefined) throw new Error(`no session ${sessionId}`);
  return found;
}

const named = ({ sessionId, turnId }: Waiting) => ({ header: commandHeader(), sessionId, turnId });
const approve = ({ sessionId, id }: Waiting) =>
  client.approval.resolveApproval({ header: commandHeader(), stream: sessionStream(sessionId), approvalId: id, decision: Decision.ALLOW });
const provide = (waiting: Waiting, text: string) => client.session.provideInput({ ...named(waiting), inputId: waiting.id, text });

/** What the turn's last answer said. */
function answerOf(events: readonly Event[]): string {
  const end = events.at(-1)?.payload;
  return end?.case === "turnCompleted" ? end.value.textPreview : "";
}

async function expectSound(sessionId: string): Promise<void> {
  expect(await cluster.inspector.violations({ id: sessionId, kind: "session" }, true)).toStrictEqual([]);
}

/** Everything is stopped without a warning and started again. */
async function restartAll(): Promise<void> {
  await Promise.all([...cluster.controlPlanes, ...cluster.executors].map((service) => service.kill()));
  await Promise.all(cluster.controlPlanes.map((service) => service.start()));
  await Promise.all(cluster.executors.map((service) => service.start()));
}

interface Prepared {
  /** Sends the same command again each time; answers with the id of the stream that it is on record in. */
  readonly send: (client: ForgeClient) => Promise<{ readonly answer: object; readonly streamId: string }>;
  /** What is on record of it once. */
  readonly kind: string;
  /** Something else with the same command id. */
  readonly reuse: () => Promise<unknown>;
}

function prepared<R extends object>(
  kind: string,
  streamId: string,
  request: R,
  send: (client: ForgeClient, request: R) => Promise<object>,
  other: R,
): Prepared {
  return { kind, send: async (sender) => ({ answer: await send(sender, request), streamId }), reuse: () => send(client, other) };
}

const COMMANDS: Readonly<Record<string, () => Promise<Prepared>>> = {
  "steer turn": async () => {
    const waiting = await waitingForApproval();
    const request = { ...named(waiting), input: [say("Be quick.")] };
    return prepared("turn.steered", waiting.sessionId, request, (sender, it) => sender.session.steerTurn(it), { ...request, input: [say("Be slow.")] });
  },
  "pause turn": async () => {
    const waiting = await waitingForApproval();
    const request = named(waiting);
    return prepared("turn.paused", waiting.sessionId, request, (sender, it) => sender.session.pauseTurn(it), { ...request, turnId: NOBODY });
  },
  "continue turn": async () => {
    const waiting = await waitingForApproval();
    await client.session.pauseTurn(named(waiting));
    const request = named(waiting);
    return prepared("turn.continued", waiting.sessionId, request, (sender, it) => sender.session.continueTurn(it), { ...request, turnId: NOBODY });
  },
  "provide input": async () => {
    const waiting = await waitingForInput();
    const request = { ...named(waiting), inputId: waiting.id, text: "red" };
    return prepared("turn.input_provided", waiting.sessionId, request, (sender, it) => sender.session.provideInput(it), { ...request, text: "blue" });
  },
  "update policy": async () => {
    const sessionId = await createSession(client);
    const policy: { defaultDecision: Decision } = { defaultDecision: Decision.DENY };
    const request = { header: commandHeader(), sessionId, policy };
    const other = { ...request, policy: { defaultDecision: Decision.ASK } };
    return prepared("session.policy_updated", sessionId, request, (sender, it) => sender.session.updateSessionPolicy(it), other);
  },
  compact: async () => {
    const sessionId = await spoken();
    const request = { header: commandHeader(), sessionId, summary: "They greeted." };
    return prepared("session.compacted", sessionId, request, (sender, it) => sender.session.compactSession(it), { ...request, summary: "They spoke." });
  },
  fork: async () => {
    const sessionId = await spoken();
    const request = { header: commandHeader(), sessionId, title: "Another way" };
    return {
      kind: "session.forked",
      send: async (sender) => {
        const answer = await sender.session.forkSession(request);
        return { answer, streamId: answer.sessionId };
      },
      reuse: () => client.session.forkSession({ ...request, title: "Yet another" }),
    };
  },
};

describe.each(Object.keys(COMMANDS))("the command to %s", (name) => {
  const prepare = COMMANDS[name] as () => Promise<Prepared>;

  it(`has one effect and one answer when it comes ${TIMES} times at once, and once more`, async () => {
    const { send, kind, reuse } = await prepare();
    const answers = await Promise.all(Array.from({ length: TIMES }, () => send(client)));
    answers.push(await send(client));
    for (const answer of answers) expect(answer).toStrictEqual(answers[0]);
    const events = await cluster.inspector.events(answers[0]?.streamId ?? "");
    expect(events.filter((event) => event.kind === kind)).toHaveLength(1);
    expect(await refusalOf(reuse())).toBe("CONFLICT COMMAND_ID_REUSED");
  });
});

it("answers every command again as it did, after a restart of everything", async () => {
  const commands = await Promise.all(Object.values(COMMANDS).map((prepare) => prepare()));
  const before = await Promise.all(commands.map(({ send }) => send(client)));
  await restartAll();
  const again = createConnectClient({ url: cluster.urls[0] as string, token: cluster.clientToken });
  try {
    expect(await Promise.all(commands.map(({ send }) => send(again)))).toStrictEqual(before);
  } finally {
    await again.close();
  }
  for (const [index, { kind }] of commands.entries()) {
    const events = await cluster.inspector.events(before[index]?.streamId ?? "");
    expect(events.filter((event) => event.kind === kind)).toHaveLength(1);
  }
});

describe("a command that does not fit the session's state", () => {
  it("is refused with the reason", async () => {
    const waiting = await waitingForApproval();
    const idle = await spoken();
    const { sessionId, turnId } = waiting;
    const input = [say("Be quick.")];
    const turn = () => named(waiting);
    const wrongTurn = () => ({ ...turn(), turnId: NOBODY });
    const refusals: readonly (readonly [string, () => Promise<unknown>])[] = [
      ["CONFLICT TURN_ACTIVE", () => client.session.startTurn({ header: commandHeader(), sessionId, input })],
      ["CONFLICT TURN_ACTIVE", () => client.session.compactSession({ header: commandHeader(), sessionId, summary: "They spoke." })],
      ["CONFLICT TURN_NOT_ACTIVE", () => client.session.steerTurn({ ...wrongTurn(), input })],
      ["CONFLICT TURN_NOT_ACTIVE", () => client.session.pauseTurn(wrongTurn())],
      ["CONFLICT TURN_NOT_ACTIVE", () => client.session.continueTurn(wrongTurn())],
      ["CONFLICT TURN_NOT_ACTIVE", () => client.session.provideInput({ ...wrongTurn(), inputId: NOBODY, text: "red" })],
      ["CONFLICT TURN_NOT_ACTIVE", () => client.session.pauseTurn({ header: commandHeader(), sessionId: idle, turnId })],
      ["CONFLICT INPUT_NOT_REQUESTED", () => client.session.provideInput({ ...turn(), inputId: NOBODY, text: "red" })],
      ["CONFLICT TURN_NOT_PAUSED", () => client.session.continueTurn(turn())],
      ["VALIDATION", () => client.session.steerTurn({ ...turn(), input: [say(" ")] })],
      ["VALIDATION", () => client.session.updateSessionPolicy({ header: commandHeader(), sessionId })],
      ["VALIDATION", () => client.session.compactSession({ header: commandHeader(), sessionId: idle, summary: " " })],
      ["VALIDATION", () => client.session.compactSession({ header: commandHeader(), sessionId: idle, summary: "They spoke.", throughSeq: 3n })],
      ["VALIDATION", () => client.session.forkSession({ header: commandHeader(), sessionId: idle, throughSeq: 10_000n })],
      ["VALIDATION", () => client.session.forkSession({ header: commandHeader(), sessionId: "no id" })],
      ["NOT_FOUND", () => client.session.forkSession({ header: commandHeader(), sessionId: NOBODY })],
      ["NOT_FOUND", () => client.session.steerTurn({ ...turn(), sessionId: NOBODY, input })],
      ["VALIDATION", () => client.session.pauseTurn({ ...turn(), header: commandHeader(" ") })],
    ];
    for (const [expected, send] of refusals) expect(await refusalOf(send())).toBe(expected);
    await client.session.pauseTurn(turn());
    expect(await refusalOf(client.session.pauseTurn(turn()))).toBe("CONFLICT TURN_PAUSED");
    await client.session.closeSession({ header: commandHeader(), sessionId: idle });
    expect(await refusalOf(client.session.compactSession({ header: commandHeader(), sessionId: idle, summary: "They spoke." }))).toBe(
      "CONFLICT SESSION_CLOSED",
    );
    expect(await refusalOf(client.session.updateSessionPolicy({ header: commandHeader(), sessionId: idle, policy: {} }))).toBe("CONFLICT SESSION_CLOSED");
  });

  it("is refused while the turn stops", async () => {
    const sessionId = await createSession(client);
    const turnId = await startTurn(client, sessionId, useTool("test.append", { hold: "before-effect" }));
    const callId = await executor.heldAt("before-effect");
    executor.freeze();
    try {
      const turn = () => ({ header: commandHeader(), sessionId, turnId });
      await client.session.cancelTurn(turn());
      expect(await refusalOf(client.session.steerTurn({ ...turn(), input: [say("Be quick.")] }))).toBe("CONFLICT TURN_CANCELLING");
      expect(await refusalOf(client.session.pauseTurn(turn()))).toBe("CONFLICT TURN_CANCELLING");
    } finally {
      executor.thaw();
    }
    executor.go(callId);
    expect((await turnEnded(client, sessionId, turnId)).at(-1)?.kind).toBe("turn.cancelled");
  });
});

describe("a turn that is steered", () => {
  it("lets the open call finish, and answers what was said before it ends", async () => {
    const sessionId = await createSession(client);
    const turnId = await startTurn(client, sessionId, useTool("test.append", { hold: "before-effect" }));
    const callId = await executor.heldAt("before-effect");
    await client.session.steerTurn({ header: commandHeader(), sessionId, turnId, input: [say("count to 3")] });
    executor.go(callId);
    const events = await turnEnded(client, sessionId, turnId);
    expect(answerOf(events)).toBe("1 2 3");
    const { messages } = await client.session.readConversation({ sessionId });
    expect(conversationFaults(messages)).toStrictEqual([]);
    await expectSound(sessionId);
  });

  it("has another answer where the model was writing its last", async () => {
    const sessionId = await createSession(client);
    const turnId = await startTurn(client, sessionId, "count to 40");
    await eventsUntil(client, sessionStream(sessionId), (event) => event.kind === "turn.output_delta");
    await client.session.steerTurn({ header: commandHeader(), sessionId, turnId, input: [say("count to 2")] });
    const events = await turnEnded(client, sessionId, turnId);
    expect(answerOf(events)).toBe("1 2");
    expect(factsOf(events).filter((kind) => kind === "model.completed")).toHaveLength(2);
  });
});

describe("a turn that is paused", () => {
  it("stays so over a restart of everything, and dispatches what was approved meanwhile once it goes on", async () => {
    const waiting = await waitingForApproval();
    const { sessionId, turnId } = waiting;
    await client.session.pauseTurn(named(waiting));
    await restartAll();
    expect((await session(sessionId)).turn).toMatchObject({ status: TurnStatus.PAUSED, paused: true });
    await approve(waiting);
    expect((await cluster.store.tasksOf("default", sessionId)).filter((task) => task.kind === "work")).toStrictEqual([]);
    await client.session.continueTurn(named(waiting));
    const kinds = kindsOf(await turnEnded(client, sessionId, turnId));
    expect(kinds.indexOf("tool.started")).toBeGreaterThan(kinds.indexOf("turn.continued"));
    expect(kinds.at(-1)).toBe("turn.completed");
    await expectSound(sessionId);
  });

  it("lets the call under way finish, and asks the model nothing until it goes on", async () => {
    const sessionId = await createSession(client);
    const turnId = await startTurn(client, sessionId, useTool("test.append", { hold: "before-effect" }));
    const callId = await executor.heldAt("before-effect");
    await client.session.pauseTurn({ header: commandHeader(), sessionId, turnId });
    expect((await session(sessionId)).turn).toMatchObject({ status: TurnStatus.RUNNING, paused: true });
    executor.go(callId);
    const events = await eventsUntil(client, sessionStream(sessionId), (event) => event.kind === "tool.completed");
    expect((await session(sessionId)).turn?.status).toBe(TurnStatus.PAUSED);
    expect(kindsOf(events).filter((kind) => kind === "model.requested")).toHaveLength(1);
    await client.session.continueTurn({ header: commandHeader(), sessionId, turnId });
    expect((await turnEnded(client, sessionId, turnId)).at(-1)?.kind).toBe("turn.completed");
  });
});

describe("a question of the model's", () => {
  it("waits over a restart, goes to whoever answers first, and the answer reaches the model", async () => {
    const waiting = await waitingForInput();
    await restartAll();
    const { turn } = await session(waiting.sessionId);
    expect(turn).toMatchObject({
      status: TurnStatus.WAITING_INPUT,
      openCalls: [{ name: "tools.ask", inputPending: true, inputId: waiting.id, question: "Which colour?" }],
    });
    const outcomes = await Promise.all(["red", "blue"].map((text) => refusalOf(provide(waiting, text))));
    expect(outcomes.toSorted()).toStrictEqual(["CONFLICT INPUT_PROVIDED", "accepted"]);
    await expect(provide(waiting, "green")).rejects.toMatchObject({ detail: { reason: "INPUT_PROVIDED", metadata: { provided_by: "tester" } } });
    const events = await turnEnded(client, waiting.sessionId, waiting.turnId);
    expect(answerOf(events)).toContain(outcomes[0] === "accepted" ? "red" : "blue");
    await expectSound(waiting.sessionId);
  });

  it("that nobody answers in time fails, and the model goes on", async () => {
    const waiting = await waitingForInput({ policy: { approvalTtl: { nanos: 300_000_000 } } });
    const events = await turnEnded(client, waiting.sessionId, waiting.turnId);
    expect(answerOf(events)).toContain("INPUT_EXPIRED");
    expect(await refusalOf(provide(waiting, "red"))).toBe("CONFLICT INPUT_PROVIDED");
  });
});

describe("a policy that is replaced", () => {
  it("decides the next call of the turn that is under way", async () => {
    const waiting = await waitingForApproval();
    const { sessionId, turnId } = waiting;
    await client.session.updateSessionPolicy({ header: commandHeader(), sessionId, policy: { defaultDecision: Decision.DENY } });
    await client.session.steerTurn({ ...named(waiting), input: [say(useTool("test.append", {}))] });
    await approve(waiting);
    const events = factsOf(await turnEnded(client, sessionId, turnId));
    expect(events.filter((kind) => kind === "tool.completed" || kind === "tool.denied")).toStrictEqual(["tool.completed", "tool.denied"]);
    expect((await session(sessionId)).policy?.defaultDecision).toBe(Decision.DENY);
  });
});

describe("a session that is compacted", () => {
  it("while a subscriber is away is told to it once it is back, with one end of each turn", async () => {
    const sessionId = await spoken();
    const away = (await session(sessionId)).seq;
    await client.session.compactSession({ header: commandHeader(), sessionId, summary: "They greeted each other." });
    const turnId = await startTurn(client, sessionId, "what now?");
    await turnEnded(client, sessionId, turnId);
    const missed: Event[] = [];
    for await (const { kind } of client.event.subscribeEvents({ streams: [{ stream: sessionStream(sessionId), afterSeq: away }], noFollow: true })) {
      if (kind.case === "event") missed.push(kind.value);
    }
    expect(missed.map(({ seq }) => Number(seq))).toStrictEqual(missed.map((_, index) => Number(away) + 1 + index));
    expect(missed[0]?.kind).toBe("session.compacted");
    expect(missed.filter(({ kind }) => kind === "turn.completed")).toHaveLength(1);
  });

  it("is read from its summary on, also by an executor that has read what came before", async () => {
    const sessionId = await spoken();
    await turnEnded(client, sessionId, await startTurn(client, sessionId, "and then?"));
    await client.session.compactSession({ header: commandHeader(), sessionId, summary: "They greeted each other." });
    const next = await turnEnded(client, sessionId, await startTurn(client, sessionId, "what now?"));
    expect(answerOf(next)).toContain("I have seen 2 messages");
    const after = await turnEnded(client, sessionId, await startTurn(client, sessionId, "and now?"));
    expect(answerOf(after)).toContain("I have seen 3 messages");
    const { messages, compactedSeq } = await client.session.readConversation({ sessionId });
    expect(messages).toHaveLength(5);
    expect(messages[0]?.parts[0]?.kind.value).toMatchObject({ text: expect.stringMatching(/^\[A summary .*\n\nThey greeted each other\.$/su) });
    expect(compactedSeq).toBeGreaterThan(0n);
  });

  it("answers a reader from before it with the whole, and one from after it with the rest", async () => {
    const sessionId = await spoken();
    const before = (await session(sessionId)).seq;
    const { seq } = await client.session.compactSession({ header: commandHeader(), sessionId, summary: "They greeted each other." });
    await turnEnded(client, sessionId, await startTurn(client, sessionId, "what now?"));
    await client.session.compactSession({ header: commandHeader(), sessionId, summary: "They greeted, and more." });
    const read = async (range: { afterSeq?: bigint; throughSeq?: bigint }) => {
      const { messages, compactedSeq } = await client.session.readConversation({ sessionId, ...range });
      return { count: messages.length, compactedSeq };
    };
    const newest = (await session(sessionId)).seq;
    expect(await read({})).toStrictEqual({ count: 1, compactedSeq: newest });
    expect(await read({ afterSeq: before })).toStrictEqual({ count: 1, compactedSeq: newest });
    // As it was before the second compaction, which a later one does not change.
    expect(await read({ afterSeq: before, throughSeq: newest - 1n })).toStrictEqual({ count: 3, compactedSeq: seq });
    expect(await read({ afterSeq: seq, throughSeq: newest - 1n })).toStrictEqual({ count: 2, compactedSeq: 0n });
    expect(await read({ throughSeq: before })).toStrictEqual({ count: 2, compactedSeq: 0n });
  });
});

describe("a fork", () => {
  it("at every seq of a turn has a conversation that a provider accepts, and works like any session", async () => {
    const sessionId = await createSession(client);
    const turnId = await startTurn(client, sessionId, useTool("test.append", { pieces: 1 }));
    const reference = await turnEnded(client, sessionId, turnId);
    await Promise.all(
      reference.map(async ({ seq, kind }) => {
        const { sessionId: forkId } = await client.session.forkSession({ header: commandHeader(), sessionId, throughSeq: seq });
        const { messages } = await client.session.readConversation({ sessionId: forkId });
        expect(conversationFaults(messages), `forked after ${kind} at ${seq}`).toStrictEqual([]);
        const events = await turnEnded(client, forkId, await startTurn(client, forkId, "count to 2"));
        expect(answerOf(events)).toBe("1 2");
        await expectSound(forkId);
      }),
    );
  });

  it("of a session whose call is open says that its outcome is unknown, and the source goes on", async () => {
    const sessionId = await createSession(client, { policy: { defaultDecision: Decision.ALLOW } });
    const turnId = await startTurn(client, sessionId, useTool("test.append", { hold: "before-effect" }));
    const callId = await executor.heldAt("before-effect");
    const { sessionId: forkId } = await client.session.forkSession({ header: commandHeader(), sessionId, labels: { kind: "fork" } });
    executor.go(callId);
    expect((await turnEnded(client, sessionId, turnId)).at(-1)?.kind).toBe("turn.completed");
    const { messages } = await client.session.readConversation({ sessionId: forkId });
    expect(messages.at(-1)?.parts[0]?.kind.value).toMatchObject({ toolCallId: callId, isError: true, output: expect.stringContaining("unknown") });
    expect(await session(forkId)).toMatchObject({ labels: { kind: "fork" }, policy: { defaultDecision: Decision.ALLOW }, turnCount: 0 });
    expect((await cluster.inspector.events(forkId)).at(-1)?.payload.value).toMatchObject({ sourceSessionId: sessionId });
  });

  it("of a closed session that was compacted begins with its summary", async () => {
    const sessionId = await spoken();
    await client.session.compactSession({ header: commandHeader(), sessionId, summary: "They greeted each other." });
    await client.session.closeSession({ header: commandHeader(), sessionId });
    const { sessionId: forkId } = await client.session.forkSession({ header: commandHeader(), sessionId });
    const events = await turnEnded(client, forkId, await startTurn(client, forkId, "what now?"));
    expect(answerOf(events)).toContain("I have seen 2 messages");
  });

  it("is found by its command's id, like every session that a command made", async () => {
    const sessionId = await spoken();
    const header = commandHeader();
    const forked = await client.session.forkSession({ header, sessionId });
    const result = await client.event.getCommandResult({ commandId: header.commandId, createKind: StreamKind.SESSION });
    expect(result.stream?.id).toBe(forked.sessionId);
    expect(result.resultType).toBe("forge.session.v1.ForkSessionResponse");
  });
});

describe("sessions in a list", () => {
  it("are those of a label and a time", async () => {
    const label = randomUUID();
    const ids: string[] = [];
    for (let index = 0; index < 3; index++) {
      const request = { ...sessionRequest(), labels: { label } };
      ids.push((await client.session.createSession(request)).sessionId);
    }
    const all = (await client.session.listSessions({ labels: { label } })).sessions;
    expect(all.map(({ sessionId }) => sessionId)).toStrictEqual(ids.toReversed());
    const [, middle, oldest] = all;
    const listed = async (range: { readonly createdFrom?: Session["createdAt"]; readonly createdBefore?: Session["createdAt"] }) =>
      (await client.session.listSessions({ labels: { label }, ...range })).sessions.map(({ sessionId }) => sessionId);
    const from = middle?.createdAt;
    const atOrAfter = all.filter(({ createdAt }) => msOf(createdAt) >= msOf(from)).map(({ sessionId }) => sessionId);
    expect(await listed({ createdFrom: from })).toStrictEqual(atOrAfter);
    expect(await listed({ createdBefore: from })).toStrictEqual(ids.toReversed().filter((id) => !atOrAfter.includes(id)));
    expect(await listed({ createdFrom: oldest?.createdAt, createdBefore: oldest?.createdAt })).toStrictEqual([]);
    expect(await refusalOf(client.session.listSessions({ createdFrom: { seconds: 1n << 60n } }))).toBe("VALIDATION");
  });
});

function msOf(time: Session["createdAt"]): number {
  return time === undefined ? 0 : Number(time.seconds) * 1_000 + time.nanos / 1_000_000;
}

/** What a provider would refuse: calls that are not followed by their one result each, and results without calls. */
function conversationFaults(messages: readonly Message[]): string[] {
  const idsOf = (message: Message | undefined, kind: "toolCall" | "toolResult") =>
    (message?.parts ?? []).flatMap((part) => (part.kind.case === kind ? part.kind.value.toolCallId : []));
  return messages.flatMap((message, index) => {
    const calls = idsOf(message, "toolCall").join();
    const results = idsOf(messages[index + 1], "toolResult").join();
    return calls === results ? [] : [`message ${index} calls ${calls || "nothing"} and is followed by results of ${results || "nothing"}`];
  });
}
