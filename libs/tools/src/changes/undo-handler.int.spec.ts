import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, renameSync, rmSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { create } from "@bufbuild/protobuf";
import type { WorkspaceChangeRecorded } from "@forge/protocol/event";
import { type Change, ChangeSchema } from "@forge/protocol/session";
import { TaskSchema } from "@forge/protocol/worker";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { callTool } from "../testing/call-tool.ts";
import { fakeTaskContext } from "../testing/fake-task-context.ts";
import { patchTool } from "../tools/patch-tool.ts";
import { WorkspaceGuard } from "../workspace/workspace-guard.ts";
import { undoHandler } from "./undo-handler.ts";
import { WorkspaceChanges } from "./workspace-changes.ts";

let base: string;
let workspace: string;
let changes: WorkspaceChanges;
let artifacts: Map<string, Uint8Array>;
/** What was recorded, oldest first. */
let recorded: Change[];

beforeEach(() => {
  base = realpathSync(mkdtempSync(join(tmpdir(), "forge-undo-")));
  workspace = join(base, "work");
  mkdirSync(workspace);
  changes = new WorkspaceChanges(new WorkspaceGuard(workspace), { stateDirectory: join(base, "state") });
  artifacts = new Map();
  recorded = [];
});

afterEach(() => rmSync(base, { recursive: true, force: true }));

const at = (path: string) => join(workspace, path);
const write = (path: string, content: string) => writeFileSync(at(path), content);
const read = (path: string) => (existsSync(at(path)) ? readFileSync(at(path), "utf8") : undefined);

function record({ changeId, files }: WorkspaceChangeRecorded): string {
  recorded.push(create(ChangeSchema, { changeId, files }));
  return changeId;
}

/** Makes a change with tools.patch; its id. */
async function edit(...edits: { path: string; search: string; replace: string }[]): Promise<string> {
  const { error, changes: made } = await callTool(patchTool(changes), { edits }, { artifacts });
  expect(error).toBeUndefined();
  return record(made[0] as WorkspaceChangeRecorded);
}

async function patch(text: string): Promise<string> {
  const { error, changes: made } = await callTool(patchTool(changes), { patch: text }, { artifacts });
  expect(error).toBeUndefined();
  return record(made[0] as WorkspaceChangeRecorded);
}

async function undo(changeIds: string[], options: { allOrNothing?: boolean } = {}) {
  const task = create(TaskSchema, { kind: { case: "undo", value: { sessionId: "s", undoId: "u", changeIds, ...options } } });
  const outcome = await undoHandler(changes).run(fakeTaskContext(task, { artifacts, changes: recorded }));
  if (outcome.case !== "undo") throw new Error(JSON.stringify(outcome.case === "failure" ? outcome.value.error?.message : outcome.case));
  return { undone: outcome.value.changeIds, refused: outcome.value.refused.map(({ changeId, path, reason }) => ({ changeId, path, reason })) };
}

test("takes back what was edited, made, deleted and made executable, and does so twice without harm", async () => {
  write("a.txt", "one\r\n");
  write("gone.txt", "x");
  chmodSync(at("gone.txt"), 0o600);
  write("run.sh", "z\n");
  const first = await edit({ path: "a.txt", search: "one", replace: "two" });
  const second = await patch(
    "--- a/a.txt\n+++ b/a.txt\n@@ -1 +1 @@\n-two\n+three\n--- /dev/null\n+++ b/n/new.txt\n@@ -0,0 +1 @@\n+new\n--- a/gone.txt\n+++ /dev/null\n@@ -1 +0,0 @@\n-x\n" +
      "diff --git a/run.sh b/run.sh\nold mode 100644\nnew mode 100755\n",
  );
  for (const _ of [1, 2]) {
    expect(await undo([second, first])).toEqual({ undone: [second, first], refused: [] });
    expect([read("a.txt"), read("n/new.txt"), read("gone.txt"), read("run.sh")]).toEqual(["one\r\n", undefined, "x", "z\n"]);
    expect([statSync(at("gone.txt")).mode & 0o777, statSync(at("run.sh")).mode & 0o777]).toEqual([0o600, 0o644]);
  }
});

test("the newest alone, and then the one before", async () => {
  write("a.txt", "1");
  const first = await edit({ path: "a.txt", search: "1", replace: "2" });
  const second = await edit({ path: "a.txt", search: "2", replace: "3" });
  expect(await undo([second])).toMatchObject({ undone: [second] });
  expect(read("a.txt")).toBe("2");
  expect(await undo([first])).toMatchObject({ undone: [first] });
  expect(read("a.txt")).toBe("1");
});

