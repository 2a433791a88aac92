import { create } from "@bufbuild/protobuf";
import { ErrorCode } from "@forge/protocol/common";
import { ErrorRecovery, TurnOutcome, TurnStatus } from "@forge/protocol/session";
import { Decision, ToolMode } from "@forge/protocol/tool";
import { InputRequiredSchema, ToolResultSchema } from "@forge/protocol/worker";
import { describe, expect, it } from "vitest";
import { foldConversation } from "../conversation/fold-conversation.ts";
import type { TaskSettled } from "../task.ts";
import {
  ALLOW_ALL,
  answerWith,
  callPart,
  cancelled,
  cancelTurn,
  continueTurn,
  failure,
  fired,
  pauseTurn,
  pendingApprovals,
  pendingInputs,
  provideInput,
  READ,
  resolve,
  runTool,
  SEARCH,
  type SessionInit,
  type SessionStream,
  SHELL,
  sessionInTurn,
  settled,
  started,
  TOOLS,
  toolResult,
  toolTask,
  turnIdOf,
  updatePolicy,
  WRITE,
} from "../testing/session-fixture.ts";
import { turnStatus } from "./state.ts";

function calling(errorRecovery: ErrorRecovery, names: readonly string[], policy: SessionInit["policy"] = ALLOW_ALL): SessionStream {
  const stream = sessionInTurn({ agent: { model: "demo/a", tools: TOOLS.map(({ name }) => name), errorRecovery }, policy });
  answerWith(
    stream,
    names.map((name) => callPart(name)),
  );
  return stream;
}

function fail(stream: SessionStream, name: string) {
  const task = toolTask(stream, name);
  if (task.task.needsStart) stream.must(started(task));
  return stream.must(settled(task, failure()));
}

/** What the model reads as the newest message. */
function lastOutput(stream: SessionStream): string {
  const part = foldConversation(stream.events).at(-1)?.parts[0]?.kind;
  return part?.case === "toolResult" ? part.value.output : String(part?.case);
}

