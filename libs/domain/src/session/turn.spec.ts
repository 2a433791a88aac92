import { create } from "@bufbuild/protobuf";
import { ErrorCode } from "@forge/protocol/common";
import { FinishReason } from "@forge/protocol/event";
import { PartSchema, StartTurnRequestSchema, TurnOutcome } from "@forge/protocol/session";
import { describe, expect, it } from "vitest";
import {
  ALLOW_ALL,
  answerWith,
  callPart,
  modelTask,
  newSession,
  READ,
  runTool,
  SESSION_ID,
  sessionInTurn,
  startTurn,
  textPart,
  turnIdOf,
  WRITE,
} from "../testing/session-fixture.ts";

describe("a turn's start", () => {
  it("records turn, message and model call before anything is called", () => {
    const stream = newSession();
    const { events, cases, result } = stream.must(startTurn("Hello."));
    expect(cases).toEqual(["turnStarted", "messageAdded", "modelRequested"]);
    expect(result).toMatchObject({ turnId: turnIdOf(stream) });
    expect(new Set(events.map((event) => event.turnId))).toEqual(new Set([turnIdOf(stream)]));
    expect(events[2]?.payload.value).toMatchObject({ model: "demo/triage", conversationThroughSeq: 5n, callIndex: 1 });
  });

  it("dispatches the model call, and a timer for its deadline", () => {
    const stream = sessionInTurn({ agent: { model: "demo/a", temperature: 0.5, budget: { wallTime: { seconds: 90n } } }, queue: "q" });
    const task = modelTask(stream);
    expect(task).toMatchObject({ queue: "q", capability: "model:demo/a", idempotent: true, dueAtMs: 0, cancelRequested: false });
    expect(task.key).toBe(`model:${stream.state.turn?.modelCall?.modelCallId}:0`);
    expect(task.task).toMatchObject({
      needsStart: true,
      kind: { value: { sessionId: SESSION_ID, temperature: 0.5, conversationThroughSeq: 5n, failedAttempts: 0 } },
    });
    expect(stream.outstanding()[0]).toEqual({ kind: "timer", key: `turn:${turnIdOf(stream)}`, dueAtMs: stream.nowMs + 90_000 });
  });

  it("reads the conversation up to its seq, deltas counted", () => {
    const stream = newSession();
    stream.skipDeltas(40);
    stream.must(startTurn());
    expect(stream.state.turn?.modelCall?.conversationThroughSeq).toBe(45n);
  });

  it("freezes the agent's tools that somebody serves, in the agent's order", () => {
    const stream = sessionInTurn({ agent: { model: "demo/a", tools: [WRITE.name, "tools.nobody", READ.name] } });
    stream.tools = [];
    expect(stream.state.turn?.tools.map((tool) => tool.name)).toEqual([WRITE.name, READ.name]);
  });

  it("is refused while a turn is active", () => {
    const stream = sessionInTurn();
    expect(stream.execute(startTurn()).rejection).toMatchObject({ code: ErrorCode.CONFLICT, reason: "TURN_ACTIVE" });
  });

  it.each([
    ["input", []],
    ["input", [textPart(" \n")]],
    ["input", [textPart("ü".repeat(20_000)), textPart("ü".repeat(20_000))]],
    ["input[0].text", [textPart("a\u0000b")]],
    ["input[0].text", [textPart("\udc00")]],
    ["input[0]", [callPart("tools.read")]],
    ["input[0]", [create(PartSchema)]],
    [
      "input[0].artifact.sha256",
      [
        create(PartSchema, {
          kind: { case: "artifact", value: { $typeName: "forge.common.v1.ArtifactRef", sha256: "x", size: 1n, mediaType: "", preview: "" } },
        }),
      ],
    ],
    ["input", Array.from({ length: 129 }, () => textPart("x"))],
  ])("is refused for a bad %s", (field, input) => {
    const { rejection } = newSession().execute(create(StartTurnRequestSchema, { sessionId: SESSION_ID, input }));
    expect(rejection).toMatchObject({ code: ErrorCode.VALIDATION, metadata: { field } });
  });
});

