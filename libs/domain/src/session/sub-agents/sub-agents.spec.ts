import { create } from "@bufbuild/protobuf";
import { UsageSchema } from "@forge/protocol/common";
import { RejectCommandSchema, type ReportTurnEnd, ReportTurnEndSchema } from "@forge/protocol/engine";
import { type Event, EventSchema } from "@forge/protocol/event";
import { ErrorRecovery, SubAgentHistory, TurnOutcome, TurnStatus } from "@forge/protocol/session";
import { Decision, ToolMode } from "@forge/protocol/tool";
import { describe, expect, it } from "vitest";
import {
  abandonTurn,
  answerWith,
  callPart,
  cancelTurn,
  createSession,
  modelTask,
  pendingInputs,
  provideInput,
  READ,
  runTool,
  SESSION_ID,
  type SessionInit,
  type SessionStream,
  sessionInTurn,
  startTurn,
  TOOLS,
  textPart,
  turnIdOf,
  updatePolicy,
} from "../../testing/session-fixture.ts";
import { TestStream } from "../../testing/test-stream.ts";
import { sent } from "../../testing/told.ts";
import { sessionDecider } from "../session-decider.ts";

const child = { model: "demo/small", tools: [READ.name] };
const agent = {
  model: "demo/a",
  tools: TOOLS.map(({ name }) => name),
  subAgents: [
    { name: "finder", description: "Finds things.", agent: child },
    { name: "thinker", agent: { model: "demo/b" }, history: SubAgentHistory.FORKED },
    { name: "reader", agent: child, history: SubAgentHistory.SHARED },
  ],
} satisfies SessionInit["agent"];

const taskPart = (name: string, task = "Find it.") => callPart(`agent.${name}`, JSON.stringify({ task }));
const calls = (stream: SessionStream) => (stream.state.turn?.toolCalls ?? []).map(({ toolCallId }) => toolCallId);

/** The commands to other streams that the newest events cause. */
function commandsOf(stream: SessionStream, events: readonly Event[]) {
  const before = stream.events.slice(0, stream.events.indexOf(events[0] as Event));
  let state = before.reduce((folded, event) => sessionDecider.evolve(folded, event), sessionDecider.initial());
  return events.flatMap((event) => {
    state = sessionDecider.evolve(state, event);
    return sessionDecider.commands(state, event);
  });
}

const report = (toolCallId: string, init: Partial<Omit<ReportTurnEnd, "$typeName">> = {}) =>
  create(ReportTurnEndSchema, {
    toolCallId,
    sessionId: toolCallId,
    status: TurnStatus.COMPLETED,
    outcome: TurnOutcome.TASK_COMPLETED,
    text: { kind: { case: "json", value: '"Found."' } } as never,
    usage: create(UsageSchema, { inputTokens: 100n, outputTokens: 50n, costMicroUsd: 7n }),
    ...init,
  });

