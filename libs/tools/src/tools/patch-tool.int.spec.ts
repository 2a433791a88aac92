import {
  chmodSync,
  chownSync,
  existsSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ErrorCode } from "@forge/protocol/common";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { sha256Of } from "../changes/file-state.ts";
import { WorkspaceChanges } from "../changes/workspace-changes.ts";
import { callTool, type TestCall } from "../testing/call-tool.ts";
import { WorkspaceGuard } from "../workspace/workspace-guard.ts";
import { patchTool } from "./patch-tool.ts";

let base: string;
let workspace: string;
let changes: WorkspaceChanges;

beforeEach(() => {
  base = realpathSync(mkdtempSync(join(tmpdir(), "forge-patch-")));
  workspace = join(base, "work");
  mkdirSync(workspace);
  changes = new WorkspaceChanges(new WorkspaceGuard(workspace), { stateDirectory: join(base, "state") });
});

afterEach(() => rmSync(base, { recursive: true, force: true }));

const call = (args: unknown, options?: TestCall) => callTool(patchTool(changes), args, options);
const at = (path: string) => join(workspace, path);
const write = (path: string, content: string | Buffer) => writeFileSync(at(path), content);
const read = (path: string) => readFileSync(at(path));

/** All that is in the workspace. */
const names = () => (readdirSync(workspace, { recursive: true }) as string[]).toSorted();

const PATCH_A = "--- a/a.txt\n+++ b/a.txt\n@@ -1,2 +1,2 @@\n one\n-two\n+TWO\n";

test("one or many files: changed, made, deleted, renamed, made executable", async () => {
  write("a.txt", "one\ntwo\n");
  write("gone.txt", "x\n");
  write("old.txt", "y\n");
  write("run.sh", "z\n");
  const patch = [
    PATCH_A,
    "--- /dev/null\n+++ b/deep/er/new.txt\n@@ -0,0 +1 @@\n+new\n",
    "--- a/gone.txt\n+++ /dev/null\n@@ -1 +0,0 @@\n-x\n",
    "diff --git a/old.txt b/new name.txt\nsimilarity index 50%\nrename from old.txt\nrename to new name.txt\n--- a/old.txt\n+++ b/new name.txt\n@@ -1 +1 @@\n-y\n+Y\n",
    "diff --git a/run.sh b/run.sh\nold mode 100644\nnew mode 100755\n",
  ].join("");
  const { output, changes: recorded, context } = await call({ patch });
  expect(output?.files).toEqual([
    { path: "a.txt", status: "changed", sha256: sha256Of(Buffer.from("one\nTWO\n")) },
    { path: "deep/er/new.txt", status: "created", sha256: sha256Of(Buffer.from("new\n")) },
    { path: "gone.txt", status: "deleted", sha256: null },
    { path: "old.txt", status: "deleted", sha256: null },
    { path: "new name.txt", status: "created", sha256: sha256Of(Buffer.from("Y\n")) },
    { path: "run.sh", status: "changed", sha256: sha256Of(Buffer.from("z\n")) },
  ]);
  expect(names()).toEqual(["a.txt", "deep", "deep/er", "deep/er/new.txt", "new name.txt", "run.sh"]);
  expect([read("a.txt").toString(), read("new name.txt").toString(), statSync(at("run.sh")).mode & 0o777]).toEqual(["one\nTWO\n", "Y\n", 0o755]);
  const [change] = recorded;
  expect([recorded.length, change?.files.length, change?.observed]).toEqual([1, 6, false]);
  expect(change?.files[0]).toMatchObject({ path: "a.txt", beforeMode: 0o644, afterMode: 0o644, addedLines: 1, removedLines: 1, notUndoable: "" });
  expect(change?.files[1]).toMatchObject({ path: "deep/er/new.txt", beforeSha256: "", beforeMode: 0, addedLines: 1 });
  expect(change?.files[2]).toMatchObject({ path: "gone.txt", afterSha256: "", afterMode: 0, removedLines: 1 });
  for (const file of change?.files ?? []) {
    for (const [hash, artifact] of [
      [file.beforeSha256, file.before],
      [file.afterSha256, file.after],
    ] as const) {
      expect(artifact?.sha256 ?? "").toBe(hash);
      if (hash !== "") expect(sha256Of(context.artifacts.get(hash) as Uint8Array)).toBe(hash);
    }
  }
});

