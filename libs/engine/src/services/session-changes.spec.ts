import { create, type MessageInitShape, toBinary } from "@bufbuild/protobuf";
import { sessionDecider } from "@forge/domain";
import { ErrorCode } from "@forge/protocol/common";
import { type Event, EventSchema } from "@forge/protocol/event";
import { ListChangesRequestSchema, RewindSessionRequestSchema, UndoChangesRequestSchema } from "@forge/protocol/session";
import { describe, expect, it } from "vitest";
import type { Store } from "../ports/index.ts";
import { listChanges, readRewind, readUndo } from "./session-changes.ts";

type Payload = NonNullable<Exclude<MessageInitShape<typeof EventSchema>, { $typeName: string }>["payload"]>;

const TURN_A = "00000000-0000-7000-8000-00000000000a";
const TURN_B = "00000000-0000-7000-8000-00000000000b";

const changed = (changeId: string, turnId = TURN_A) => ({
  kind: "workspace.change_recorded",
  turnId,
  payload: { case: "workspaceChangeRecorded", value: { changeId, tool: "tools.patch", files: [{ path: `${changeId}.txt` }] } } as Payload,
});
const undone = (...changeIds: string[]) => ({
  kind: "workspace.change_undone",
  turnId: "",
  payload: { case: "workspaceChangeUndone", value: { changeIds } } as Payload,
});
const said = { kind: "message.added", turnId: TURN_A, payload: { case: "messageAdded", value: {} } as Payload };

/** A session with a history; what its store is asked for, by kind. */
function session(...entries: (typeof said)[]) {
  const all = [{ kind: "session.created", turnId: "", payload: { case: "sessionCreated", value: {} } as Payload }, ...entries];
  const events: Event[] = all.map(({ kind, turnId, payload }, index) =>
    create(EventSchema, { stream: { id: "s" }, seq: BigInt(index + 1), kind, turnId, toolCallId: turnId === "" ? "" : "call", payload }),
  );
  const asked: (readonly string[] | undefined)[] = [];
  const store = {
    readEvents: async (
      _: string,
      __: string,
      { afterSeq, throughSeq = Infinity, limit, kinds }: { afterSeq: number; throughSeq?: number; limit: number; kinds?: readonly string[] },
    ) => {
      asked.push(kinds);
      const isAsked = ({ seq, kind }: Event) => Number(seq) > afterSeq && Number(seq) <= throughSeq && (kinds?.includes(kind) ?? true);
      const found = events.filter(isAsked).slice(0, limit);
      return {
        events: found.map((event) => ({ seq: Number(event.seq), kind: event.kind, bytes: toBinary(EventSchema, event) })),
        headSeq: 0,
        prunedThroughSeq: 0,
      };
    },
  } as unknown as Store;
  let state = sessionDecider.initial();
  for (const event of events) if (event.payload.case !== "messageAdded") state = sessionDecider.evolve(state, event);
  return { store, asked, source: { state, seq: events.length } };
}

describe("what an undo means", () => {
  const read = ({ store, source }: ReturnType<typeof session>, init: MessageInitShape<typeof UndoChangesRequestSchema> = {}) =>
    readUndo(store, "default", source, create(UndoChangesRequestSchema, init));

  it("is the last turn that changed something, newest first, without what is undone", async () => {
    const of = session(changed("a"), said, changed("b", TURN_B), changed("c", TURN_B), changed("d", TURN_B), undone("c"));
    expect(await read(of)).toEqual({ $typeName: "session.undo_these", changeIds: ["d", "b"], readSeq: 7 });
    expect(of.asked).toEqual([["workspace.change_recorded", "workspace.change_undone"]]);
    expect((await read(session(changed("a"), changed("b", TURN_B), undone("b")))).changeIds).toEqual(["a"]);
  });

  it("is what a request names, in the order in which it has to be taken back", async () => {
    const of = session(changed("a"), changed("b", TURN_B), changed("c", TURN_B));
    expect((await read(of, { changeIds: ["a", "c", "a"] })).changeIds).toEqual(["c", "a"]);
    expect((await read(of, { turnId: TURN_A })).changeIds).toEqual(["a"]);
  });

  it("is nothing where all of it is undone, or nothing was changed", async () => {
    expect((await read(session(changed("a"), undone("a")), { changeIds: ["a"] })).changeIds).toEqual([]);
    expect((await read(session(said))).changeIds).toEqual([]);
  });

  it("is no change that only tells of what nobody can undo", async () => {
    const note = { ...changed("n"), payload: { case: "workspaceChangeRecorded", value: { changeId: "n", notUndoable: ["12 ignored files"] } } as Payload };
    const of = session(changed("a"), note);
    expect((await read(of)).changeIds).toEqual(["a"]);
    expect((await read(of, { changeIds: ["n"] })).changeIds).toEqual([]);
    expect(of.source.state.changeCount).toBe(1);
  });

  it("is read page by page", async () => {
    const of = session(...Array.from({ length: 250 }, (_, index) => changed(String(index))));
    expect((await read(of)).changeIds).toHaveLength(250);
    expect(of.asked).toHaveLength(3);
  });

  it("is refused where it is not known, or said twice", async () => {
    const of = session(changed("a"));
    await expect(read(of, { changeIds: ["x"] })).rejects.toMatchObject({ detail: { code: ErrorCode.NOT_FOUND, reason: "CHANGE_NOT_FOUND" } });
    await expect(read(of, { changeIds: ["a"], turnId: TURN_A })).rejects.toMatchObject({ detail: { metadata: { field: "turn_id" } } });
    await expect(read(of, { turnId: "x" })).rejects.toMatchObject({ detail: { metadata: { field: "turn_id" } } });
    const changeIds = Array.from({ length: 1_001 }, String);
    await expect(read(of, { changeIds })).rejects.toMatchObject({ detail: { metadata: { field: "change_ids" } } });
  });
});