describe("a call that failed", () => {
  it.each([ErrorRecovery.UNSPECIFIED, ErrorRecovery.RETURN])("is told to the model (%s)", (recovery) => {
    expect(fail(calling(recovery, [WRITE.name]), WRITE.name).cases).toEqual(["toolFailed", "modelRequested"]);
  });

  it("stops the turn: what runs is asked to stop, what does not is cancelled", () => {
    const stream = calling(ErrorRecovery.STOP, [READ.name, SEARCH.name, WRITE.name]);
    expect(fail(stream, READ.name).cases).toEqual(["toolFailed", "turnCancelRequested", "toolCancelled"]);
    expect(stream.work()).toMatchObject([{ capability: `tool:${SEARCH.name}`, cancelRequested: true }]);
    const { cases, events } = stream.must(settled(toolTask(stream, SEARCH.name), cancelled()));
    expect(cases).toEqual(["toolCancelled", "turnFailed"]);
    expect(events[1]?.payload.value).toMatchObject({ outcome: TurnOutcome.TASK_FAILED, error: { reason: "RATE_LIMIT" } });
  });

  it("stops the turn also where nobody could make it", () => {
    const stream = calling(ErrorRecovery.STOP, ["tools.absent"]);
    expect(stream.state.turn?.end).toMatchObject({ status: TurnStatus.FAILED, outcome: TurnOutcome.TASK_FAILED, error: { reason: "TOOL_NOT_FOUND" } });
  });

  it("leaves the turn going where it was only denied", () => {
    const stream = calling(ErrorRecovery.STOP, [WRITE.name], { defaultDecision: Decision.DENY });
    expect(stream.state.turn?.modelCall).toBeDefined();
  });

  it("is made again twice, later and later, where it is idempotent; then the model is told", () => {
    const stream = calling(ErrorRecovery.RETRY, [READ.name]);
    const dueAfter: number[] = [];
    for (const attempt of [1, 2]) {
      const { cases, events } = fail(stream, READ.name);
      expect(cases).toEqual(["toolRetried"]);
      expect(events[0]?.payload.value).toMatchObject({ attempt, error: { reason: "RATE_LIMIT" } });
      const task = toolTask(stream, READ.name);
      expect(task.key).toMatch(new RegExp(`:${attempt}$`));
      dueAfter.push(task.dueAtMs - stream.nowMs);
    }
    expect(dueAfter[0]).toBeGreaterThanOrEqual(1_000);
    expect(dueAfter[1]).toBeGreaterThanOrEqual(2_000);
    expect(fail(stream, READ.name).cases).toEqual(["toolFailed", "modelRequested"]);
  });

  it("is not made again where it may have had an effect, nor past the turn's deadline", () => {
    expect(fail(calling(ErrorRecovery.RETRY, [SEARCH.name]), SEARCH.name).cases).toEqual(["toolFailed", "modelRequested"]);
    const late = calling(ErrorRecovery.RETRY, [READ.name]);
    late.nowMs = (late.state.turn?.deadlineAtMs ?? 0) - 500;
    expect(fail(late, READ.name).cases).toEqual(["toolFailed", "modelRequested"]);
  });

  it("and waits for its next attempt is held by a pause, and goes on with the turn", () => {
    const stream = calling(ErrorRecovery.RETRY, [READ.name]);
    fail(stream, READ.name);
    stream.must(pauseTurn(turnIdOf(stream)));
    expect(stream.work()).toEqual([]);
    expect(stream.state.turn && turnStatus(stream.state.turn)).toBe(TurnStatus.PAUSED);
    stream.must(continueTurn(turnIdOf(stream)));
    expect(runTool(stream, READ.name).cases).toEqual(["toolCompleted", "modelRequested"]);
  });

  it("is asked about: the person's words are what comes of it", () => {
    const stream = calling(ErrorRecovery.ASK, [WRITE.name, SHELL.name]);
    const { cases, events } = fail(stream, WRITE.name);
    expect(cases).toEqual(["turnInputRequested"]);
    expect(events[0]?.payload.value).toMatchObject({ question: expect.stringContaining("Too many requests."), error: { reason: "RATE_LIMIT" } });
    // It holds nobody back.
    expect(stream.work()).toMatchObject([{ capability: `tool:${SHELL.name}` }]);
    runTool(stream, SHELL.name);
    expect(stream.state.turn && turnStatus(stream.state.turn)).toBe(TurnStatus.WAITING_INPUT);
    const [inputId = ""] = pendingInputs(stream);
    expect(stream.must(provideInput(turnIdOf(stream), inputId, "Leave it.")).cases).toEqual(["turnInputProvided", "toolCompleted", "modelRequested"]);
    expect(lastOutput(stream)).toBe('"Leave it."');
  });

  it("and was asked about in vain fails with what it had failed with", () => {
    const stream = calling(ErrorRecovery.ASK, [WRITE.name]);
    fail(stream, WRITE.name);
    const { events } = stream.must(fired(`input:${pendingInputs(stream)[0]}`));
    expect(events[0]?.payload).toMatchObject({ case: "toolFailed", value: { error: { reason: "RATE_LIMIT" } } });
  });
});

describe("a denial that stops the turn", () => {
  it("cancels the rest of the answer's calls, and ends the turn as denied once nothing runs", () => {
    const stream = calling(ErrorRecovery.UNSPECIFIED, [READ.name, WRITE.name, SHELL.name], {});
    const [approvalId = ""] = pendingApprovals(stream);
    const { cases, events } = stream.must(resolve(approvalId, Decision.DENY, "Stop.", { stopTurn: true }));
    expect(cases).toEqual(["approvalResolved", "toolDenied", "turnCancelRequested", "toolCancelled"]);
    expect(events[0]?.payload.value).toMatchObject({ stopTurn: true });
    expect(stream.work()).toMatchObject([{ capability: `tool:${READ.name}`, cancelRequested: true }]);
    const ended = stream.must(settled(toolTask(stream, READ.name), cancelled()));
    expect(ended.cases).toEqual(["toolCancelled", "turnCompleted"]);
    expect(ended.events[1]?.payload.value).toMatchObject({ outcome: TurnOutcome.DENIED });
  });
});

describe("an answer whose calls all say that nothing is left to do", () => {
  const breaking = (): TaskSettled["outcome"] => ({ case: "tool", value: create(ToolResultSchema, { breakTurn: true }) });

  it("ends the turn without another model call", () => {
    const stream = calling(ErrorRecovery.UNSPECIFIED, [READ.name, READ.name]);
    const [first, second] = stream.work();
    stream.must(settled(first ?? { key: "" }, breaking()));
    const { cases, events } = stream.must(settled(second ?? { key: "" }, breaking()));
    expect(cases).toEqual(["toolCompleted", "turnCompleted"]);
    expect(events[1]?.payload.value).toMatchObject({ outcome: TurnOutcome.TASK_COMPLETED });
  });

  it("goes on where one of them says otherwise", () => {
    const stream = calling(ErrorRecovery.UNSPECIFIED, [READ.name, READ.name]);
    const [first, second] = stream.work();
    stream.must(settled(first ?? { key: "" }, breaking()));
    expect(stream.must(settled(second ?? { key: "" }, toolResult())).cases).toEqual(["toolCompleted", "modelRequested"]);
  });
});

