import { create } from "@bufbuild/protobuf";
import { ErrorCode, ForgeErrorSchema } from "@forge/protocol/common";
import { TaskCancelledSchema, TaskFailureSchema, ToolResultSchema } from "@forge/protocol/worker";
import { describe, expect, it } from "vitest";
import type { TaskSettled } from "../task.ts";
import {
  ALLOW_ALL,
  answerWith,
  callPart,
  reportedLate,
  type SessionStream,
  sessionInTurn,
  settled,
  started,
  textPart,
  toolTask,
  turnIdOf,
  WRITE,
} from "../testing/session-fixture.ts";

/** A turn with a call of a tool that changes files. */
function writing(): SessionStream {
  const stream = sessionInTurn({ policy: ALLOW_ALL });
  answerWith(stream, [callPart(WRITE.name)]);
  return stream;
}

describe("what a call changed", () => {
  const files = [{ path: "a", beforeSha256: "", afterSha256: "a".repeat(64) }];
  const changed = (changes: Parameters<typeof create<typeof ToolResultSchema>>[1] = { changes: [{ changeId: "c1", files }] }): TaskSettled["outcome"] => ({
    case: "tool",
    value: create(ToolResultSchema, changes),
  });
  const settle = (outcome: TaskSettled["outcome"]) => {
    const stream = writing();
    const task = toolTask(stream, WRITE.name);
    stream.must(started(task));
    return { stream, effect: stream.execute(settled(task, outcome)) };
  };

  it("is on record with its end, however it ended", () => {
    const { stream, effect } = settle(changed());
    expect(effect.cases).toEqual(["workspaceChangeRecorded", "toolCompleted", "modelRequested"]);
    expect(effect.events[0]).toMatchObject({ turnId: turnIdOf(stream), payload: { value: { changeId: "c1", files, tool: WRITE.name } } });
    expect(stream.state.changeCount).toBe(1);
    const error = create(ForgeErrorSchema, { code: ErrorCode.INTERNAL, message: "No." });
    const changes = [{ files }];
    const failed = settle({ case: "failure", value: create(TaskFailureSchema, { error, unknown: true, changes }) });
    expect(failed.effect.cases).toEqual(["workspaceChangeRecorded", "toolSettledUnknown", "modelRequested"]);
    expect(failed.effect.events[0]?.payload.value).toMatchObject({ changeId: expect.stringMatching(/^[0-9a-f-]{36}$/) });
    expect(settle({ case: "cancelled", value: create(TaskCancelledSchema, { changes }) }).effect.cases[0]).toBe("workspaceChangeRecorded");
  });

  it("is on record where it is reported late", () => {
    const stream = writing();
    const task = toolTask(stream, WRITE.name);
    stream.must(started(task));
    stream.must({ $typeName: "task.lost", key: task.key, epoch: 1 });
    expect(stream.must(reportedLate(task.key, changed())).cases).toEqual(["toolReportedLate", "workspaceChangeRecorded"]);
    expect(stream.state.changeCount).toBe(1);
    expect(stream.execute(reportedLate(task.key, changed())).rejection).toMatchObject({ reason: "TASK_REPORTED_LATE" });
  });

  it("with more files than are kept says how many are not", () => {
    const many = Array.from({ length: 1_002 }, (_, index) => ({ path: `f${index}` }));
    const { effect } = settle(changed({ changes: [{ files: many, notUndoable: ["12 ignored files"] }] }));
    const value = effect.events[0]?.payload.value as { files: unknown[]; notUndoable: string[] };
    expect(value.files).toHaveLength(1_000);
    expect(value.notUndoable).toEqual(["2 more files", "12 ignored files"]);
  });

  it.each([
    ["a file without a path", [{ files: [{ path: "" }] }]],
    ["a digest that is none", [{ files: [{ path: "a", afterSha256: "x" }] }]],
    ["an id twice", [{ changeId: "a" }, { changeId: "a" }]],
    ["too many changes", Array.from({ length: 65 }, () => ({ files }))],
  ])("is refused with %s", (_, changes) => {
    expect(settle(changed({ changes })).effect.rejection).toMatchObject({ code: ErrorCode.VALIDATION, metadata: { field: "settlement.tool.changes" } });
  });

  it("is nothing where nothing was", () => {
    expect(settle(changed({ changes: [{ changeId: "c1" }] })).effect.cases).toEqual(["toolCompleted", "modelRequested"]);
    expect(answerWith(settle(changed({ changes: [] })).stream, [textPart("Done.")]).cases).toContain("turnCompleted");
  });
});
