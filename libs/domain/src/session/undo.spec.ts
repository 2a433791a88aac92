import { create } from "@bufbuild/protobuf";
import { ErrorCode } from "@forge/protocol/common";
import { Role } from "@forge/protocol/session";
import { ToolResultSchema, UndoResultSchema } from "@forge/protocol/worker";
import { describe, expect, it } from "vitest";
import { foldConversation } from "../conversation/fold-conversation.ts";
import type { TaskSettled } from "../task.ts";
import {
  ALLOW_ALL,
  answerWith,
  callPart,
  cancelled,
  closeSession,
  compactSession,
  failure,
  fired,
  lost,
  newSession,
  type SessionStream,
  settled,
  started,
  startTurn,
  textPart,
  toolResult,
  toolTask,
  WRITE,
} from "../testing/session-fixture.ts";
import { conversationFaults } from "../testing/well-formed.ts";
import type { SessionCommand } from "./session-command.ts";
import { sessionView } from "./view.ts";

/** A session with a turn for each text, each of which changed a file; the seqs at which they ended. */
function changed(...texts: string[]): { readonly stream: SessionStream; readonly ends: number[] } {
  const stream = newSession({ policy: ALLOW_ALL });
  const ends = texts.map((text) => {
    stream.must(startTurn(text));
    answerWith(stream, [callPart(WRITE.name)]);
    const task = toolTask(stream, WRITE.name);
    stream.must(started(task));
    const files = [{ path: text, beforeSha256: "", afterSha256: "a".repeat(64) }];
    stream.must(settled(task, { case: "tool", value: create(ToolResultSchema, { changes: [{ changeId: text, files }] }) }));
    answerWith(stream, [textPart(`Did ${text}.`)]);
    return stream.seq;
  });
  return { stream, ends };
}

const undo = (stream: SessionStream, ...changeIds: string[]): SessionCommand => ({ $typeName: "session.undo_these", changeIds, readSeq: stream.seq });
const rewind = (stream: SessionStream, throughSeq: number, ...changeIds: string[]): SessionCommand => ({
  $typeName: "session.rewind_to",
  throughSeq,
  changeIds,
  readSeq: stream.seq,
});
const undone = (changeIds: string[], refused: { changeId: string; path: string; reason: string }[] = []): TaskSettled["outcome"] => ({
  case: "undo",
  value: create(UndoResultSchema, { changeIds, refused }),
});

/** What people and the model said. */
const said = (stream: SessionStream): string[] =>
  foldConversation(stream.events).flatMap(({ role, parts }) =>
    role === Role.TOOL ? [] : parts.flatMap(({ kind }) => (kind.case === "text" ? kind.value.text : [])),
  );

function undoTask(stream: SessionStream) {
  const task = stream.work().find(({ capability }) => capability === "workspace:undo");
  if (task === undefined) throw new Error("No undo is outstanding.");
  return task;
}