describe("a call that needs a person to go on", () => {
  const asks = (question = "Which?", resumeJson = '{"at":1}'): TaskSettled["outcome"] => ({
    case: "inputRequired",
    value: create(InputRequiredSchema, { question, resumeJson }),
  });
  const ask = (stream: SessionStream, outcome = asks()) => {
    const task = toolTask(stream, WRITE.name);
    stream.must(started(task));
    return stream.must(settled(task, outcome));
  };

  it("is given out again with the answer and what it left for itself", () => {
    const stream = calling(ErrorRecovery.UNSPECIFIED, [WRITE.name]);
    const first = toolTask(stream, WRITE.name);
    expect(ask(stream).cases).toEqual(["turnInputRequested"]);
    expect(stream.work()).toEqual([]);
    expect(stream.state.turn && turnStatus(stream.state.turn)).toBe(TurnStatus.WAITING_INPUT);
    expect(stream.must(provideInput(turnIdOf(stream), pendingInputs(stream)[0] ?? "", "The first.")).cases).toEqual(["turnInputProvided"]);
    const again = toolTask(stream, WRITE.name);
    expect(again.key).not.toBe(first.key);
    expect(again.task).toMatchObject({
      idempotencyKey: first.task.idempotencyKey,
      kind: { value: { providedInputs: ["The first."], resumeJson: '{"at":1}' } },
    });
    expect(runTool(stream, WRITE.name).cases).toEqual(["toolCompleted", "modelRequested"]);
  });

  it("asks sixteen times at most", () => {
    const stream = calling(ErrorRecovery.UNSPECIFIED, [WRITE.name]);
    for (let round = 0; round < 16; round++) {
      ask(stream);
      stream.must(provideInput(turnIdOf(stream), pendingInputs(stream)[0] ?? "", "Yes."));
    }
    expect(ask(stream).events[0]?.payload).toMatchObject({ case: "toolFailed", value: { error: { reason: "TOO_MANY_INPUTS" } } });
  });

  it.each([
    ["nothing", asks(" ")],
    ["too much", asks("x".repeat(4_097))],
    ["with too much left for itself", asks("Which?", "x".repeat(16_385))],
  ])("fails where it asks %s", (_, outcome) => {
    const { events } = ask(calling(ErrorRecovery.UNSPECIFIED, [WRITE.name]), outcome);
    expect(events[0]?.payload).toMatchObject({ case: "toolFailed", value: { error: { code: ErrorCode.VALIDATION, reason: "INPUT_INVALID" } } });
  });

  it("ends with the turn that is asked to stop, before and after it asks", () => {
    const waiting = calling(ErrorRecovery.UNSPECIFIED, [WRITE.name]);
    ask(waiting);
    expect(waiting.must(cancelTurn(turnIdOf(waiting))).cases).toEqual(["turnCancelRequested", "toolCancelled", "turnCancelled"]);
    const running = calling(ErrorRecovery.UNSPECIFIED, [WRITE.name]);
    const task = toolTask(running, WRITE.name);
    running.must(started(task));
    running.must(cancelTurn(turnIdOf(running)));
    expect(running.must(settled(task, asks())).cases).toEqual(["toolCancelled", "turnCancelled"]);
  });

  it("is denied once the session is in plan mode", () => {
    const waiting = calling(ErrorRecovery.UNSPECIFIED, [WRITE.name]);
    ask(waiting);
    expect(waiting.must(updatePolicy({ mode: ToolMode.PLAN })).cases).toEqual(["sessionPolicyUpdated", "toolDenied", "modelRequested"]);
    const running = calling(ErrorRecovery.UNSPECIFIED, [WRITE.name]);
    const task = toolTask(running, WRITE.name);
    running.must(started(task));
    running.must(updatePolicy({ mode: ToolMode.PLAN }));
    expect(running.must(settled(task, asks())).cases).toEqual(["toolDenied", "modelRequested"]);
  });

  it("that has not started has asked nothing", () => {
    const stream = calling(ErrorRecovery.UNSPECIFIED, [WRITE.name]);
    expect(stream.execute(settled(toolTask(stream, WRITE.name), asks())).rejection).toMatchObject({ reason: "TASK_NOT_STARTED" });
  });
});
