import { delta, finish } from "@forge/agent/testing";
import { commandHeader } from "@forge/client";
import { CheckpointKind, CheckpointKindSchema, type Event, EventService } from "@forge/protocol/event";
import { type Message, SessionService, TurnStatus } from "@forge/protocol/session";
import { Decision, RiskLevel } from "@forge/protocol/tool";
import { expect } from "vitest";
import { createSession, eventsUntil, factsOf, say, sessionStream, startTurn, turnEnded, useTool } from "../../../harness/work.ts";
import type { Scenario, World } from "../scenario.ts";
import { accepted, refusalIn } from "../steps/outcomes.ts";
import { callsOf, messagesIn, ownTool, SCRIPTED_MODEL, saysOf, startOwnExecutor } from "../steps/own-executor.ts";
import { quietTurn, waitingForApproval, waitingForInput } from "../steps/sessions.ts";
import { eventsAfter, expectCompleted, followUntil, isEndOf } from "../steps/streams.ts";
import { answerTo, commandOn } from "../steps/waiting-commands.ts";

const session = SessionService.method;
const { subscribeEvents } = EventService.method;

const NOBODY = "00000000-0000-7000-8000-000000000000";

/** What the turn's last answer said. */
function answerOf(events: readonly Event[]): string {
  const end = events.at(-1)?.payload;
  return end?.case === "turnCompleted" ? end.value.textPreview : "";
}

/** Calls that are not followed by their one result each, and results without calls: what a provider would refuse. */
function conversationFaults(messages: readonly Message[]): string[] {
  const idsOf = (message: Message | undefined, kind: "toolCall" | "toolResult") =>
    (message?.parts ?? []).flatMap((part) => (part.kind.case === kind ? part.kind.value.toolCallId : []));
  return messages.flatMap((message, index) => {
    const calls = idsOf(message, "toolCall").join();
    const results = idsOf(messages[index + 1], "toolResult").join();
    return calls === results ? [] : [`message ${index} calls ${calls || "nothing"} and is followed by results of ${results || "nothing"}`];
  });
}

async function compactedWhileAway(world: World): Promise<void> {
  const waiting = await waitingForApproval(world);
  const { sessionId, turnId } = waiting;
  const client = await world.open();
  const before = await followUntil(client, sessionId, ({ kind }) => kind === "turn.started");
  // Away; meanwhile the turn goes on to its end, the session is compacted, and another turn follows.
  const compaction = () => ({ header: commandHeader(), sessionId, summary: "They spoke." });
  expect(await refusalIn(client.call(session.compactSession, compaction()))).toBe("CONFLICT TURN_ACTIVE");
  await world.reference.approval.resolveApproval(answerTo(waiting, Decision.ALLOW));
  await turnEnded(world.reference, sessionId, turnId);
  await accepted(client.call(session.compactSession, compaction()));
  const secondTurnId = await startTurn(world.reference, sessionId, "count to 2");
  await turnEnded(world.reference, sessionId, secondTurnId);
  // Back again, behind what it has seen.
  const after = await followUntil(client, sessionId, isEndOf(secondTurnId), before.at(-1)?.seq);
  const all = [...before, ...after];
  // Pieces of output may have been left out, since the whole is there.
  const seqs = all.filter(({ kind }) => !kind.endsWith(".output_delta")).map(({ seq }) => seq);
  const whole = await turnEnded(world.reference, sessionId, secondTurnId);
  expect(seqs).toStrictEqual(whole.filter(({ kind }) => !kind.endsWith(".output_delta")).map(({ seq }) => seq));
  expect(all.filter(isEndOf(turnId)).map(({ kind }) => kind)).toStrictEqual(["turn.completed"]);
  expect(all.filter(isEndOf(secondTurnId)).map(({ kind }) => kind)).toStrictEqual(["turn.completed"]);
  expect(all.filter(({ kind }) => kind === "session.compacted")).toHaveLength(1);
}