describe("what the bytes of a file are is kept", () => {
  test.each([
    ["CRLF without a final newline", Buffer.from("one\r\ntwo"), Buffer.from("one\r\nTWO")],
    ["UTF-8 with a byte order mark", Buffer.from("\ufeffone\ntwo\n"), Buffer.from("\ufeffone\nTWO\n")],
    ["Latin-1", Buffer.from("one\ntwo\ncaf\u00e9\n", "latin1"), Buffer.from("one\nTWO\ncaf\u00e9\n", "latin1")],
    ["mixed line ends", Buffer.from("one\r\ntwo\nthree\r\n"), Buffer.from("one\r\nTWO\nthree\r\n")],
  ])("%s, by a patch and by an edit", async (_, before, after) => {
    write("a.txt", before);
    expect((await call({ patch: PATCH_A })).error).toBeUndefined();
    expect(read("a.txt")).toEqual(after);
    write("a.txt", before);
    expect((await call({ edits: [{ path: "a.txt", search: "two", replace: "TWO" }] })).error).toBeUndefined();
    expect(read("a.txt")).toEqual(after);
  });

  test.each([
    ["NUL", Buffer.from("one\ntwo\n\0")],
    ["UTF-16", Buffer.from("\ufeffone\ntwo\n", "utf16le")],
    ["an encoding that nobody knows", Buffer.from([0x6f, 0x6e, 0x65, 0x0a, 0x74, 0x77, 0x6f, 0x0a, 0x81])],
  ])("%s is refused", async (_, before) => {
    write("a.txt", before);
    for (const args of [{ patch: PATCH_A }, { edits: [{ path: "a.txt", search: "two", replace: "TWO" }] }]) {
      expect((await call(args)).error).toMatchObject({ code: ErrorCode.VALIDATION, reason: "NOT_TEXT" });
    }
    expect(read("a.txt")).toEqual(before);
  });

  test("mode and owner stay, and a name that shares the file does not see the change", async () => {
    write("a.txt", "one\ntwo\n");
    chmodSync(at("a.txt"), 0o640);
    if (process.getuid?.() === 0) chownSync(at("a.txt"), 1234, 4321);
    linkSync(at("a.txt"), join(base, "outside.txt"));
    const before = statSync(at("a.txt"));
    await call({ patch: PATCH_A });
    const after = statSync(at("a.txt"));
    expect([after.mode, after.uid, after.gid]).toEqual([before.mode, before.uid, before.gid]);
    expect(readFileSync(join(base, "outside.txt"), "utf8")).toBe("one\ntwo\n");
  });

  test("a link stays a link, and the file that it leads to is told", async () => {
    write("real.txt", "one\ntwo\n");
    symlinkSync("real.txt", at("a.txt"));
    const { output } = await call({ patch: PATCH_A });
    expect([output?.files, read("real.txt").toString()]).toMatchObject([[{ path: "real.txt", status: "changed" }], "one\nTWO\n"]);
    expect((await call({ patch: "--- a/a.txt\n+++ /dev/null\n@@ -1,2 +0,0 @@\n-one\n-TWO\n" })).error?.message).toMatch(/it is a link/);
  });
});

describe("all files or none", () => {
  test.each([
    ["a hunk that does not match", "--- a/b.txt\n+++ b/b.txt\n@@ -1 +1 @@\n-other\n+x\n", "PATCH_MISMATCH"],
    ["a file that is not there", "--- a/missing.txt\n+++ b/missing.txt\n@@ -1 +1 @@\n-other\n+x\n", "PATCH_MISMATCH"],
    ["a new file that is there", "--- /dev/null\n+++ b/b.txt\n@@ -0,0 +1 @@\n+x\n", "PATCH_MISMATCH"],
    ["a path outside", "--- /dev/null\n+++ b/../b.txt\n@@ -0,0 +1 @@\n+x\n", ""],
    ["what is protected", "--- /dev/null\n+++ b/sub/.git/hooks/pre-commit\n@@ -0,0 +1 @@\n+x\n", ""],
    ["what is forbidden", "--- /dev/null\n+++ b/.env\n@@ -0,0 +1 @@\n+x\n", ""],
    ["a deletion that leaves lines", "--- a/b.txt\n+++ /dev/null\n@@ -1 +0,0 @@\n-b\n", "PATCH_MISMATCH"],
  ])("%s stops all of it", async (_, second, reason) => {
    write("a.txt", "one\ntwo\n");
    write("b.txt", "b\nc\n");
    const { error, changes: recorded } = await call({ patch: PATCH_A + second });
    expect(error?.reason).toBe(reason);
    if (reason === "") expect(error?.code).toBe(ErrorCode.SANDBOX_VIOLATION);
    expect([read("a.txt").toString(), names(), recorded]).toEqual(["one\ntwo\n", ["a.txt", "b.txt"], []]);
  });

  test("edits of one file follow each other", async () => {
    write("a.txt", "one\ntwo\n");
    const edits = [
      { path: "a.txt", search: "two", replace: "three" },
      { path: "./a.txt", search: "three", replace: "four" },
      { path: "new.txt", search: "", replace: "five\n" },
    ];
    const { output, changes: recorded } = await call({ edits });
    expect([output?.files, recorded[0]?.files.length]).toMatchObject([[{ path: "a.txt" }, { path: "new.txt", status: "created" }], 2]);
    expect([read("a.txt").toString(), read("new.txt").toString()]).toEqual(["one\nfour\n", "five\n"]);
    expect((await call({ edits: [...edits.slice(2), { path: "a.txt", search: "x", replace: "y" }] })).error?.message).toMatch(
      /new.txt: edit 1: .* the file exists/,
    );
  });

  test("takes exactly one of patch and edits", async () => {
    expect((await call({})).error).toMatchObject({ reason: "TOOL_ARGUMENTS" });
    expect((await call({ patch: "x", edits: [{ path: "a", search: "b", replace: "c" }] })).error).toMatchObject({ reason: "TOOL_ARGUMENTS" });
  });
});