describe("a turn's end", () => {
  it.each([
    [FinishReason.STOP, TurnOutcome.TASK_COMPLETED],
    [FinishReason.OTHER, TurnOutcome.TASK_COMPLETED],
    [FinishReason.LENGTH, TurnOutcome.OUTPUT_CUT],
    [FinishReason.CONTENT_FILTER, TurnOutcome.REFUSED],
    [FinishReason.ERROR, TurnOutcome.TASK_FAILED],
  ])("follows an answer without calls that finished with %s", (finishReason, outcome) => {
    const stream = sessionInTurn();
    const { events, cases } = answerWith(stream, [textPart("Hi "), textPart("there.")], finishReason);
    expect(cases).toEqual(["modelCompleted", "modelUsageRecorded", "turnCompleted"]);
    expect(events[2]?.payload.value).toMatchObject({ outcome, textPreview: "Hi there.", usage: { inputTokens: 10n, outputTokens: 10n } });
    expect(stream.outstanding()).toEqual([]);
    expect(stream.execute(startTurn()).cases[0]).toBe("turnStarted");
  });

  it("previews at most 4,096 characters and no half of a pair", () => {
    const { events } = answerWith(sessionInTurn(), [textPart(`${"x".repeat(4_095)}😀`)]);
    expect(events[2]?.payload.value).toMatchObject({ textPreview: "x".repeat(4_095) });
  });

  it("makes no calls of a refused answer", () => {
    expect(answerWith(sessionInTurn(), [callPart(READ.name)], FinishReason.CONTENT_FILTER).cases).toEqual([
      "modelCompleted",
      "modelUsageRecorded",
      "turnCompleted",
    ]);
  });

  it("comes with the next model call where tools were called", () => {
    const stream = sessionInTurn({ policy: ALLOW_ALL });
    answerWith(stream, [callPart(READ.name)]);
    const { events, cases } = runTool(stream, READ.name);
    expect(cases).toEqual(["toolCompleted", "modelRequested"]);
    expect(events[1]?.payload.value).toMatchObject({ callIndex: 2, conversationThroughSeq: (events[1]?.seq ?? 0n) - 1n });
  });
});

describe("a turn's budget", () => {
  const agent = (budget: object) => ({ agent: { model: "demo/a", tools: [READ.name], budget } });

  function afterOneCall(budget: object) {
    const stream = sessionInTurn(agent(budget));
    answerWith(stream, [callPart(READ.name)]);
    return runTool(stream, READ.name);
  }

  it.each([
    [{ modelCalls: 1 }, TurnOutcome.BUDGET_MODEL_CALLS],
    [{ tokens: 20n }, TurnOutcome.BUDGET_TOKENS],
  ])("%o ends it once its calls have settled", (budget, outcome) => {
    const { events, cases } = afterOneCall(budget);
    expect(cases).toEqual(["toolCompleted", "turnCompleted"]);
    expect(events[1]?.payload.value).toMatchObject({ outcome });
  });

  it.each([[{ modelCalls: 2 }], [{ tokens: 21n }], [{ toolCalls: 1 }], [{ costMicroUsd: 1n }]])("%o lets it go on", (budget) => {
    expect(afterOneCall(budget).cases).toEqual(["toolCompleted", "modelRequested"]);
  });

  it("of tool calls denies those beyond it, lets the others finish, and ends the turn", () => {
    const stream = sessionInTurn(agent({ toolCalls: 1 }));
    const { events, cases } = answerWith(stream, [callPart(READ.name), callPart(READ.name)]);
    expect(cases).toEqual(["modelCompleted", "modelUsageRecorded", "toolRequested", "toolRequested", "toolDenied"]);
    expect(events[4]?.payload.value).toMatchObject({ decision: { source: "budget:tool_calls" } });
    const end = runTool(stream, READ.name);
    expect(end.events[1]?.payload.value).toMatchObject({ outcome: TurnOutcome.BUDGET_TOOL_CALLS });
  });

  it("counts anew in the next turn, and in all for the session", () => {
    const stream = sessionInTurn(agent({ modelCalls: 1 }));
    answerWith(stream, [textPart("One.")]);
    expect(stream.must(startTurn()).cases).toContain("modelRequested");
    answerWith(stream, [textPart("Two.")]);
    expect(stream.state).toMatchObject({ turnCount: 2, usage: { inputTokens: 20n }, turn: { usage: { inputTokens: 10n } } });
  });
});
