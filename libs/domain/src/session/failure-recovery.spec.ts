import { FinishReason } from "@forge/protocol/event";
import { TurnOutcome, TurnStatus } from "@forge/protocol/session";
import { describe, expect, it } from "vitest";
import {
  answerWith,
  callPart,
  cancelTurn,
  continueTurn,
  createSession,
  failure,
  modelTask,
  newSession,
  pauseTurn,
  READ,
  runTool,
  SESSION_ID,
  type SessionStream,
  sessionInTurn,
  settled,
  started,
  startTurn,
  TOOLS,
  textPart,
  turnIdOf,
} from "../testing/session-fixture.ts";
import { TestStream } from "../testing/test-stream.ts";
import { sessionDecider } from "./session-decider.ts";
import { sessionView } from "./view.ts";

const agent = { model: "one/a", fallbackModels: ["two/b", "three/c"], tools: TOOLS.map(({ name }) => name) };

function fail(stream: SessionStream, init: Parameters<typeof failure>[0] = {}) {
  stream.must(started(modelTask(stream)));
  return stream.must(settled(modelTask(stream), failure(init)));
}

describe("a model call that failed for good", () => {
  it("is made with the next model, which stays until the turn ends", () => {
    const stream = sessionInTurn({ agent });
    const { cases, events } = fail(stream);
    expect(cases).toEqual(["modelFailed", "modelRequested"]);
    expect(events.at(-1)?.payload.value).toMatchObject({ model: "two/b", callIndex: 2 });
    expect(modelTask(stream)).toMatchObject({ capability: "model:two/b", task: { kind: { value: { model: "two/b" } } } });
    expect(sessionView(stream.state, stream.seq).turn?.openCalls[0]?.name).toBe("two/b");
    const answered = answerWith(stream, [callPart(READ.name)]);
    expect(answered.events.find(({ payload }) => payload.case === "modelUsageRecorded")?.payload.value).toMatchObject({ model: "two/b" });
    runTool(stream, READ.name);
    expect(modelTask(stream).capability).toBe("model:two/b");
    answerWith(stream, [textPart("Done.")]);
    stream.must(startTurn("Next."));
    expect(modelTask(stream).capability).toBe("model:one/a");
  });

  it("fails the turn once no model is left", () => {
    const stream = sessionInTurn({ agent });
    fail(stream);
    fail(stream);
    expect(fail(stream, { message: "The third." }).cases).toEqual(["modelFailed", "turnFailed"]);
    expect(stream.state.turn?.end).toMatchObject({ status: TurnStatus.FAILED, error: { message: "The third." } });
  });

  it("is not made with another where it was cancelled, was too long, or may be made no more", () => {
    const stopped = sessionInTurn({ agent });
    stopped.must(started(modelTask(stopped)));
    stopped.must(cancelTurn(turnIdOf(stopped)));
    expect(stopped.must(settled(modelTask(stopped), failure())).cases).toEqual(["modelFailed", "turnCancelled"]);
    expect(fail(sessionInTurn({ agent }), { reason: "CONTEXT_OVERFLOW" }).cases).toEqual(["modelFailed", "turnFailed"]);
    expect(fail(sessionInTurn({ agent }), { reason: "CONTENT_FILTER" }).cases).toEqual(["modelFailed", "turnFailed"]);
    expect(fail(sessionInTurn({ agent: { ...agent, budget: { modelCalls: 1 } } })).cases).toEqual(["modelFailed", "turnFailed"]);
  });

  it("is retried with the same model before", () => {
    const stream = sessionInTurn({ agent });
    expect(fail(stream, { retryable: true }).cases).toEqual(["modelAttemptFailed"]);
    expect(modelTask(stream).capability).toBe("model:one/a");
  });

  it("waits for a paused turn to go on", () => {
    const stream = sessionInTurn({ agent });
    stream.must(pauseTurn(turnIdOf(stream)));
    expect(fail(stream).cases).toEqual(["modelFailed"]);
    expect(stream.work()).toEqual([]);
    expect(stream.must(continueTurn(turnIdOf(stream))).cases).toEqual(["turnContinued", "modelRequested"]);
    expect(modelTask(stream).capability).toBe("model:two/b");
  });

  it("does not end the turn by an earlier answer", () => {
    const stream = sessionInTurn({ agent });
    answerWith(stream, [textPart("No.")], FinishReason.CONTENT_FILTER);
    expect(stream.state.turn?.end?.outcome).toBe(TurnOutcome.REFUSED);
  });
});

describe("fallback models", () => {
  it.each<[string, readonly string[], string]>([
    ["too many", ["a/1", "a/2", "a/3", "a/4"], "agent.fallback_models"],
    ["no model", ["nameless"], "agent.fallback_models[0]"],
    ["the model itself", ["one/a"], "agent.fallback_models[0]"],
    ["one twice", ["a/1", "a/1"], "agent.fallback_models[1]"],
  ])("with %s are refused", (_, fallbackModels, field) => {
    const { rejection } = new TestStream(sessionDecider, { streamId: SESSION_ID }).execute(
      createSession({ agent: { model: "one/a", fallbackModels: [...fallbackModels] } }),
    );
    expect(rejection?.metadata).toMatchObject({ field });
  });

  it("are none by default", () => {
    const stream = newSession();
    stream.must(startTurn());
    expect(fail(stream).cases).toEqual(["modelFailed", "turnFailed"]);
  });
});