describe("what is told before, and done after", () => {
  test("a preview changes nothing, and tells title, diff, paths and facts", async () => {
    write("a.txt", "one\ntwo\n");
    const { preview } = await call({ patch: `${PATCH_A}--- /dev/null\n+++ b/n/b.txt\n@@ -0,0 +1 @@\n+x\n` }, { preview: true });
    expect(preview).toMatchObject({ title: "change 2 files (+2 -1)", paths: ["a.txt", "n/b.txt"], ruleKey: "", risk: 0 });
    expect(preview?.diff).toBe("--- a/a.txt\n+++ b/a.txt\n@@ -1,2 +1,2 @@\n one\n-two\n+TWO\n--- /dev/null\n+++ b/n/b.txt\n@@ -0,0 +1,1 @@\n+x\n");
    expect(JSON.parse(preview?.factsJson ?? "")).toEqual({
      files: [
        { before: sha256Of(Buffer.from("one\ntwo\n")), mode: 0o644, path: "a.txt" },
        { before: null, mode: null, path: "n/b.txt" },
      ],
    });
    expect(names()).toEqual(["a.txt"]);
  });

  test("a large diff is kept whole as an artifact, and its beginning is shown", async () => {
    const { preview, context } = await call({ edits: [{ path: "a.txt", search: "", replace: "some line\n".repeat(10_000) }] }, { preview: true });
    const whole = Buffer.from(context.artifacts.get(preview?.diffArtifact?.sha256 ?? "") ?? []).toString();
    expect([
      whole.length > 100_000,
      Buffer.byteLength(preview?.diff ?? "") <= 32_768,
      whole.startsWith(preview?.diff ?? "-"),
      preview?.diff.endsWith("\n"),
    ]).toEqual([true, true, true, true]);
  });

  test.each([
    ["was changed, where the patch would still fit", () => write("a.txt", "one\ntwo\nthree\n")],
    ["has another mode", () => chmodSync(at("a.txt"), 0o755)],
    [
      "became a link to another file of the same content",
      () => {
        rmSync(at("a.txt"));
        write("other.txt", "one\ntwo\n");
        symlinkSync("other.txt", at("a.txt"));
      },
    ],
  ])("a file that %s since is not touched", async (_, meddle) => {
    write("a.txt", "one\ntwo\n");
    const { preview } = await call({ patch: PATCH_A }, { preview: true });
    meddle();
    const before = read("a.txt");
    const { error, changes: recorded } = await call({ patch: PATCH_A }, { previewed: preview });
    expect([error, recorded]).toMatchObject([{ code: ErrorCode.CONFLICT, reason: "PREVIEW_STALE" }, []]);
    expect(read("a.txt")).toEqual(before);
  });

  test("what is as it was shown is done, and a second time it is not", async () => {
    write("a.txt", "one\ntwo\n");
    const { preview } = await call({ patch: PATCH_A }, { preview: true });
    expect((await call({ patch: PATCH_A }, { previewed: preview })).output).toBeDefined();
    expect((await call({ patch: PATCH_A }, { previewed: preview })).error?.reason).toBe("PATCH_MISMATCH");
  });

  test("what can't be done is an error and no preview", async () => {
    expect((await call({ patch: PATCH_A }, { preview: true })).error).toMatchObject({ reason: "PATCH_MISMATCH" });
  });
});

test("two calls at once on one file: both are done, or one is refused, and nothing is lost", async () => {
  write("a.txt", "one\ntwo\n");
  const results = await Promise.all(["1", "2", "3"].map((text) => call({ edits: [{ path: "a.txt", search: "two\n", replace: `${text}\ntwo\n` }] })));
  expect(results.map(({ error }) => error)).toEqual([undefined, undefined, undefined]);
  expect(read("a.txt").toString().split("\n").toSorted()).toEqual(["", "1", "2", "3", "one", "two"]);
});

test("a workspace that is gone is told as that", async () => {
  rmSync(workspace, { recursive: true });
  expect((await call({ edits: [{ path: "n.txt", search: "", replace: "x" }] })).error).toMatchObject({ code: ErrorCode.NOT_FOUND, reason: "WORKSPACE_GONE" });
  expect(existsSync(workspace)).toBe(false);
});