describe("a rewind", () => {
  const read = ({ store, source }: ReturnType<typeof session>, throughSeq: bigint, keepFiles = false) =>
    readRewind(store, "default", source, create(RewindSessionRequestSchema, { throughSeq, keepFiles }));

  it("takes back what came after, unless the files are kept", async () => {
    const of = session(changed("a"), changed("b"), changed("c"), undone("b"));
    expect(await read(of, 2n)).toEqual({ $typeName: "session.rewind_to", throughSeq: 2, changeIds: ["c"], readSeq: 5 });
    expect((await read(of, 2n, true)).changeIds).toEqual([]);
  });

  it("reads nothing where no change stands", async () => {
    const of = session(said);
    expect((await read(of, 1n)).changeIds).toEqual([]);
    expect(of.asked).toEqual([]);
  });
});

describe("the list of changes", () => {
  const list = ({ store, source }: ReturnType<typeof session>, init: MessageInitShape<typeof ListChangesRequestSchema> = {}) =>
    listChanges(store, "default", source, create(ListChangesRequestSchema, init));

  it("comes oldest first, in pages, and says what is undone", async () => {
    const of = session(changed("a"), changed("b", TURN_B), changed("c", TURN_B), undone("b"));
    const first = await list(of, { pageSize: 2 });
    expect(first.changes).toMatchObject([
      { changeId: "a", seq: 2n, turnId: TURN_A, toolCallId: "call", tool: "tools.patch", undone: false, files: [{ path: "a.txt" }] },
      { changeId: "b", undone: true },
    ]);
    const second = await list(of, { pageSize: 2, pageToken: first.nextPageToken });
    expect(second).toMatchObject({ changes: [{ changeId: "c" }], nextPageToken: "" });
    expect((await list(of, { afterSeq: 3n })).changes).toMatchObject([{ changeId: "c" }]);
    expect((await list(of, { changeIds: ["c", "a"] })).changes.map(({ changeId }) => changeId)).toEqual(["a", "c"]);
  });

  it("has pages that every transport carries", async () => {
    const large = (changeId: string) => {
      const change = changed(changeId);
      const files = Array.from({ length: 1_000 }, (_, index) => ({ path: `${"x".repeat(600)}${index}` }));
      return { ...change, payload: { case: "workspaceChangeRecorded", value: { changeId, files } } as Payload };
    };
    const of = session(large("a"), large("b"), large("c"));
    const first = await list(of);
    expect(first.changes.map(({ changeId }) => changeId)).toEqual(["a", "b"]);
    expect(await list(of, { pageToken: first.nextPageToken })).toMatchObject({ changes: [{ changeId: "c" }], nextPageToken: "" });
  });

  it("is refused with a token or a page that is none", async () => {
    const of = session(changed("a"));
    await expect(list(of, { pageToken: "?" })).rejects.toMatchObject({ detail: { metadata: { field: "page_token" } } });
    await expect(list(of, { pageSize: 501 })).rejects.toMatchObject({ detail: { metadata: { field: "page_size" } } });
  });
});