describe("an undo", () => {
  it("is a worker's task, newest change first, that may be given out again and needs no start", () => {
    const { stream } = changed("a", "b");
    const { cases, result } = stream.must(undo(stream, "b", "a"));
    expect(cases).toEqual(["workspaceUndoRequested"]);
    const undoId = stream.state.undo?.undoId ?? "";
    expect(result).toMatchObject({ undoId });
    expect(sessionView(stream.state, stream.seq)).toMatchObject({ undoId, changeCount: 2 });
    expect(undoTask(stream)).toMatchObject({
      key: `undo:${undoId}`,
      queue: "default",
      idempotent: true,
      task: { needsStart: false, idempotencyKey: undoId, kind: { case: "undo", value: { undoId, changeIds: ["b", "a"], allOrNothing: false } } },
    });
    expect(stream.timers()).toEqual([`undo-timeout:${undoId}`]);
  });

  it("tells what came of it", () => {
    const { stream } = changed("a", "b");
    stream.must(undo(stream, "b", "a"));
    const refused = [{ changeId: "a", path: "a", reason: "was changed since by somebody else" }];
    const { cases, events } = stream.must(settled(undoTask(stream), undone(["b", "b", "other"], refused)));
    expect(cases).toEqual(["workspaceChangeUndone"]);
    expect(events[0]?.payload.value).toMatchObject({ changeIds: ["b"], refused });
    expect(stream.state).toMatchObject({ undo: undefined, changeCount: 1 });
    expect(stream.outstanding()).toEqual([]);
    expect(said(stream)).toContain("Did b.");
  });

  it.each([
    ["failed", (stream: SessionStream) => stream.must(settled(undoTask(stream), failure())), "RATE_LIMIT"],
    ["was given up", (stream: SessionStream) => stream.must(settled(undoTask(stream), cancelled())), "UNDO_FAILED"],
    ["lost its workers", (stream: SessionStream) => stream.must(lost(undoTask(stream))), "WORKER_LOST"],
    ["took too long", (stream: SessionStream) => stream.must(fired(`undo-timeout:${stream.state.undo?.undoId}`)), "UNDO_TIMEOUT"],
  ])("that %s undid nothing, and another may follow", (_, end, reason) => {
    const { stream } = changed("a");
    stream.must(undo(stream, "a"));
    const { cases, events } = end(stream);
    expect(cases).toEqual(["workspaceUndoFailed"]);
    expect(events[0]?.payload.value).toMatchObject({ error: { reason } });
    expect(stream.state.changeCount).toBe(1);
    stream.must(undo(stream, "a"));
  });

  it("keeps everything else waiting", () => {
    const { stream } = changed("a");
    stream.must(undo(stream, "a"));
    for (const command of [startTurn(), undo(stream, "a"), rewind(stream, 1), closeSession(), compactSession()]) {
      expect(stream.execute(command).rejection).toMatchObject({ code: ErrorCode.CONFLICT, reason: "SESSION_BUSY" });
    }
    stream.must(settled(undoTask(stream), undone(["a"])));
    stream.must(startTurn());
    expect(stream.execute(undo(stream, "a")).rejection).toMatchObject({ reason: "TURN_ACTIVE" });
  });

  it("is refused where there is nothing to undo, or what was read has changed since", () => {
    const { stream } = changed("a");
    expect(stream.execute(undo(stream)).rejection).toMatchObject({ reason: "NOTHING_TO_UNDO" });
    const before = undo(stream, "a");
    stream.must(undo(stream, "a"));
    stream.must(settled(undoTask(stream), undone(["a"])));
    expect(stream.execute(before).rejection).toMatchObject({ reason: "SESSION_BUSY" });
    const many = Array.from({ length: 1_001 }, (_, index) => String(index));
    expect(stream.execute(undo(stream, ...many)).rejection).toMatchObject({ metadata: { field: "change_ids" } });
    stream.must(closeSession());
    expect(stream.execute(undo(stream, "a")).rejection).toMatchObject({ reason: "SESSION_CLOSED" });
  });

  it("is settled by nothing else, and its end counts once", () => {
    const { stream } = changed("a");
    stream.must(undo(stream, "a"));
    const task = undoTask(stream);
    expect(stream.execute(settled(task, toolResult())).rejection).toMatchObject({ code: ErrorCode.VALIDATION });
    expect(stream.execute(started(task)).rejection).toMatchObject({ reason: "TASK_STARTED" });
    stream.must(settled(task, undone(["a"])));
    expect(stream.execute(settled(task, undone(["a"]))).rejection).toMatchObject({ reason: "TASK_NOT_OPEN" });
  });
});

describe("a rewind", () => {
  it("that keeps the files lets the conversation stand as it did", () => {
    const { stream, ends } = changed("a", "b");
    const { cases, result } = stream.must(rewind(stream, ends[0] ?? 0));
    expect(cases).toEqual(["sessionRewound"]);
    expect(result).toMatchObject({ undoId: "" });
    expect(said(stream)).toEqual(["a", "Did a."]);
    stream.must(startTurn("c"));
    answerWith(stream, [textPart("Did c.")]);
    expect(said(stream)).toEqual(["a", "Did a.", "c", "Did c."]);
    expect(conversationFaults(foldConversation(stream.events))).toEqual([]);
  });

  it("takes back the files first, all or none of them", () => {
    const { stream, ends } = changed("a", "b");
    stream.must(rewind(stream, ends[0] ?? 0, "b"));
    expect(said(stream)).toContain("Did b.");
    expect(undoTask(stream).task.kind.value).toMatchObject({ allOrNothing: true });
    const undoId = stream.state.undo?.undoId;
    const { cases, events } = stream.must(settled(undoTask(stream), undone(["b"])));
    expect(cases).toEqual(["workspaceChangeUndone", "sessionRewound"]);
    expect(events[1]?.payload.value).toMatchObject({ throughSeq: BigInt(ends[0] ?? 0), undoId });
    expect(said(stream)).toEqual(["a", "Did a."]);
  });

  it("is none where a file stays", () => {
    const { stream, ends } = changed("a", "b");
    stream.must(rewind(stream, ends[0] ?? 0, "b"));
    const refused = [{ changeId: "b", path: "b", reason: "was changed since by somebody else" }];
    expect(stream.must(settled(undoTask(stream), undone([], refused))).cases).toEqual(["workspaceChangeUndone"]);
    expect(said(stream)).toContain("Did b.");
  });

  it("to before a compaction undoes it, and to before all leaves nothing", () => {
    const { stream, ends } = changed("a", "b");
    stream.must(compactSession("Two things were done."));
    stream.must(rewind(stream, ends[0] ?? 0));
    expect(said(stream)).toEqual(["a", "Did a."]);
    expect(stream.state.compaction).toBeUndefined();
    expect(sessionView(stream.state, 0).context?.tokens).toBe(0n);
    stream.must(rewind(stream, 1));
    expect(said(stream)).toEqual([]);
    stream.must(startTurn("c"));
    expect(said(stream)).toEqual(["c"]);
  });

  it("goes to a seq of the session that lies within no turn", () => {
    const { stream, ends } = changed("a");
    for (const throughSeq of [0, stream.seq + 1, (ends[0] ?? 0) - 1]) {
      expect(stream.execute(rewind(stream, throughSeq)).rejection).toMatchObject({ code: ErrorCode.VALIDATION, metadata: { field: "through_seq" } });
    }
  });
});
