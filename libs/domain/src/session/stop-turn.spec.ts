import { create } from "@bufbuild/protobuf";
import { ErrorCode } from "@forge/protocol/common";
import { AbandonTurnRequestSchema, TurnOutcome, TurnStatus } from "@forge/protocol/session";
import { describe, expect, it } from "vitest";
import {
  ALLOW_ALL,
  abandonTurn,
  answer,
  answerWith,
  callPart,
  cancelled,
  cancelTurn,
  failure,
  fired,
  lost,
  modelTask,
  READ,
  reportedLate,
  SESSION_ID,
  SHELL,
  sessionInTurn,
  settled,
  started,
  startTurn,
  textPart,
  toolResult,
  toolTask,
  turnIdOf,
  WRITE,
} from "../testing/session-fixture.ts";
import { turnStatus } from "./state.ts";

function calling(...names: string[]) {
  const stream = sessionInTurn({ policy: ALLOW_ALL });
  answerWith(
    stream,
    names.map((name) => callPart(name)),
  );
  return stream;
}

describe("a turn that is asked to stop", () => {
  it("waits until its model call is known to have stopped", () => {
    const stream = sessionInTurn();
    stream.must(started(modelTask(stream)));
    expect(stream.must(cancelTurn(turnIdOf(stream))).cases).toEqual(["turnCancelRequested"]);
    expect(stream.state.turn && turnStatus(stream.state.turn)).toBe(TurnStatus.CANCELLING);
    expect(stream.outstanding()).toMatchObject([{ kind: "work", cancelRequested: true }]);
    const { events, cases } = stream.must(settled(modelTask(stream), cancelled()));
    expect(cases).toEqual(["modelCancelled", "turnCancelled"]);
    expect(events[1]?.payload.case).toBe("turnCancelled");
    expect(stream.outstanding()).toEqual([]);
    expect(stream.must(startTurn()).cases[0]).toBe("turnStarted");
  });

  it("ends what was not dispatched at once, waits for what was, and asks the model no more", () => {
    const stream = calling(WRITE.name, SHELL.name);
    const { events, cases } = stream.must(cancelTurn(turnIdOf(stream)));
    expect(cases).toEqual(["turnCancelRequested", "toolCancelled"]);
    expect(events[1]?.toolCallId).not.toBe(toolTask(stream, WRITE.name).task.idempotencyKey);
    expect(stream.must(settled(toolTask(stream, WRITE.name), cancelled())).cases).toEqual(["toolCancelled", "turnCancelled"]);
  });

  it("settles open approvals, and with nothing else open ends at once", () => {
    const stream = sessionInTurn();
    answerWith(stream, [callPart(WRITE.name)]);
    expect(stream.must(cancelTurn(turnIdOf(stream))).cases).toEqual(["turnCancelRequested", "toolCancelled", "turnCancelled"]);
  });

  it("gives no go-ahead any more", () => {
    const stream = calling(WRITE.name);
    stream.must(cancelTurn(turnIdOf(stream)));
    expect(stream.execute(started(toolTask(stream, WRITE.name))).rejection).toMatchObject({ code: ErrorCode.CANCELLED, reason: "TURN_CANCELLING" });
  });

  it("records what still completes or fails", () => {
    const stream = calling(READ.name, READ.name);
    stream.must(cancelTurn(turnIdOf(stream)));
    expect(stream.must(settled(toolTask(stream, READ.name), toolResult())).cases).toEqual(["toolCompleted"]);
    expect(stream.must(settled(toolTask(stream, READ.name), failure({ retryable: true }))).cases).toEqual(["toolFailed", "turnCancelled"]);
  });

  it("makes none of the calls of an answer that still comes", () => {
    const stream = sessionInTurn({ policy: ALLOW_ALL });
    stream.must(started(modelTask(stream)));
    stream.must(cancelTurn(turnIdOf(stream)));
    const { cases } = stream.must(settled(modelTask(stream), answer([callPart(READ.name)])));
    expect(cases).toEqual(["modelCompleted", "modelUsageRecorded", "toolRequested", "toolCancelled", "turnCancelled"]);
  });

  it("does not try a failed model call again", () => {
    const stream = sessionInTurn();
    stream.must(cancelTurn(turnIdOf(stream)));
    expect(stream.must(settled(modelTask(stream), failure({ retryable: true }))).cases).toEqual(["modelFailed", "turnCancelled"]);
  });

  it("ends with what is lost: unknown after its start, stopped before", () => {
    const begun = calling(READ.name);
    begun.must(started(toolTask(begun, READ.name)));
    begun.must(cancelTurn(turnIdOf(begun)));
    expect(begun.must(lost(toolTask(begun, READ.name))).cases).toEqual(["toolSettledUnknown", "turnCancelled"]);
    const waiting = calling(WRITE.name);
    waiting.must(cancelTurn(turnIdOf(waiting)));
    expect(waiting.must(lost(toolTask(waiting, WRITE.name))).cases).toEqual(["toolCancelled", "turnCancelled"]);
    const model = sessionInTurn();
    model.must(cancelTurn(turnIdOf(model)));
    expect(model.must(lost(modelTask(model))).cases).toEqual(["modelCancelled", "turnCancelled"]);
  });

  it("may be asked for again, which changes nothing but that it is on record", () => {
    const stream = sessionInTurn();
    stream.must(cancelTurn(turnIdOf(stream)));
    const before = stream.state;
    expect(stream.must(cancelTurn(turnIdOf(stream))).cases).toEqual(["turnCancelRequested"]);
    expect({ ...stream.state, updatedAtMs: 0 }).toEqual({ ...before, updatedAtMs: 0 });
  });

  it("is the active one", () => {
    const stream = sessionInTurn();
    expect(stream.execute(cancelTurn("other")).rejection).toMatchObject({ code: ErrorCode.CONFLICT, reason: "TURN_NOT_ACTIVE" });
    const turnId = turnIdOf(stream);
    answerWith(stream, [textPart("Hi.")]);
    expect(stream.execute(cancelTurn(turnId)).rejection).toMatchObject({ reason: "TURN_NOT_ACTIVE" });
    expect(stream.execute(cancelTurn("")).rejection).toMatchObject({ metadata: { field: "turn_id" } });
  });

  it("needs no id from the parent that does not know it", () => {
    const stream = sessionInTurn({ parent: { runId: "r", stepId: "s" } });
    expect(stream.must(cancelTurn("")).events[0]?.payload).toMatchObject({ case: "turnCancelRequested", value: { reason: "parent" } });
  });
});

