import { timestampMs } from "@bufbuild/protobuf/wkt";
import { ErrorCode } from "@forge/protocol/common";
import { TurnOutcome } from "@forge/protocol/session";
import { describe, expect, it } from "vitest";
import {
  answer,
  answerWith,
  callPart,
  cancelled,
  failure,
  lost,
  modelTask,
  READ,
  sessionInTurn,
  settled,
  started,
  textPart,
  toolResult,
} from "../testing/session-fixture.ts";

describe("a model call", () => {
  it("is started once, by the worker that says so", () => {
    const stream = sessionInTurn();
    const { events } = stream.must(started(modelTask(stream), 3));
    expect(events[0]?.payload).toMatchObject({ case: "modelStarted", value: { worker: "executor", epoch: 3 } });
    expect(events[0]?.modelCallId).not.toBe("");
    expect(stream.execute(started(modelTask(stream))).rejection).toMatchObject({ code: ErrorCode.CONFLICT, reason: "TASK_STARTED" });
  });

  it("has no answer without a start", () => {
    const stream = sessionInTurn();
    expect(stream.execute(settled(modelTask(stream), answer([textPart("Hi.")]))).rejection).toMatchObject({ reason: "TASK_NOT_STARTED" });
  });

  it("gives each call of its answer an id of ours and a provider's id of its own", () => {
    const stream = sessionInTurn();
    const { events } = answerWith(stream, [callPart(READ.name, "{}", "same"), callPart(READ.name, "{}", "same"), callPart(READ.name)]);
    const payload = events[0]?.payload;
    const calls = payload?.case === "modelCompleted" ? payload.value.parts.flatMap((part) => (part.kind.case === "toolCall" ? part.kind.value : [])) : [];
    expect(new Set(calls.map((call) => call.toolCallId)).size).toBe(3);
    expect(calls.map((call) => call.providerCallId)).toEqual(["same", calls[1]?.toolCallId, calls[2]?.toolCallId]);
    expect(events.filter((event) => event.payload.case === "toolRequested").map((event) => event.toolCallId)).toEqual(calls.map((call) => call.toolCallId));
  });

  it("is refused a settlement that is not a model's, or of another attempt", () => {
    const stream = sessionInTurn();
    const task = modelTask(stream);
    expect(stream.execute(settled(task, toolResult())).rejection).toMatchObject({ code: ErrorCode.VALIDATION });
    expect(stream.execute(settled({ key: `${task.key}9` }, failure())).rejection).toMatchObject({ reason: "TASK_NOT_OPEN", metadata: { key: `${task.key}9` } });
  });
});

describe("a model call that fails before output", () => {
  it("is tried again later, under another key, as often as four times", () => {
    const stream = sessionInTurn();
    const delays: number[] = [];
    for (let attempt = 1; attempt < 4; attempt += 1) {
      const before = modelTask(stream);
      stream.must(started(before));
      const { events, cases } = stream.must(settled(before, failure({ retryable: true })));
      expect(cases).toEqual(["modelAttemptFailed"]);
      expect(events[0]?.payload.value).toMatchObject({ attempt, error: { reason: "RATE_LIMIT" } });
      const after = modelTask(stream);
      expect(after.key).not.toBe(before.key);
      expect(after.task.kind.value).toMatchObject({ failedAttempts: attempt });
      delays.push(after.dueAtMs - stream.nowMs);
    }
    for (const [index, delay] of delays.entries()) {
      expect(delay).toBeGreaterThanOrEqual(1_000 * 2 ** index);
      expect(delay).toBeLessThanOrEqual(1_250 * 2 ** index);
    }
    const { events, cases } = stream.must(settled(modelTask(stream), failure({ retryable: true })));
    expect(cases).toEqual(["modelFailed", "turnFailed"]);
    expect(events[1]?.payload.value).toMatchObject({ outcome: TurnOutcome.TASK_FAILED, error: { reason: "RATE_LIMIT" } });
    expect(stream.outstanding()).toEqual([]);
  });

  it("waits at least as long as the provider asks", () => {
    const stream = sessionInTurn();
    const { events } = stream.must(settled(modelTask(stream), failure({ retryable: true, retryAfterSeconds: 60 })));
    const payload = events[0]?.payload;
    if (payload?.case !== "modelAttemptFailed" || payload.value.nextAttemptAt === undefined) throw new Error("expected another attempt");
    expect(timestampMs(payload.value.nextAttemptAt)).toBeGreaterThanOrEqual(stream.nowMs + 60_000);
  });

  it("is not tried again after the turn's deadline", () => {
    const stream = sessionInTurn();
    expect(stream.must(settled(modelTask(stream), failure({ retryable: true, retryAfterSeconds: 26 * 3_600 }))).cases).toEqual(["modelFailed", "turnFailed"]);
  });

  it.each([
    ["not retryable", {}],
    ["after output", { retryable: true, afterOutput: true }],
    ["unknown", { retryable: true, unknown: true }],
  ])("fails the turn when it is %s", (_, init) => {
    const stream = sessionInTurn();
    stream.must(started(modelTask(stream)));
    expect(stream.must(settled(modelTask(stream), failure(init))).cases).toEqual(["modelFailed", "turnFailed"]);
  });

  it("is tried again when its worker stopped it unasked", () => {
    const stream = sessionInTurn();
    expect(stream.must(settled(modelTask(stream), cancelled())).cases).toEqual(["modelAttemptFailed"]);
  });

  it("keeps errors within their bounds", () => {
    const stream = sessionInTurn();
    const { events } = stream.must(settled(modelTask(stream), failure({ message: "x".repeat(10_000) })));
    const payload = events[0]?.payload;
    expect(payload?.case === "modelFailed" && payload.value.error?.message.length).toBe(4_096);
  });
});

describe("a model call whose worker is lost", () => {
  it("is tried again at once, until three workers were lost on it", () => {
    const stream = sessionInTurn();
    for (let loss = 1; loss < 3; loss += 1) {
      const task = modelTask(stream);
      stream.must(started(task));
      const { events, cases } = stream.must(lost(task));
      expect(cases).toEqual(["modelAttemptFailed"]);
      expect(events[0]?.payload.value).toMatchObject({ error: { code: ErrorCode.WORKER_LOST } });
      expect(modelTask(stream).dueAtMs).toBe(stream.nowMs);
      expect(stream.execute(settled(task, answer([textPart("Late.")]))).rejection).toMatchObject({ reason: "TASK_NOT_OPEN" });
    }
    stream.must(started(modelTask(stream)));
    const { events, cases } = stream.must(lost(modelTask(stream)));
    expect(cases).toEqual(["modelFailed", "turnFailed"]);
    expect(events[1]?.payload.value).toMatchObject({ error: { reason: "WORKER_LOST" } });
  });

  it("fails when it was lost too often before its start", () => {
    const stream = sessionInTurn();
    expect(stream.must(lost(modelTask(stream))).cases).toEqual(["modelFailed", "turnFailed"]);
  });
});
