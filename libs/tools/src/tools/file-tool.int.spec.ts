import { chmodSync, linkSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ErrorCode } from "@forge/protocol/common";
import { RiskLevel } from "@forge/protocol/tool";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { sha256Of } from "../changes/file-state.ts";
import { WorkspaceChanges } from "../changes/workspace-changes.ts";
import { callTool, type TestCall } from "../testing/call-tool.ts";
import { WorkspaceGuard } from "../workspace/workspace-guard.ts";
import { fileTool, readFileTool } from "./file-tool.ts";

let base: string;
let workspace: string;
let changes: WorkspaceChanges;

beforeEach(() => {
  base = realpathSync(mkdtempSync(join(tmpdir(), "forge-file-")));
  workspace = join(base, "work");
  mkdirSync(workspace);
  changes = new WorkspaceChanges(new WorkspaceGuard(workspace), { stateDirectory: join(base, "state") });
});

afterEach(() => rmSync(base, { recursive: true, force: true }));

const at = (path: string) => join(workspace, path);
const call = (args: unknown, options?: TestCall) => callTool(fileTool(changes), args, options);
const read = (args: unknown) => callTool(readFileTool(changes.guard), args);

describe("reading lines", () => {
  beforeEach(() => writeFileSync(at("a.txt"), "one\r\ntwo\n\nfour"));

  test.each([
    [{}, { content: "one\r\ntwo\n\nfour", size: 14 }],
    [{ start_line: 2 }, { content: "two\n\nfour", size: 14, start_line: 2, end_line: 4, total_lines: 4 }],
    [
      { start_line: 2, end_line: 3 },
      { content: "two\n\n", size: 14, start_line: 2, end_line: 3, total_lines: 4 },
    ],
    [{ end_line: 1 }, { content: "one\r\n", size: 14, start_line: 1, end_line: 1, total_lines: 4 }],
    [
      { start_line: 4, end_line: 900 },
      { content: "four", size: 14, start_line: 4, end_line: 4, total_lines: 4 },
    ],
  ])("%j", async (range, result) => {
    expect((await read({ path: "a.txt", ...range })).output).toEqual({ path: "a.txt", ...result });
    expect((await call({ operation: "read", path: "a.txt", ...range })).output).toEqual({ path: "a.txt", ...result });
  });

  test("that are not there is refused, and so are lines of anything but a read", async () => {
    expect((await read({ path: "a.txt", start_line: 5 })).error?.message).toBe("a.txt has 4 lines, and none with number 5");
    expect((await read({ path: "a.txt", start_line: 3, end_line: 2 })).error).toMatchObject({ field: "arguments.end_line" });
    expect((await read({ path: "a.txt", start_line: 0 })).error).toMatchObject({ field: "arguments.start_line" });
    expect((await call({ operation: "list", path: ".", start_line: 1 })).error).toMatchObject({ field: "arguments.start_line" });
  });

  test("of a file that is too large to be read whole", async () => {
    writeFileSync(at("large.txt"), `${"x".repeat(99)}\n`.repeat(50_000));
    expect((await read({ path: "large.txt" })).error).toMatchObject({ reason: "FILE_TOO_LARGE" });
    expect((await read({ path: "large.txt", start_line: 40_000, end_line: 40_001 })).output).toMatchObject({
      content: `${"x".repeat(99)}\n`.repeat(2),
      total_lines: 50_000,
    });
  });

  test("of an empty file, and of Latin-1", async () => {
    writeFileSync(at("empty"), "");
    expect((await read({ path: "empty", start_line: 1 })).output).toMatchObject({ content: "", total_lines: 0 });
    writeFileSync(at("latin"), Buffer.from("caf\u00e9\n", "latin1"));
    expect((await read({ path: "latin" })).output).toEqual({ path: "latin", content: "café\n", size: 5, encoding: "latin-1" });
  });
});

