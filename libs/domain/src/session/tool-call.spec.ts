import { create } from "@bufbuild/protobuf";
import { ErrorCode } from "@forge/protocol/common";
import { ToolResultSchema } from "@forge/protocol/worker";
import { describe, expect, it } from "vitest";
import {
  ALLOW_ALL,
  answer,
  answerWith,
  callPart,
  cancelled,
  failure,
  lost,
  READ,
  reportedLate,
  runTool,
  sessionInTurn,
  settled,
  started,
  textPart,
  toolResult,
  toolTask,
  turnIdOf,
  WRITE,
} from "../testing/session-fixture.ts";

function calling(...names: string[]) {
  const stream = sessionInTurn({ policy: ALLOW_ALL });
  answerWith(
    stream,
    names.map((name) => callPart(name)),
  );
  return stream;
}

describe("a tool call", () => {
  it("is started, completes, and the model is asked again", () => {
    const stream = calling(WRITE.name);
    const task = toolTask(stream, WRITE.name);
    expect(stream.must(started(task, 2)).events[0]?.payload).toMatchObject({ case: "toolStarted", value: { worker: "executor", epoch: 2 } });
    expect(stream.execute(started(task)).rejection).toMatchObject({ reason: "TASK_STARTED" });
    const { events, cases } = stream.must(settled(task, toolResult('{"n":1}')));
    expect(cases).toEqual(["toolCompleted", "modelRequested"]);
    expect(events[0]).toMatchObject({
      turnId: turnIdOf(stream),
      toolCallId: task.task.idempotencyKey,
      payload: { value: { output: { kind: { value: '{"n":1}' } } } },
    });
    expect(stream.execute(settled(task, toolResult())).rejection).toMatchObject({ code: ErrorCode.CONFLICT, reason: "TASK_NOT_OPEN" });
  });

  it("has no result without the start that it needs", () => {
    const stream = calling(WRITE.name);
    expect(stream.execute(settled(toolTask(stream, WRITE.name), toolResult())).rejection).toMatchObject({ reason: "TASK_NOT_STARTED" });
  });

  it("waits for its siblings before the model is asked again", () => {
    const stream = calling(READ.name, WRITE.name);
    expect(runTool(stream, READ.name).cases).toEqual(["toolCompleted"]);
    expect(runTool(stream, WRITE.name).cases).toEqual(["toolCompleted", "modelRequested"]);
  });

  it("may fail, which the model is told", () => {
    const stream = calling(WRITE.name);
    expect(stream.must(settled(toolTask(stream, WRITE.name), failure())).cases).toEqual(["toolFailed", "modelRequested"]);
  });

  it("is unknown where its worker can't say what it did", () => {
    const stream = calling(WRITE.name);
    stream.must(started(toolTask(stream, WRITE.name)));
    expect(stream.must(settled(toolTask(stream, WRITE.name), failure({ unknown: true }))).cases).toEqual(["toolSettledUnknown", "modelRequested"]);
  });

  it("may be stopped by its worker unasked", () => {
    const stream = calling(WRITE.name);
    expect(stream.must(settled(toolTask(stream, WRITE.name), cancelled())).cases).toEqual(["toolCancelled", "modelRequested"]);
  });

  it.each([
    ["OUTPUT_TOO_LARGE", { kind: { case: "json" as const, value: `"${"x".repeat(65_536)}"` } }],
    ["OUTPUT_INVALID", { kind: { case: "json" as const, value: '"\ud800"' } }],
    ["OUTPUT_INVALID", {}],
  ])("ends as failed with %s where its output can't be kept", (reason, output) => {
    const stream = calling(READ.name);
    const { events } = stream.must(settled(toolTask(stream, READ.name), { case: "tool", value: create(ToolResultSchema, { output }) }));
    expect(events[0]?.payload).toMatchObject({ case: "toolFailed", value: { error: { reason } } });
  });

  it("is refused a settlement that is not a tool's", () => {
    const stream = calling(WRITE.name);
    expect(stream.execute(settled(toolTask(stream, WRITE.name), answer([textPart("Hi.")]))).rejection).toMatchObject({ code: ErrorCode.VALIDATION });
  });
});