async function compactedByModel(world: World): Promise<void> {
  const { provider } = await startOwnExecutor(world);
  const { sessionId } = await world.reference.session.createSession({ header: commandHeader(), agent: { model: SCRIPTED_MODEL }, queue: world.queue });
  provider.enqueue(saysOf("A first answer."));
  await turnEnded(world.reference, sessionId, await startTurn(world.reference, sessionId, "a first question"));
  const client = await world.open();
  const before = await followUntil(client, sessionId, ({ kind }) => kind === "turn.completed");
  // Away; meanwhile the model summarises, and another turn reads its summary.
  provider.enqueue(saysOf("They spoke of firsts."), saysOf("A second answer."));
  const request = { header: commandHeader(), sessionId };
  const { compactionId } = await accepted(client.call(session.compactSession, request));
  expect((await accepted(client.call(session.compactSession, request))).compactionId).toBe(compactionId);
  await eventsUntil(world.reference, sessionStream(sessionId), ({ kind }) => kind === "session.compacted");
  const turnId = await startTurn(world.reference, sessionId, "a second question");
  await turnEnded(world.reference, sessionId, turnId);
  // Back again, behind what it has seen.
  const after = await followUntil(client, sessionId, isEndOf(turnId), before.at(-1)?.seq);
  expectCompleted(after);
  const compacted = after.flatMap(({ payload }) => (payload.case === "sessionCompacted" ? [payload.value] : []));
  expect(compacted).toHaveLength(1);
  expect(compacted[0]).toMatchObject({ compactionId, summary: "They spoke of firsts.", model: SCRIPTED_MODEL });
  expect([...before, ...after].filter(({ kind }) => kind === "turn.completed")).toHaveLength(2);
  const sent = provider.requests.map((each) =>
    messagesIn(each)
      .map(({ content }) => JSON.stringify(content))
      .join("\n"),
  );
  expect(sent).toHaveLength(3);
  expect(sent[2]).toContain("They spoke of firsts.");
  expect(sent[2]).toContain("a second question");
  expect(sent[2]).not.toContain("A first answer.");
  expect(await eventsAfter(client, sessionId)).toHaveLength(Number(after.at(-1)?.seq));
}

const CALL_ENDS: ReadonlySet<string> = new Set(["tool.completed", "tool.failed", "tool.cancelled", "tool.settled_unknown"]);

async function cancelledAnywhere(world: World): Promise<void> {
  // Wide enough that a cancel fits between any two events.
  const text = useTool("test.append", { pieces: 1, delays: { "before-start": 10, "before-effect": 10, "after-effect": 10 } });
  const model = await createSession(world.reference);
  const { length } = await turnEnded(world.reference, model, await startTurn(world.reference, model, text));
  const client = await world.open();
  await Promise.all(
    Array.from({ length }, async (_, index) => {
      const sessionId = await createSession(world.reference);
      const turnId = await startTurn(world.reference, sessionId, text);
      const seen = await followUntil(client, sessionId, (event) => Number(event.seq) > index || isEndOf(turnId)(event));
      const outcome = await refusalIn(client.call(session.cancelTurn, { header: commandHeader(), sessionId, turnId }, { retry: true }));
      expect(["accepted", "CONFLICT TURN_NOT_ACTIVE"]).toContain(outcome);
      if (!isEndOf(turnId)(seen.at(-1) as Event)) await followUntil(client, sessionId, isEndOf(turnId), seen.at(-1)?.seq);
      // All that there is, so that a second end, or anything else behind the first, is seen.
      const events = await eventsAfter(client, sessionId);
      const where = `cancelled after event ${index}`;
      expect(events.filter(isEndOf(turnId)), where).toHaveLength(1);
      expect(events.at(-1)?.kind, where).toBe(outcome === "accepted" ? "turn.cancelled" : "turn.completed");
      const found = (await world.reference.session.getSessionSnapshot({ sessionId })).session;
      expect(found?.turn?.openCalls, where).toStrictEqual([]);
      expect(found?.seq, where).toBe(events.at(-1)?.seq);
      for (const { toolCallId } of events.filter(({ kind }) => kind === "tool.requested"))
        expect(
          events.filter((event) => event.toolCallId === toolCallId && CALL_ENDS.has(event.kind)),
          where,
        ).toHaveLength(1);
    }),
  );
}