test("a change and its opposite", async () => {
  write("a.txt", "1");
  const first = await edit({ path: "a.txt", search: "1", replace: "2" });
  const second = await edit({ path: "a.txt", search: "2", replace: "1" });
  expect(await undo([second])).toMatchObject({ undone: [second] });
  expect(read("a.txt")).toBe("2");
  expect(await undo([first])).toMatchObject({ undone: [first] });
  expect(read("a.txt")).toBe("1");
});

describe("what a person did since is left alone", () => {
  test.each<[string, () => void, string]>([
    ["an edit", () => write("a.txt", "mine"), "was changed since by somebody else"],
    ["a deletion", () => rmSync(at("a.txt")), "was deleted since"],
    [
      "a link to a file of the same content",
      () => {
        renameSync(at("a.txt"), at("moved.txt"));
        symlinkSync("moved.txt", at("a.txt"));
      },
      "is a link by now",
    ],
    [
      "a directory",
      () => {
        rmSync(at("a.txt"));
        mkdirSync(at("a.txt"));
      },
      "a.txt is a directory",
    ],
  ])("%s", async (_, meddle, reason) => {
    write("a.txt", "1");
    write("b.txt", "1");
    const first = await edit({ path: "a.txt", search: "1", replace: "2" }, { path: "b.txt", search: "1", replace: "2" });
    const second = await edit({ path: "b.txt", search: "2", replace: "3" });
    meddle();
    const before = existsSync(at("a.txt")) && statSync(at("a.txt")).isFile() ? read("a.txt") : undefined;
    expect(await undo([second, first])).toEqual({ undone: [second], refused: [{ changeId: first, path: "a.txt", reason }] });
    // A change is undone whole or not at all.
    expect(read("b.txt")).toBe("2");
    if (before !== undefined) expect(read("a.txt")).toBe(before);
  });

  test("and what lies beneath it too, also where that is what it looks like now", async () => {
    write("a.txt", "1");
    const first = await edit({ path: "a.txt", search: "1", replace: "2" });
    const second = await edit({ path: "a.txt", search: "2", replace: "3" });
    const other = await edit({ path: "b.txt", search: "", replace: "b" });
    write("a.txt", "4");
    expect(await undo([other, second, first])).toEqual({
      undone: [other],
      refused: [
        { changeId: second, path: "a.txt", reason: "was changed since by somebody else" },
        { changeId: first, path: "a.txt", reason: "lies beneath a change that is not undone" },
      ],
    });
    expect([read("a.txt"), read("b.txt")]).toEqual(["4", undefined]);
  });

  test("all or nothing: one that is refused keeps all", async () => {
    write("a.txt", "1");
    const first = await edit({ path: "a.txt", search: "1", replace: "2" });
    const second = await edit({ path: "b.txt", search: "", replace: "b" });
    write("a.txt", "4");
    expect(await undo([second, first], { allOrNothing: true })).toMatchObject({ undone: [], refused: [{ changeId: first }] });
    expect([read("a.txt"), read("b.txt")]).toEqual(["4", "b"]);
  });

  test("a file that a person made where the agent deleted one", async () => {
    write("a.txt", "1\n");
    const first = await patch("--- a/a.txt\n+++ /dev/null\n@@ -1 +0,0 @@\n-1\n");
    write("a.txt", "mine");
    expect(await undo([first])).toMatchObject({ refused: [{ path: "a.txt", reason: "was made anew since" }] });
    expect(read("a.txt")).toBe("mine");
  });

  test("permissions that a person changed stay, unless the change was one of permissions", async () => {
    write("a.txt", "1");
    const first = await edit({ path: "a.txt", search: "1", replace: "2" });
    chmodSync(at("a.txt"), 0o600);
    expect(await undo([first])).toMatchObject({ undone: [first] });
    expect([read("a.txt"), statSync(at("a.txt")).mode & 0o777]).toEqual(["1", 0o600]);
    chmodSync(at("a.txt"), 0o644);
    const second = await patch("diff --git a/a.txt b/a.txt\nold mode 100644\nnew mode 100755\n");
    chmodSync(at("a.txt"), 0o700);
    expect(await undo([second])).toMatchObject({ refused: [{ reason: "got other permissions since" }] });
  });
});

test("what could not be kept is told, and a change that is not the session's is an error", async () => {
  recorded.push(
    create(ChangeSchema, {
      changeId: "big",
      files: [{ path: "big.bin", beforeSha256: "0".repeat(64), afterSha256: "1".repeat(64), notUndoable: "too large" }],
    }),
  );
  recorded.push(create(ChangeSchema, { changeId: "git" }));
  expect(await undo(["big", "git"])).toEqual({
    undone: [],
    refused: [
      { changeId: "big", path: "big.bin", reason: "too large" },
      { changeId: "git", path: "", reason: "nothing of it can be undone" },
    ],
  });
  await expect(undo(["other"])).rejects.toThrow("is not one of the session's");
});