describe("a tool call whose worker is lost", () => {
  it("is unknown after its start where it is not idempotent, and never silently done again", () => {
    const stream = calling(WRITE.name);
    stream.must(started(toolTask(stream, WRITE.name)));
    expect(stream.must(lost(toolTask(stream, WRITE.name))).cases).toEqual(["toolSettledUnknown", "modelRequested"]);
  });

  it("fails before its start", () => {
    const stream = calling(WRITE.name);
    const { events, cases } = stream.must(lost(toolTask(stream, WRITE.name)));
    expect(cases).toEqual(["toolFailed", "modelRequested"]);
    expect(events[0]?.payload.value).toMatchObject({ error: { code: ErrorCode.WORKER_LOST, reason: "WORKER_LOST" } });
  });

  it("is dispatched again under another key where it is idempotent, until three workers were lost on it", () => {
    const stream = calling(READ.name);
    const toolCallId = toolTask(stream, READ.name).task.idempotencyKey;
    for (const key of [`tool:${toolCallId}`, `tool:${toolCallId}:1`]) {
      const task = toolTask(stream, READ.name);
      expect(task).toMatchObject({ key, task: { idempotencyKey: toolCallId } });
      stream.must(started(task));
      expect(stream.must(lost(task)).cases).toEqual(["toolRequested"]);
      expect(stream.execute(settled(task, toolResult())).rejection).toMatchObject({ reason: "TASK_NOT_OPEN" });
    }
    stream.must(started(toolTask(stream, READ.name)));
    expect(stream.must(lost(toolTask(stream, READ.name))).cases).toEqual(["toolFailed", "modelRequested"]);
    expect(stream.state.turn?.toolCallCount).toBe(1);
  });
});

describe("a late answer", () => {
  it("is noted once, and changes nothing else", () => {
    const stream = calling(WRITE.name);
    const task = toolTask(stream, WRITE.name);
    stream.must(started(task));
    stream.must(lost(task));
    const before = stream.outstanding();
    const { events, cases } = stream.must(reportedLate(task.key, toolResult('"written"')));
    expect(cases).toEqual(["toolReportedLate"]);
    expect(events[0]).toMatchObject({
      toolCallId: task.task.idempotencyKey,
      payload: { value: { worker: "executor", outcome: "completed", preview: '"written"' } },
    });
    expect(stream.outstanding()).toEqual(before);
    expect(stream.execute(reportedLate(task.key)).rejection).toMatchObject({ reason: "TASK_REPORTED_LATE" });
  });

  it("keeps the turn that the call belonged to, also after its end", () => {
    const stream = calling(WRITE.name);
    const task = toolTask(stream, WRITE.name);
    const turnId = turnIdOf(stream);
    stream.must(started(task));
    stream.must(lost(task));
    answerWith(stream, [textPart("I do not know.")]);
    expect(stream.must(reportedLate(task.key, failure({ message: "x".repeat(300) }))).events[0]).toMatchObject({
      turnId,
      payload: { value: { outcome: "failed", preview: "x".repeat(256) } },
    });
  });

  it.each(["model:x:0", "tool:unknown", "turn:x", "nonsense"])("to %s is refused", (key) => {
    expect(calling(WRITE.name).execute(reportedLate(key)).rejection).toMatchObject({ code: ErrorCode.NOT_FOUND });
  });

  it("to a call that is still open is refused", () => {
    const stream = calling(WRITE.name);
    expect(stream.execute(reportedLate(toolTask(stream, WRITE.name).key)).rejection).toMatchObject({ reason: "TASK_NOT_FOUND" });
  });
});