async function refusesTurnCommands(world: World): Promise<void> {
  const turn = await quietTurn(world);
  const client = await world.open();
  const input = [say("Be quick.")];
  const wrongTurn = () => ({ ...commandOn(turn), turnId: NOBODY });
  expect(await refusalIn(client.call(session.steerTurn, { ...wrongTurn(), input }))).toBe("CONFLICT TURN_NOT_ACTIVE");
  expect(await refusalIn(client.call(session.pauseTurn, wrongTurn()))).toBe("CONFLICT TURN_NOT_ACTIVE");
  expect(await refusalIn(client.call(session.provideInput, { ...commandOn(turn), inputId: NOBODY, text: "red" }))).toBe("CONFLICT INPUT_NOT_REQUESTED");
  expect(await refusalIn(client.call(session.continueTurn, commandOn(turn)))).toBe("CONFLICT TURN_NOT_PAUSED");
  await accepted(client.call(session.pauseTurn, commandOn(turn)));
  expect(await refusalIn(client.call(session.pauseTurn, commandOn(turn)))).toBe("CONFLICT TURN_PAUSED");
  await accepted(client.call(session.continueTurn, commandOn(turn)));
  expect(await refusalIn(client.call(session.steerTurn, { ...commandOn(turn), input: [say(" ")] }))).toBe("VALIDATION");
}

async function refusesSecondTurn(world: World): Promise<void> {
  const turn = await quietTurn(world);
  const { sessionId } = turn;
  const client = await world.open();
  const { seq } = (await world.reference.session.getSessionSnapshot({ sessionId })).session ?? {};
  expect(await refusalIn(client.call(session.startTurn, { header: commandHeader(), sessionId, input: [say("hello")] }))).toBe("CONFLICT TURN_ACTIVE");
  expect((await world.reference.session.getSessionSnapshot({ sessionId })).session?.seq).toBe(seq);
}

async function refusesClose(world: World): Promise<void> {
  const turn = await quietTurn(world);
  const { sessionId } = turn;
  const client = await world.open();
  expect(await refusalIn(client.call(session.closeSession, { header: commandHeader(), sessionId }))).toBe("CONFLICT TURN_ACTIVE");
  await world.reference.session.abandonTurn({ ...commandOn(turn), reason: "enough" });
  await accepted(client.call(session.closeSession, { header: commandHeader(), sessionId }));
  expect(await refusalIn(client.call(session.startTurn, { header: commandHeader(), sessionId, input: [say("hello")] }))).toBe("CONFLICT SESSION_CLOSED");
}

async function refusesCancelOfEnded(world: World): Promise<void> {
  const turn = await quietTurn(world);
  const { sessionId, turnId } = turn;
  await world.reference.session.abandonTurn({ ...commandOn(turn), reason: "enough" });
  const client = await world.open();
  for (const id of [turnId, NOBODY])
    expect(await refusalIn(client.call(session.cancelTurn, { header: commandHeader(), sessionId, turnId: id }))).toBe("CONFLICT TURN_NOT_ACTIVE");
}

async function firstInputWins(world: World): Promise<void> {
  const waiting = await waitingForInput(world);
  const clients = [await world.open(), await world.open()];
  const provide = (text: string) => ({ ...commandOn(waiting), inputId: waiting.id, text });
  const texts = ["red", "blue"];
  const outcomes = await Promise.all(clients.map((client, index) => client.call(session.provideInput, provide(texts[index] as string))));
  const winner = outcomes.findIndex(({ error }) => error === undefined);
  const loser = outcomes[1 - winner]?.error;
  expect(outcomes.filter(({ error }) => error === undefined)).toHaveLength(1);
  expect(loser).toMatchObject({ reason: "INPUT_PROVIDED" });
  const events = await turnEnded(world.reference, waiting.sessionId, waiting.turnId);
  expectCompleted(events);
  const provided = events.filter(({ kind }) => kind === "turn.input_provided");
  expect(provided).toHaveLength(1);
  expect(loser?.detail.metadata["provided_by"]).toBe(provided[0]?.principal?.id);
  expect(answerOf(events)).toContain(texts[winner]);
  expect(await refusalIn((clients[winner] as (typeof clients)[0]).call(session.provideInput, provide("green")))).toMatch(
    /^CONFLICT (INPUT_PROVIDED|TURN_NOT_ACTIVE)$/,
  );
}

async function steered(world: World): Promise<void> {
  const { provider } = await startOwnExecutor(world);
  const [writes, saidMore] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  provider.enqueue(async (response) => {
    response.writeHead(200, { "content-type": "text/event-stream" });
    response.write(delta({ role: "assistant", content: "I count: " }));
    writes.resolve();
    await saidMore.promise;
    response.end(delta({ content: "1 2 3" }) + finish("stop"));
  }, saysOf("1 2"));
  const client = await world.open();
  const { sessionId } = await world.reference.session.createSession({ header: commandHeader(), agent: { model: SCRIPTED_MODEL }, queue: world.queue });
  const turnId = await startTurn(world.reference, sessionId, "count to 3");
  await writes.promise;
  await accepted(client.call(session.steerTurn, { header: commandHeader(), sessionId, turnId, input: [say("count to 2")] }));
  saidMore.resolve();
  const events = await turnEnded(world.reference, sessionId, turnId);
  expectCompleted(events);
  expect(answerOf(events)).toBe("1 2");
  const kinds = ["model.requested", "turn.steered", "model.completed", "model.requested", "model.completed"];
  expect(factsOf(events).filter((kind) => kinds.includes(kind))).toStrictEqual(kinds);
  expect(messagesIn(provider.requests[1]).map(({ role, content }) => `${role}: ${content}`)).toStrictEqual([
    "user: count to 3",
    "assistant: I count: 1 2 3",
    "user: count to 2",
  ]);
}

