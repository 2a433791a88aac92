import { TurnStatus } from "@forge/protocol/session";
import { Decision } from "@forge/protocol/tool";
import { describe, expect, it } from "vitest";
import {
  ALLOW_ALL,
  answerWith,
  callPart,
  cancelTurn,
  continueTurn,
  failure,
  fired,
  lost,
  modelTask,
  pauseTurn,
  pendingApprovals,
  READ,
  resolve,
  runTool,
  type SessionStream,
  SHELL,
  sessionInTurn,
  settled,
  started,
  steerTurn,
  textPart,
  toolTask,
  turnIdOf,
  WRITE,
} from "../testing/session-fixture.ts";
import { turnStatus } from "./state.ts";
import { sessionView } from "./view.ts";

const status = (stream: SessionStream) => stream.state.turn && turnStatus(stream.state.turn);

function paused(): SessionStream {
  const stream = sessionInTurn({ policy: ALLOW_ALL });
  stream.must(pauseTurn(turnIdOf(stream)));
  return stream;
}

describe("a paused turn", () => {
  it("lets what was dispatched finish, and dispatches nothing after it", () => {
    const stream = paused();
    expect(stream.work()).toHaveLength(1);
    expect(status(stream)).toBe(TurnStatus.RUNNING);
    expect(sessionView(stream.state, stream.seq).turn?.paused).toBe(true);
    expect(answerWith(stream, [callPart(WRITE.name), callPart(SHELL.name)]).cases).toEqual([
      "modelCompleted",
      "modelUsageRecorded",
      "toolRequested",
      "toolRequested",
    ]);
    expect(stream.work()).toEqual([]);
    expect(status(stream)).toBe(TurnStatus.PAUSED);
  });

  it("goes on where it was held: with its calls in order, then the model", () => {
    const stream = paused();
    answerWith(stream, [callPart(WRITE.name), callPart(SHELL.name)]);
    expect(stream.must(continueTurn(turnIdOf(stream))).cases).toEqual(["turnContinued"]);
    expect(stream.work().map(({ capability }) => capability)).toEqual([`tool:${WRITE.name}`]);
    runTool(stream, WRITE.name);
    stream.must(pauseTurn(turnIdOf(stream)));
    runTool(stream, SHELL.name);
    expect(stream.work()).toEqual([]);
    expect(stream.must(continueTurn(turnIdOf(stream))).cases).toEqual(["turnContinued", "modelRequested"]);
    expect(status(stream)).toBe(TurnStatus.RUNNING);
  });

  it("ends where what was dispatched was its last work", () => {
    expect(answerWith(paused(), [textPart("Done.")]).cases.at(-1)).toBe("turnCompleted");
  });

  it("takes steering, and reads it when it goes on", () => {
    const stream = paused();
    stream.must(steerTurn(turnIdOf(stream)));
    expect(answerWith(stream, [textPart("Done.")]).cases.at(-1)).toBe("modelUsageRecorded");
    expect(status(stream)).toBe(TurnStatus.PAUSED);
    expect(stream.must(continueTurn(turnIdOf(stream))).cases).toEqual(["turnContinued", "modelRequested"]);
  });

  it("takes answers to approvals, and dispatches what they grant when it goes on", () => {
    const stream = sessionInTurn();
    stream.must(pauseTurn(turnIdOf(stream)));
    answerWith(stream, [callPart(WRITE.name)]);
    expect(status(stream)).toBe(TurnStatus.PAUSED);
    stream.must(resolve(pendingApprovals(stream)[0] ?? "", Decision.ALLOW));
    expect(stream.work()).toEqual([]);
    stream.must(continueTurn(turnIdOf(stream)));
    expect(stream.work()).toHaveLength(1);
  });

  it("makes no further attempt at a model call", () => {
    const stream = sessionInTurn();
    stream.must(started(modelTask(stream)));
    stream.must(settled(modelTask(stream), failure({ retryable: true })));
    const [attempt] = stream.work();
    stream.must(pauseTurn(turnIdOf(stream)));
    expect(stream.work()).toEqual([]);
    expect(status(stream)).toBe(TurnStatus.PAUSED);
    stream.must(continueTurn(turnIdOf(stream)));
    expect(stream.work()).toEqual([attempt]);
    stream.must(started(modelTask(stream)));
    stream.must(pauseTurn(turnIdOf(stream)));
    stream.must(settled(modelTask(stream), failure({ retryable: true })));
    expect(stream.work()).toEqual([]);
    expect(stream.must(cancelTurn(turnIdOf(stream))).cases).toEqual(["turnCancelRequested", "modelCancelled", "turnCancelled"]);
  });

  it("is told nothing by a task that it holds back", () => {
    const stream = sessionInTurn({ policy: ALLOW_ALL });
    stream.must(settled(modelTask(stream), failure({ retryable: true })));
    const next = modelTask(stream);
    stream.must(pauseTurn(turnIdOf(stream)));
    expect(stream.work()).toEqual([]);
    for (const command of [started(next), settled(next, failure()), lost(next)]) {
      expect(stream.execute(command).rejection).toMatchObject({ reason: "TASK_NOT_OPEN" });
    }
  });

  it("makes no further attempt at a tool call whose worker was lost", () => {
    const stream = sessionInTurn();
    answerWith(stream, [callPart(READ.name)]);
    stream.must(started(toolTask(stream, READ.name)));
    stream.must(pauseTurn(turnIdOf(stream)));
    stream.must(lost(toolTask(stream, READ.name)));
    expect(stream.work()).toEqual([]);
    stream.must(continueTurn(turnIdOf(stream)));
    expect(toolTask(stream, READ.name).key).toMatch(/:1$/);
  });

  it("can be cancelled, and its deadline goes on", () => {
    const held = paused();
    answerWith(held, [callPart(WRITE.name)]);
    expect(held.must(cancelTurn(turnIdOf(held))).cases).toEqual(["turnCancelRequested", "toolCancelled", "turnCancelled"]);
    const late = paused();
    answerWith(late, [callPart(WRITE.name)]);
    expect(late.must(fired(`turn:${turnIdOf(late)}`)).cases).toEqual(["turnCancelRequested", "toolCancelled", "turnCompleted"]);
  });

  it("is refused what does not fit: to pause twice, to continue what runs, to pause what stops", () => {
    const stream = paused();
    expect(stream.execute(pauseTurn(turnIdOf(stream))).rejection?.reason).toBe("TURN_PAUSED");
    stream.must(continueTurn(turnIdOf(stream)));
    expect(stream.execute(continueTurn(turnIdOf(stream))).rejection?.reason).toBe("TURN_NOT_PAUSED");
    stream.must(cancelTurn(turnIdOf(stream)));
    expect(stream.execute(pauseTurn(turnIdOf(stream))).rejection?.reason).toBe("TURN_CANCELLING");
    expect(stream.execute(continueTurn(turnIdOf(stream))).rejection?.reason).toBe("TURN_NOT_PAUSED");
    expect(stream.execute(pauseTurn("00000000-0000-7000-8000-000000000001")).rejection?.reason).toBe("TURN_NOT_ACTIVE");
  });
});
