import { FinishReason } from "@forge/protocol/event";
import { Role, TurnOutcome } from "@forge/protocol/session";
import { describe, expect, it } from "vitest";
import { foldConversation } from "../conversation/fold-conversation.ts";
import {
  answerWith,
  callPart,
  cancelTurn,
  failure,
  modelTask,
  newSession,
  READ,
  runTool,
  sessionInTurn,
  settled,
  started,
  startTurn,
  steerTurn,
  textPart,
  turnIdOf,
} from "../testing/session-fixture.ts";

const roles = (stream: ReturnType<typeof sessionInTurn>) => foldConversation(stream.events).map(({ role }) => role);

describe("steering a turn", () => {
  it("puts the message on record and lets the model call under way finish", () => {
    const stream = sessionInTurn();
    const before = stream.outstanding();
    const { cases, events } = stream.must(steerTurn(turnIdOf(stream), "In French."), "anna");
    expect(cases).toEqual(["turnSteered"]);
    expect(events[0]).toMatchObject({ turnId: turnIdOf(stream), principal: { id: "anna" }, payload: { value: { message: { role: Role.USER } } } });
    expect(stream.outstanding()).toEqual(before);
  });

  it("makes another model call follow where the model had ended, which reads it after the answer", () => {
    const stream = sessionInTurn();
    stream.must(steerTurn(turnIdOf(stream)));
    expect(answerWith(stream, [textPart("Bonjour.")]).cases).toEqual(["modelCompleted", "modelUsageRecorded", "modelRequested"]);
    expect(roles(stream)).toEqual([Role.USER, Role.ASSISTANT, Role.USER]);
    expect(answerWith(stream, [textPart("Hello.")]).cases.at(-1)).toBe("turnCompleted");
  });

  it("joins the conversation behind the results of open calls", () => {
    const stream = sessionInTurn();
    answerWith(stream, [callPart(READ.name)]);
    stream.must(steerTurn(turnIdOf(stream)));
    expect(stream.work()).toHaveLength(1);
    expect(runTool(stream, READ.name).cases).toEqual(["toolCompleted", "modelRequested"]);
    expect(roles(stream)).toEqual([Role.USER, Role.ASSISTANT, Role.TOOL, Role.USER]);
  });

  it("that comes while the model asks for tools waits for their results as well", () => {
    const stream = sessionInTurn();
    stream.must(steerTurn(turnIdOf(stream)));
    answerWith(stream, [callPart(READ.name)]);
    runTool(stream, READ.name);
    expect(roles(stream)).toEqual([Role.USER, Role.ASSISTANT, Role.TOOL, Role.USER]);
    expect(answerWith(stream, [textPart("Done.")]).cases.at(-1)).toBe("turnCompleted");
  });

  it("does not lift a budget, nor the failure of a model call", () => {
    const stream = sessionInTurn({ agent: { model: "demo/a", budget: { modelCalls: 1 } } });
    stream.must(steerTurn(turnIdOf(stream)));
    expect(answerWith(stream, [textPart("Done.")]).events.at(-1)?.payload.value).toMatchObject({ outcome: TurnOutcome.BUDGET_MODEL_CALLS });
    const failing = sessionInTurn();
    failing.must(steerTurn(turnIdOf(failing)));
    failing.must(started(modelTask(failing)));
    expect(failing.must(settled(modelTask(failing), failure())).cases.at(-1)).toBe("turnFailed");
  });

  it("gets an answer also after one that a filter stopped", () => {
    const stream = sessionInTurn();
    stream.must(steerTurn(turnIdOf(stream)));
    expect(answerWith(stream, [textPart("?")], FinishReason.CONTENT_FILTER).cases.at(-1)).toBe("modelRequested");
  });

  it.each([
    ["of another id", (stream: ReturnType<typeof newSession>) => stream.must(startTurn()), "00000000-0000-7000-8000-000000000001", "TURN_NOT_ACTIVE"],
    [
      "that was asked to stop",
      (stream: ReturnType<typeof newSession>) => stream.must(startTurn()) && stream.must(cancelTurn(turnIdOf(stream))),
      "",
      "TURN_CANCELLING",
    ],
  ])("is refused for a turn %s", (_, prepare, turnId, reason) => {
    const stream = newSession();
    prepare(stream);
    expect(stream.execute(steerTurn(turnId || turnIdOf(stream))).rejection?.reason).toBe(reason);
  });

  it("is refused after the turn's end, and where it says nothing", () => {
    const stream = sessionInTurn();
    expect(stream.execute(steerTurn(turnIdOf(stream), " ")).rejection?.metadata.field).toBe("input");
    answerWith(stream, [textPart("Done.")]);
    expect(stream.execute(steerTurn(turnIdOf(stream))).rejection?.reason).toBe("TURN_NOT_ACTIVE");
  });
});