async function pausedAndContinued(world: World): Promise<void> {
  const waiting = await waitingForApproval(world);
  const { sessionId, turnId } = waiting;
  const client = await world.open();
  await accepted(client.call(session.pauseTurn, commandOn(waiting)));
  await world.reference.approval.resolveApproval(answerTo(waiting, Decision.ALLOW));
  const paused = (await accepted(client.call(session.getSessionSnapshot, { sessionId }))).session?.turn;
  expect(paused).toMatchObject({ turnId, status: TurnStatus.PAUSED, paused: true });
  await accepted(client.call(session.continueTurn, commandOn(waiting)));
  const kinds = factsOf(await turnEnded(world.reference, sessionId, turnId));
  expect(kinds.indexOf("tool.started")).toBeGreaterThan(kinds.indexOf("turn.continued"));
  expect(kinds.indexOf("turn.continued")).toBeGreaterThan(kinds.indexOf("turn.paused"));
  expect(kinds.at(-1)).toBe("turn.completed");
}

async function killedAmidCalls(world: World): Promise<void> {
  const tool = ownTool(
    "test.own",
    (_, signal) => new Promise((_resolve, reject) => signal.addEventListener("abort", () => reject(signal.reason as Error))),
    // Only calls that change nothing run side by side.
    RiskLevel.READ,
  );
  const executor = await startOwnExecutor(world, { tools: [tool] });
  const { provider } = executor;
  provider.enqueue(callsOf("test.own", 3));
  const { sessionId } = await world.reference.session.createSession({
    header: commandHeader(),
    agent: { model: SCRIPTED_MODEL, tools: ["test.own"] },
    queue: world.queue,
    policy: { defaultDecision: Decision.ALLOW },
  });
  const turnId = await startTurn(world.reference, sessionId, "go");
  let started = 0;
  const client = await world.open();
  await followUntil(client, sessionId, ({ kind }) => kind === "tool.started" && ++started === 3);
  await executor.kill();
  await world.restart();
  provider.enqueue(saysOf("Nobody knows."), saysOf("As you say."));
  await executor.start();
  const again = await world.open();
  const events = await followUntil(again, sessionId, isEndOf(turnId));
  expectCompleted(events);
  expect(events.filter(({ kind }) => kind === "tool.settled_unknown")).toHaveLength(3);
  await turnEnded(world.reference, sessionId, await startTurn(world.reference, sessionId, "go on"));
  const ids = ["call-1", "call-2", "call-3"];
  const [, same, next] = provider.requests;
  for (const request of [same, next]) {
    const messages = messagesIn(request);
    const index = messages.findIndex(({ tool_calls: calls }) => calls !== undefined);
    expect(messages[index]?.tool_calls?.map(({ id }) => id)).toStrictEqual(ids);
    expect(messages.slice(index + 1, index + 4).map(({ role, tool_call_id: id }) => `${role} ${id}`)).toStrictEqual(ids.map((id) => `tool ${id}`));
    expect(messages.filter(({ role }) => role === "tool")).toHaveLength(3);
  }
  const { messages } = await accepted(again.call(session.readConversation, { sessionId }));
  expect(conversationFaults(messages)).toStrictEqual([]);
}

async function checkpointed(world: World): Promise<void> {
  const sessionId = await createSession(world.reference);
  const turnId = await startTurn(world.reference, sessionId, useTool("test.append", {}));
  await turnEnded(world.reference, sessionId, turnId);
  const client = await world.open();
  const marks = (await eventsAfter(client, sessionId)).flatMap(({ payload }) => {
    if (payload.case === "turnCheckpointed") return CheckpointKindSchema.value[payload.value.kind]?.localName ?? "unknown";
    return payload.case === "modelRequested" || payload.case === "toolStarted" ? payload.case : [];
  });
  expect(marks).toStrictEqual([
    "AFTER_USER_INPUT",
    "BEFORE_MODEL_CALL",
    "modelRequested",
    "BEFORE_TOOL_CALLS",
    "toolStarted",
    "BEFORE_MODEL_CALL",
    "modelRequested",
  ]);
}