describe("a sub-agent", () => {
  it("is a tool of its caller's, and its session has the call's id", () => {
    const stream = sessionInTurn({ agent, title: "Work", policy: { defaultDecision: Decision.ALLOW } });
    expect(stream.state.turn?.tools.map(({ name }) => name)).toEqual([...TOOLS.map(({ name }) => name), "agent.finder", "agent.thinker", "agent.reader"]);
    const { cases, events } = answerWith(stream, [taskPart("finder")]);
    expect(cases).toEqual(["modelCompleted", "modelUsageRecorded", "toolRequested", "toolStarted"]);
    expect(stream.work()).toEqual([]);
    const [toolCallId = ""] = calls(stream);
    const [created, turn] = commandsOf(stream, events);
    expect(created).toMatchObject({
      target: { id: toolCallId },
      command: {
        case: "createSession",
        value: {
          agent: { model: "demo/small", tools: [READ.name] },
          policy: { defaultDecision: Decision.ALLOW },
          title: "Work / agent.finder",
          labels: { "forge.parent_session_id": SESSION_ID, "forge.root_session_id": SESSION_ID, "forge.agent": "agent.finder" },
          parentCall: { sessionId: SESSION_ID, turnId: turnIdOf(stream), toolCallId, rootSessionId: SESSION_ID, depth: 1 },
        },
      },
    });
    expect(turn).toMatchObject({ target: { id: toolCallId }, command: { case: "startTurn", value: { input: [{ kind: { value: { text: "Find it." } } }] } } });
  });

  it("begins with its caller's conversation up to the call where its history is forked, and only reads where it is shared", () => {
    const stream = sessionInTurn({ agent });
    const { events } = answerWith(stream, [taskPart("thinker"), taskPart("reader")]);
    const through = stream.events.find(({ payload }) => payload.case === "modelRequested")?.payload.value;
    const conversationThroughSeq = through?.$typeName === "forge.event.v1.ModelRequested" ? through.conversationThroughSeq : 0n;
    const forks = commandsOf(stream, events).flatMap(({ command }) => (command.case === "forkChildSession" ? command.value : []));
    expect(forks).toMatchObject([
      { throughSeq: conversationThroughSeq, create: { agent: { model: "demo/b" } } },
      { throughSeq: conversationThroughSeq, create: { policy: { mode: ToolMode.PLAN } } },
    ]);
  });

  it("answers with its last text, and what it used is its caller's", () => {
    const stream = sessionInTurn({ agent });
    answerWith(stream, [taskPart("finder")]);
    const before = stream.state.turn?.usage?.inputTokens ?? 0n;
    expect(stream.must(report(calls(stream)[0] ?? "")).cases).toEqual(["modelUsageRecorded", "toolCompleted", "modelRequested"]);
    expect(stream.state.turn?.usage?.inputTokens).toBe(before + 100n);
    expect(stream.state.usage?.costMicroUsd).toBe(7n);
    // It says nothing of the caller's own context.
    expect(stream.state.context.tokens).toBe(20);
    expect(sent(stream).at(-1)).toBe('tool: "Found."');
  });

  it("that does not finish fails the call, which says how its turn ended", () => {
    const stream = sessionInTurn({ agent });
    answerWith(stream, [taskPart("finder")]);
    stream.must(report(calls(stream)[0] ?? "", { outcome: TurnOutcome.BUDGET_TOKENS }));
    expect(sent(stream).at(-1)).toContain("its turn ended as BUDGET_TOKENS");
  });

  it("that does not finish is a matter for a person where its caller's recovery says so", () => {
    const stream = sessionInTurn({ agent: { ...agent, errorRecovery: ErrorRecovery.ASK } });
    answerWith(stream, [taskPart("finder")]);
    const [toolCallId = ""] = calls(stream);
    expect(stream.must(report(toolCallId, { outcome: TurnOutcome.REFUSED })).cases).toEqual(["modelUsageRecorded", "turnInputRequested"]);
    expect(stream.execute(report(toolCallId)).rejection?.reason).toBe("TASK_NOT_OPEN");
    expect(stream.must(provideInput(turnIdOf(stream), pendingInputs(stream)[0] ?? "", "Leave it.")).cases).toContain("toolCompleted");
    expect(sent(stream).at(-1)).toBe('tool: "Leave it."');
  });

  it("runs beside others, waits for what changes, and is heard once", () => {
    const stream = sessionInTurn({ agent, policy: { defaultDecision: Decision.ALLOW } });
    answerWith(stream, [taskPart("finder"), taskPart("finder", "Another."), callPart("tools.write"), taskPart("reader")]);
    const [one = "", two = ""] = calls(stream);
    expect(stream.state.turn?.toolCalls.map(({ started }) => started)).toEqual([true, true, false, false]);
    expect(stream.must(report(two)).cases).toEqual(["modelUsageRecorded", "toolCompleted"]);
    expect(stream.execute(report(two)).rejection?.reason).toBe("TASK_NOT_OPEN");
    stream.must(report(one));
    expect(stream.work().map(({ capability }) => capability)).toEqual(["tool:tools.write"]);
    expect(runTool(stream, "tools.write").cases).toEqual(["toolCompleted", "toolStarted"]);
  });

  it("is cancelled with its caller's turn, which waits for it", () => {
    const stream = sessionInTurn({ agent });
    answerWith(stream, [taskPart("finder")]);
    const [toolCallId = ""] = calls(stream);
    const { cases, events } = stream.must(cancelTurn(turnIdOf(stream)));
    expect(cases).toEqual(["turnCancelRequested"]);
    expect(commandsOf(stream, events)).toMatchObject([
      { target: { id: toolCallId }, command: { case: "cancelTurn", value: { sessionId: toolCallId, turnId: "" } } },
    ]);
    const ended = stream.must(report(toolCallId, { status: TurnStatus.CANCELLED, outcome: TurnOutcome.CANCELLED }));
    expect(ended.cases).toEqual(["modelUsageRecorded", "toolCancelled", "turnCancelled"]);
  });

  it("works under its caller's new policy from when that has one, and only reads where it shares the conversation", () => {
    const stream = sessionInTurn({ agent, policy: { defaultDecision: Decision.ALLOW } });
    answerWith(stream, [taskPart("finder"), taskPart("reader")]);
    const [finder = "", reader = ""] = calls(stream);
    const updated = stream.must(updatePolicy({ defaultDecision: Decision.DENY, mode: ToolMode.ACT }, true));
    const [event] = updated.events;
    expect(commandsOf(stream, updated.events)).toMatchObject([
      {
        target: { id: finder },
        commandId: `sub-agent:${finder}:policy:${event?.seq}`,
        command: {
          case: "updateSessionPolicy",
          value: { sessionId: finder, revokeGrants: true, policy: { defaultDecision: Decision.DENY, mode: ToolMode.ACT } },
        },
      },
      { target: { id: reader }, command: { value: { policy: { defaultDecision: Decision.DENY, mode: ToolMode.PLAN } } } },
    ]);
    const planned = stream.must(updatePolicy({ mode: ToolMode.PLAN }));
    expect(commandsOf(stream, planned.events)).toMatchObject([{ command: { value: { revokeGrants: false, policy: { mode: ToolMode.PLAN } } } }, {}]);
    // Who has answered hears nothing any more.
    stream.must(report(finder));
    stream.must(report(reader));
    expect(commandsOf(stream, stream.must(updatePolicy({})).events)).toEqual([]);
  });

  it("is cancelled where its caller's turn is abandoned", () => {
    const stream = sessionInTurn({ agent });
    answerWith(stream, [taskPart("finder")]);
    const [toolCallId = ""] = calls(stream);
    const { events } = stream.must(abandonTurn(turnIdOf(stream)));
    expect(commandsOf(stream, events)).toMatchObject([{ target: { id: toolCallId }, command: { case: "cancelTurn" } }]);
    expect(stream.execute(report(toolCallId)).rejection?.reason).toBe("TASK_NOT_OPEN");
  });

  it("whose session could not be made fails the call, and a refused cancel changes nothing", () => {
    const stream = sessionInTurn({ agent });
    answerWith(stream, [taskPart("finder")]);
    const [toolCallId = ""] = calls(stream);
    const refused = (command: string) =>
      create(RejectCommandSchema, { commandId: `sub-agent:${toolCallId}:${command}`, error: { code: 9, reason: "FORK_TOO_LARGE", message: "Too large." } });
    expect(stream.execute(refused("cancel")).rejection).toBeDefined();
    expect(stream.must(refused("create")).cases).toEqual(["toolFailed", "modelRequested"]);
    expect(sent(stream).at(-1)).toContain("Too large. (FORK_TOO_LARGE)");
    expect(stream.execute(refused("turn")).rejection).toBeDefined();
  });

  it("has no more than what is left of its caller's budget", () => {
    const stream = sessionInTurn({
      agent: {
        ...agent,
        subAgents: [{ name: "finder", agent: { ...child, budget: { toolCalls: 3, tokens: 5n } } }],
        budget: { modelCalls: 9, tokens: 100n, costMicroUsd: 50n },
      },
    });
    const { events } = answerWith(stream, [taskPart("finder")]);
    const [created] = commandsOf(stream, events);
    const budget = created?.command.case === "createSession" ? created.command.value.agent?.budget : undefined;
    expect(budget).toMatchObject({ modelCalls: 8, toolCalls: 3, tokens: 5n, costMicroUsd: 50n, steps: 63 });
    expect(Number(budget?.wallTime?.seconds)).toBe(25 * 3_600);
  });

  it("shares what is left of tokens and cost with those that are open beside it, and what one leaves is there for the next", () => {
    const limited = { ...agent, budget: { tokens: 1_000n, costMicroUsd: 50n } };
    const budgetsOf = (stream: SessionStream, events: readonly Event[]) =>
      commandsOf(stream, events).flatMap(({ command }) => (command.case === "createSession" ? (command.value.agent?.budget ?? []) : []));
    const stream = sessionInTurn({ agent: limited });
    const { events } = answerWith(
      stream,
      Array.from({ length: 10 }, () => taskPart("finder")),
    );
    const given = budgetsOf(stream, events);
    expect(given.map(({ costMicroUsd }) => costMicroUsd)).toEqual(Array.from({ length: 10 }, () => 5n));
    const sum = given.reduce((total, { tokens }) => total + (tokens ?? 0n), 0n);
    expect(sum).toBeGreaterThan(0n);
    expect(sum).toBeLessThanOrEqual(1_000n - (stream.state.turn?.usage?.inputTokens ?? 0n) - (stream.state.turn?.usage?.outputTokens ?? 0n));
    for (const toolCallId of calls(stream)) stream.must(report(toolCallId, { usage: create(UsageSchema, { costMicroUsd: 4n }) }));
    const next = answerWith(stream, [taskPart("finder")]);
    expect(budgetsOf(stream, next.events)).toMatchObject([{ costMicroUsd: 10n }]);
  });

  it("is asked for with a task", () => {
    const stream = sessionInTurn({ agent });
    const { cases, events } = answerWith(stream, [callPart("agent.finder", '{"task":""}'), callPart("agent.nobody", "{}")]);
    expect(cases).not.toContain("toolStarted");
    expect(events.flatMap(({ payload }) => (payload.case === "toolFailed" ? payload.value.error?.reason : []))).toEqual([
      "INVALID_ARGUMENTS",
      "TOOL_NOT_FOUND",
    ]);
  });

  it("calls further ones four sessions deep, and no deeper", () => {
    for (const [depth, sees] of [
      [3, true],
      [4, false],
    ] as const) {
      const parentCall = { sessionId: "p", turnId: "t", toolCallId: "c", rootSessionId: "r", depth };
      const stream = sessionInTurn({ agent, parentCall });
      expect(stream.state.turn?.tools.some(({ name }) => name === "agent.finder")).toBe(sees);
    }
  });
});

