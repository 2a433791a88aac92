import { TurnStatus } from "@forge/protocol/session";
import { Decision } from "@forge/protocol/tool";
import { describe, expect, it } from "vitest";
import { foldConversation } from "../conversation/fold-conversation.ts";
import {
  answerWith,
  askPart,
  callPart,
  cancelTurn,
  fired,
  pauseTurn,
  pendingApprovals,
  pendingInputs,
  provideInput,
  READ,
  resolve,
  runTool,
  type SessionInit,
  type SessionStream,
  sessionInTurn,
  TOOLS,
  turnIdOf,
} from "../testing/session-fixture.ts";
import { turnStatus } from "./state.ts";
import { sessionView } from "./view.ts";

const status = (stream: SessionStream) => stream.state.turn && turnStatus(stream.state.turn);
const lastResult = (stream: SessionStream) => foldConversation(stream.events).at(-1)?.parts.at(-1)?.kind.value;

function asking(init: SessionInit = {}, ...parts: Parameters<typeof answerWith>[1]) {
  const stream = sessionInTurn({ agent: { model: "demo/a", tools: [READ.name, "tools.ask"] }, ...init });
  const effect = answerWith(stream, parts.length > 0 ? parts : [askPart("Which one?")]);
  return { stream, effect, inputId: pendingInputs(stream)[0] ?? "" };
}

describe("a question to a person", () => {
  it("is in the catalogue of an agent that may ask, though no worker serves it", () => {
    const may = sessionInTurn({ agent: { model: "demo/a", tools: ["tools.ask"] } }, []);
    expect(may.state.turn?.tools.map(({ name }) => name)).toEqual(["tools.ask"]);
    expect(sessionInTurn().state.turn?.tools.map(({ name }) => name)).not.toContain("tools.ask");
  });

  it("is in a catalogue beside all tools that a prefix stands for, each once", () => {
    const { state } = sessionInTurn({ agent: { model: "demo/a", tools: [READ.name, "tools.*", "tools.ask"] } });
    expect(state.turn?.tools.map(({ name }) => name)).toEqual([...TOOLS.map(({ name }) => name), "tools.ask"]);
  });

  it("is asked at once, and waited for as long as an approval; nothing is dispatched", () => {
    const { stream, effect, inputId } = asking({ policy: { approvalTtl: { seconds: 60n } } });
    expect(effect.cases).toEqual(["modelCompleted", "modelUsageRecorded", "toolRequested", "turnInputRequested"]);
    expect(effect.events.at(-1)?.payload.value).toMatchObject({ inputId, question: "Which one?" });
    expect(stream.outstanding().slice(1)).toEqual([{ kind: "timer", key: `input:${inputId}`, dueAtMs: stream.nowMs + 60_000 }]);
    expect(status(stream)).toBe(TurnStatus.WAITING_INPUT);
    expect(sessionView(stream.state, stream.seq).turn?.openCalls).toMatchObject([{ inputPending: true, inputId, question: "Which one?" }]);
  });

  it("is answered with what becomes the call's output", () => {
    const { stream, inputId } = asking();
    stream.nowMs += 1_500;
    const { cases, events } = stream.must(provideInput(turnIdOf(stream), inputId, 'The "red" one.'), "anna");
    expect(cases).toEqual(["turnInputProvided", "toolCompleted", "modelRequested"]);
    expect(events[1]?.payload.value).toMatchObject({ output: { kind: { case: "json", value: '"The \\"red\\" one."' } }, durationMs: 1_500n });
    expect(lastResult(stream)).toMatchObject({ isError: false, output: '"The \\"red\\" one."' });
  });

  it("holds nobody back, and is waited for once nothing else runs", () => {
    const { stream } = asking({}, askPart(), callPart(READ.name));
    expect(status(stream)).toBe(TurnStatus.RUNNING);
    expect(runTool(stream, READ.name).cases).toEqual(["toolCompleted"]);
    expect(status(stream)).toBe(TurnStatus.WAITING_INPUT);
  });

  it("goes to whoever answers first; the second learns who that was", () => {
    const { stream, inputId } = asking();
    stream.must(provideInput(turnIdOf(stream), inputId), "anna");
    const { rejection } = stream.execute(provideInput(turnIdOf(stream), inputId, "No."), "ben");
    expect(rejection).toMatchObject({ reason: "INPUT_PROVIDED", metadata: { provided_by: "anna" } });
  });

  it("fails when nobody answers in time, and the model is told", () => {
    const { stream, inputId } = asking();
    const { cases } = stream.must(fired(`input:${inputId}`));
    expect(cases).toEqual(["toolFailed", "modelRequested"]);
    expect(lastResult(stream)).toMatchObject({ isError: true, output: expect.stringContaining("INPUT_EXPIRED") });
    expect(stream.execute(provideInput(turnIdOf(stream), inputId)).rejection).toMatchObject({ reason: "INPUT_PROVIDED", metadata: { provided_by: "expiry" } });
  });

  it("ends with its turn", () => {
    const { stream, inputId } = asking();
    expect(stream.must(cancelTurn(turnIdOf(stream))).cases).toEqual(["turnCancelRequested", "toolCancelled", "turnCancelled"]);
    expect(stream.execute(provideInput(turnIdOf(stream), inputId)).rejection).toMatchObject({ metadata: { provided_by: "cancel" } });
  });

  it("may be answered while the turn is paused", () => {
    const { stream, inputId } = asking();
    stream.must(pauseTurn(turnIdOf(stream)));
    expect(status(stream)).toBe(TurnStatus.PAUSED);
    expect(stream.must(provideInput(turnIdOf(stream), inputId)).cases).toEqual(["turnInputProvided", "toolCompleted"]);
  });

  it("passes the gate like any call", () => {
    const denied = asking({ policy: { defaultDecision: Decision.DENY } });
    expect(denied.effect.cases).toContain("toolDenied");
    const { stream } = asking({ policy: { defaultDecision: Decision.ASK } });
    expect(pendingInputs(stream)).toEqual([]);
    expect(stream.must(resolve(pendingApprovals(stream)[0] ?? "", Decision.ALLOW)).cases).toEqual(["approvalResolved", "turnInputRequested"]);
  });

  it.each(["{}", '{"question":" "}', '{"question":7}', '{"question":"\\u0000"}', JSON.stringify({ question: "?".repeat(4_097) })])(
    "is not asked with the arguments %s",
    (argumentsJson) => {
      const { effect } = asking({}, callPart("tools.ask", argumentsJson));
      expect(effect.cases.slice(2)).toEqual(["toolRequested", "toolFailed", "modelRequested"]);
      expect(effect.events[3]?.payload.value).toMatchObject({ error: { reason: "INVALID_ARGUMENTS" } });
    },
  );

  it("refuses an answer that says nothing or too much, that nobody waits for, or of another turn", () => {
    const { stream, inputId } = asking();
    const refusal = (...command: Parameters<typeof provideInput>) => stream.execute(provideInput(...command)).rejection;
    for (const text of ["", "\0", '"'.repeat(40_000)]) expect(refusal(turnIdOf(stream), inputId, text)?.metadata.field).toBe("text");
    expect(refusal(turnIdOf(stream), "00000000-0000-7000-8000-000000000001")?.reason).toBe("INPUT_NOT_REQUESTED");
    expect(refusal("00000000-0000-7000-8000-000000000001", inputId)?.reason).toBe("TURN_NOT_ACTIVE");
  });
});