async function forkedAtCheckpoint(world: World): Promise<void> {
  const sessionId = await createSession(world.reference);
  await turnEnded(world.reference, sessionId, await startTurn(world.reference, sessionId, "count to 2"));
  const turnId = await startTurn(world.reference, sessionId, useTool("test.append", {}));
  const source = await turnEnded(world.reference, sessionId, turnId);
  const client = await world.open();
  const marks = source.filter(({ turnId: id, kind }) => id === turnId && kind === "turn.checkpointed");
  const throughSeq = marks.find(({ payload }) => payload.case === "turnCheckpointed" && payload.value.kind === CheckpointKind.BEFORE_TOOL_CALLS)?.seq;
  const { sessionId: forkId } = await accepted(client.call(session.forkSession, { header: commandHeader(), sessionId, throughSeq, title: "Another way" }));
  const { messages } = await accepted(client.call(session.readConversation, { sessionId: forkId }));
  expect(conversationFaults(messages)).toStrictEqual([]);
  // The call was open there, so the fork says that nobody knows what came of it.
  expect(messages.at(-1)?.parts[0]?.kind.value).toMatchObject({ isError: true, output: expect.stringContaining("unknown") });
  const events = await turnEnded(world.reference, forkId, await startTurn(world.reference, forkId, "count to 3"));
  expect(answerOf(events)).toBe("1 2 3");
  const forked = events.find(({ kind }) => kind === "session.forked")?.payload;
  expect(forked?.value).toMatchObject({ sourceSessionId: sessionId, throughSeq });
  expect((await world.reference.session.getSessionSnapshot({ sessionId })).session?.seq).toBe(source.at(-1)?.seq);
}

export const SCENARIOS: readonly Scenario[] = [
  {
    group: "Turns",
    name: "a session that is compacted while a subscriber is away has exactly one end of each turn once it is back",
    methods: [subscribeEvents, session.compactSession],
    run: compactedWhileAway,
  },
  {
    group: "Turns",
    name: "a session is compacted by its model while the subscriber is away, who then gets the summary once and each turn's one end",
    methods: [session.compactSession, subscribeEvents],
    run: compactedByModel,
  },
  {
    group: "Turns",
    name: "a turn that is cancelled after any of its events ends once, with nothing left running",
    methods: [subscribeEvents, session.cancelTurn],
    run: cancelledAnywhere,
  },
  {
    group: "Turns",
    name: "what a turn's state does not allow is a conflict with the reason: steer, pause, continue, provide input",
    methods: [session.steerTurn, session.pauseTurn, session.continueTurn, session.provideInput],
    run: refusesTurnCommands,
  },
  { group: "Turns", name: "a second turn beside an active one is a conflict, and changes nothing", methods: [session.startTurn], run: refusesSecondTurn },
  { group: "Turns", name: "a session with an active turn is not closed", methods: [session.closeSession, session.startTurn], run: refusesClose },
  { group: "Turns", name: "a cancel of a turn that has ended, or that there is not, is a conflict", methods: [session.cancelTurn], run: refusesCancelOfEnded },
  { group: "Turns", name: "of two clients that answer one question one wins, and the other learns who", methods: [session.provideInput], run: firstInputWins },
  { group: "Turns", name: "a turn that is steered while its model writes has another model call", methods: [session.steerTurn], run: steered },
  {
    group: "Turns",
    name: "a paused turn dispatches nothing until it is continued",
    methods: [session.pauseTurn, session.continueTurn, session.getSessionSnapshot],
    run: pausedAndContinued,
  },
  {
    group: "Turns",
    name: "after everything was killed with three calls open, what the provider is sent has one result for each, adjacent",
    methods: [subscribeEvents, session.readConversation],
    run: killedAmidCalls,
  },
  { group: "Turns", name: "a turn has a checkpoint after input, before each model call and before tool calls", methods: [subscribeEvents], run: checkpointed },
  {
    group: "Turns",
    name: "a fork at a checkpoint has the conversation up to there, and goes its own way",
    methods: [session.forkSession, session.readConversation],
    run: forkedAtCheckpoint,
  },
];