describe("a session that works for a call", () => {
  const parentCall = { sessionId: "00000000-0000-8000-8000-000000000009", turnId: "t", toolCallId: SESSION_ID, rootSessionId: "r", depth: 1 };

  it("tells its caller of its turn's end, with the whole answer", () => {
    const stream = sessionInTurn({ parentCall });
    const text = "x".repeat(10_000);
    const { events } = answerWith(stream, [textPart(text)]);
    expect(commandsOf(stream, events)).toMatchObject([
      {
        target: { id: parentCall.sessionId },
        command: {
          case: "reportTurnEnd",
          value: { toolCallId: SESSION_ID, sessionId: SESSION_ID, outcome: TurnOutcome.TASK_COMPLETED, text: { kind: { value: JSON.stringify(text) } } },
        },
      },
    ]);
  });

  it("is cancelled by its caller, who does not know its turn", () => {
    const stream = sessionInTurn({ parentCall });
    expect(stream.must(cancelTurn("")).cases).toEqual(["turnCancelRequested"]);
    expect(modelTask(stream).cancelRequested).toBe(true);
  });

  it("tells nobody where it works for nobody", () => {
    const stream = sessionInTurn();
    const { events } = answerWith(stream, [textPart("Hi.")]);
    expect(commandsOf(stream, events)).toEqual([]);
    expect(events.map((event) => event.$typeName)).toContain(EventSchema.typeName);
    stream.must(startTurn());
  });
});