describe("writing and appending", () => {
  test("are recorded, with what was there", async () => {
    writeFileSync(at("a.txt"), "old\n");
    chmodSync(at("a.txt"), 0o600);
    const written = await call({ operation: "write", path: "a.txt", content: "new\n" });
    const appended = await call({ operation: "append", path: "a.txt", content: "more\n" });
    const made = await call({ operation: "append", path: "sub/b.txt", content: "b\n" });
    const [hash, before] = [(text: string) => sha256Of(Buffer.from(text)), (text: string) => ({ beforeSha256: sha256Of(Buffer.from(text)) })];
    expect(written.changes).toMatchObject([
      { observed: false, files: [{ path: "a.txt", ...before("old\n"), afterSha256: hash("new\n"), beforeMode: 0o600, afterMode: 0o600 }] },
    ]);
    expect(appended.changes).toMatchObject([{ files: [{ ...before("new\n"), afterSha256: hash("new\nmore\n"), addedLines: 1, removedLines: 0 }] }]);
    expect(made.changes).toMatchObject([{ files: [{ path: "sub/b.txt", beforeSha256: "", afterSha256: hash("b\n"), beforeMode: 0 }] }]);
    expect(readFileSync(at("a.txt"), "utf8")).toBe("new\nmore\n");
  });

  test("what is there already is no change", async () => {
    writeFileSync(at("a.txt"), "same\n");
    const inode = statSync(at("a.txt")).ino;
    const { output, changes: made } = await call({ operation: "write", path: "a.txt", content: "same\n" });
    expect([output, made, statSync(at("a.txt")).ino === inode]).toMatchObject([{ bytes_written: 5 }, [], true]);
  });

  test("do not reach another name of the same file, which may be outside", async () => {
    writeFileSync(join(base, "outside.txt"), "outside\n");
    linkSync(join(base, "outside.txt"), at("a.txt"));
    await call({ operation: "append", path: "a.txt", content: "more\n" });
    expect([readFileSync(join(base, "outside.txt"), "utf8"), readFileSync(at("a.txt"), "utf8")]).toEqual(["outside\n", "outside\nmore\n"]);
  });

  test("to a file that is no UTF-8 takes ASCII only, and to a binary file nothing", async () => {
    writeFileSync(at("latin"), Buffer.from("caf\u00e9\n", "latin1"));
    expect((await call({ operation: "append", path: "latin", content: "ü" })).error).toMatchObject({ reason: "PATCH_MISMATCH" });
    expect((await call({ operation: "append", path: "latin", content: "u" })).error).toBeUndefined();
    expect(readFileSync(at("latin"))).toEqual(Buffer.from("caf\u00e9\nu", "latin1"));
    writeFileSync(at("binary"), "\0");
    expect((await call({ operation: "append", path: "binary", content: "u" })).error).toMatchObject({ reason: "NOT_TEXT" });
  });

  test("a workspace that is gone is told as that, and not made again", async () => {
    rmSync(workspace, { recursive: true });
    expect((await call({ operation: "write", path: "a.txt", content: "x" })).error).toMatchObject({ reason: "WORKSPACE_GONE" });
    expect((await read({ path: "a.txt" })).error).toMatchObject({ reason: "WORKSPACE_GONE" });
    expect(readdirSync(base)).not.toContain("work");
  });
});

describe("what is told before", () => {
  test("of a read or a list: that it only reads", async () => {
    for (const operation of ["read", "list"]) {
      expect((await call({ operation, path: "a.txt" }, { preview: true })).preview).toMatchObject({
        title: `${operation} a.txt`,
        risk: RiskLevel.READ,
        factsJson: "",
        paths: ["a.txt"],
      });
    }
  });

  test("of a write: what changes, and what it rests on; a file that changed since is refused", async () => {
    writeFileSync(at("a.txt"), "old\n");
    const args = { operation: "write", path: "./a.txt", content: "new\n" };
    const { preview } = await call(args, { preview: true });
    expect(preview).toMatchObject({
      title: "edit a.txt (+1 -1)",
      diff: "--- a/a.txt\n+++ b/a.txt\n@@ -1,1 +1,1 @@\n-old\n+new\n",
      ruleKey: "",
      paths: ["a.txt"],
    });
    writeFileSync(at("a.txt"), "mine\n");
    expect((await call(args, { previewed: preview })).error).toMatchObject({
      code: ErrorCode.CONFLICT,
      reason: "PREVIEW_STALE",
      message: expect.stringMatching(/^a\.txt has changed/) as string,
    });
    writeFileSync(at("a.txt"), "old\n");
    expect((await call(args, { previewed: preview })).error).toBeUndefined();
  });

  test("of a new file that somebody else made meanwhile", async () => {
    const args = { operation: "write", path: "n.txt", content: "new\n" };
    const { preview } = await call(args, { preview: true });
    expect(preview?.title).toBe("create n.txt (+1 -0)");
    writeFileSync(at("n.txt"), "mine\n");
    expect((await call(args, { previewed: preview })).error).toMatchObject({ reason: "PREVIEW_STALE" });
    expect(readFileSync(at("n.txt"), "utf8")).toBe("mine\n");
  });

  test("of a file that is replaced and is no text", async () => {
    writeFileSync(at("a.bin"), "\0\0");
    const { preview } = await call({ operation: "write", path: "a.bin", content: "text\n" }, { preview: true });
    expect(preview?.diff).toContain("Binary files differ (2 and 5 bytes)");
  });
});

test.each(["read", "write", "append", "list"])("secrets and git's files are refused for %s", async (operation) => {
  const content = operation === "write" || operation === "append" ? { content: "x" } : {};
  mkdirSync(at("sub/.git/hooks"), { recursive: true });
  for (const path of [
    ".env",
    "sub/.ENV",
    ".env.production",
    "key.pem",
    "sub/id_rsa",
    ".ssh/config",
    ".git/hooks/pre-commit",
    "sub/.git/config",
    ".forge/data/token",
  ]) {
    expect((await call({ operation, path, ...content })).error).toMatchObject({ code: ErrorCode.SANDBOX_VIOLATION });
    expect((await call({ operation, path, ...content }, { preview: operation === "write" })).error?.code).toBe(ErrorCode.SANDBOX_VIOLATION);
  }
  expect(readdirSync(workspace)).toEqual(["sub"]);
});

test("what is forbidden can be told otherwise", async () => {
  changes = new WorkspaceChanges(new WorkspaceGuard(workspace, { forbidden: ["*.secret", "private/"] }), { stateDirectory: join(base, "state") });
  expect((await call({ operation: "write", path: ".env", content: "A=1\n" })).error).toBeUndefined();
  expect((await call({ operation: "write", path: "private/x", content: "A=1\n" })).error).toMatchObject({ code: ErrorCode.SANDBOX_VIOLATION });
  expect((await call({ operation: "write", path: "x.secret", content: "A=1\n" })).error).toMatchObject({ code: ErrorCode.SANDBOX_VIOLATION });
});