describe("a turn whose wall time has passed", () => {
  it("stops like a cancelled one, and says why", () => {
    const stream = calling(WRITE.name);
    stream.must(started(toolTask(stream, WRITE.name)));
    const { events } = stream.must(fired(`turn:${turnIdOf(stream)}`));
    expect(events[0]?.payload).toMatchObject({ case: "turnCancelRequested", value: { reason: "deadline" } });
    expect(stream.timers()).toEqual([]);
    const end = stream.must(settled(toolTask(stream, WRITE.name), cancelled()));
    expect(end.cases).toEqual(["toolCancelled", "turnCompleted"]);
    expect(end.events[1]?.payload.value).toMatchObject({ outcome: TurnOutcome.BUDGET_WALL_TIME });
    expect(stream.execute(fired(`turn:${turnIdOf(stream)}`)).rejection).toMatchObject({ reason: "TASK_NOT_OPEN" });
  });
});

describe("a turn that is abandoned", () => {
  it("ends at once: what was dispatched is unknown, what was not has never begun", () => {
    const stream = calling(WRITE.name, SHELL.name);
    const { events, cases } = stream.must(abandonTurn(turnIdOf(stream)));
    expect(cases).toEqual(["toolCancelled", "toolSettledUnknown", "turnAbandoned"]);
    expect(events[2]?.payload.value).toMatchObject({ reason: "The host is gone.", usage: { inputTokens: 10n } });
    expect(stream.outstanding()).toEqual([]);
    expect(stream.must(reportedLate(`tool:${events[1]?.toolCallId}`)).cases).toEqual(["toolReportedLate"]);
  });

  it("ends also while it is stopping", () => {
    const stream = sessionInTurn();
    stream.must(cancelTurn(turnIdOf(stream)));
    expect(stream.must(abandonTurn(turnIdOf(stream))).cases).toEqual(["modelFailed", "turnAbandoned"]);
    expect(stream.must(startTurn()).cases[0]).toBe("turnStarted");
  });

  it("is the active one, with a reason in bounds", () => {
    const stream = sessionInTurn();
    expect(stream.execute(abandonTurn("other")).rejection).toMatchObject({ reason: "TURN_NOT_ACTIVE" });
    const command = create(AbandonTurnRequestSchema, { sessionId: SESSION_ID, turnId: turnIdOf(stream), reason: "x".repeat(1_025) });
    expect(stream.execute(command).rejection).toMatchObject({ metadata: { field: "reason" } });
  });
});