describe("an agent's sub-agents", () => {
  const nested = (depth: number): object => (depth === 0 ? { model: "a/b" } : { model: "a/b", subAgents: [{ name: "x", agent: nested(depth - 1) }] });
  it.each<[string, object, string]>([
    ["a name", { subAgents: [{ name: "Finder", agent: child }] }, "agent.sub_agents[0].name"],
    [
      "a name twice",
      {
        subAgents: [
          { name: "a", agent: { model: "a/b" } },
          { name: "a", agent: { model: "a/b" } },
        ],
      },
      "agent.sub_agents[1].name",
    ],
    ["no agent", { subAgents: [{ name: "a" }] }, "agent.sub_agents[0].agent"],
    ["a tool that the caller has not", { subAgents: [{ name: "a", agent: { model: "a/b", tools: ["tools.shell"] } }] }, "agent.sub_agents[0].agent.tools"],
    ["a model without provider", { subAgents: [{ name: "a", agent: { model: "b" } }] }, "agent.sub_agents[0].agent.model"],
    ["too many", { subAgents: Array.from({ length: 17 }, (_, index) => ({ name: `a${index}`, agent: { model: "a/b" } })) }, "agent.sub_agents"],
    ["five below another", nested(5), "agent.sub_agents[0].agent.sub_agents[0].agent.sub_agents[0].agent.sub_agents[0].agent.sub_agents"],
    ["a tool named like one", { tools: ["agent.finder"] }, "agent.tools[0]"],
  ])("with %s are refused", (_, wrong, field) => {
    const { rejection } = new TestStream(sessionDecider, { streamId: SESSION_ID }).execute(createSession({ agent: { model: "demo/a", ...wrong } }));
    expect(rejection?.metadata).toMatchObject({ field });
  });

  it("may be four below each other", () => {
    const stream = new TestStream(sessionDecider, { streamId: SESSION_ID });
    expect(stream.execute(createSession({ agent: nested(4) })).rejection).toBeUndefined();
  });
});
