import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { ForgeError } from "@forge/protocol";
import { ErrorCode } from "@forge/protocol/common";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { callTool } from "../testing/call-tool.ts";
import { globTool } from "../tools/glob-tool.ts";
import { searchTool } from "../tools/search-tool.ts";
import { WorkspaceGuard } from "../workspace/workspace-guard.ts";

let base: string;
let workspace: string;
let guard: WorkspaceGuard;

beforeEach(() => {
  base = realpathSync(mkdtempSync(join(tmpdir(), "forge-walk-")));
  workspace = join(base, "work");
  mkdirSync(workspace);
  guard = new WorkspaceGuard(workspace);
});

afterEach(() => rmSync(base, { recursive: true, force: true }));

function files(...paths: string[]): void {
  for (const path of paths) write(path, "needle\n");
}

function write(path: string, content: string): void {
  mkdirSync(dirname(join(workspace, path)), { recursive: true });
  writeFileSync(join(workspace, path), content);
}

const globbed = async (pattern: string, path?: string) => (await callTool(globTool(guard), { pattern, path })).output?.files;
async function searched(args: object = {}): Promise<string[]> {
  const { output } = await callTool(searchTool(guard), { pattern: "needle", ...args });
  return ((output?.matches ?? []) as { file: string }[]).map(({ file }) => file);
}

/** Both tools look at the same files. */
async function both(): Promise<unknown> {
  const found = await globbed("**/*");
  expect(await searched()).toEqual(found);
  return found;
}

describe("what is left out", () => {
  test("what ignore files name: nested ones, the nearest first, with negations, anchors and directories", async () => {
    files(
      "a.log",
      "keep.log",
      "build/x",
      "src/build/x",
      "src/a.log",
      "src/keep.log",
      "src/sub/b.txt",
      "src/sub/c.txt",
      "top.txt",
      "sub/top.txt",
      "deep/a/b/c.tmp",
      "deep/a/d.tmp",
    );
    write(".gitignore", "*.log\n!keep.log\nbuild/\n/top.txt\n.gitignore\n.ignore\n**/b/*.tmp\n# a comment\n");
    write("src/.gitignore", "!a.log\n/sub/*\n!/sub/c.txt\n");
    write("src/.ignore", "keep.log\n");
    expect(await both()).toEqual(["keep.log", "deep/a/d.tmp", "src/a.log", "src/sub/c.txt", "sub/top.txt"]);
  });

  test("what is in an ignored directory can't be named again", async () => {
    files("out/keep.txt", "a.txt");
    write(".gitignore", "out/\n!out/keep.txt\n.gitignore\n");
    expect(await both()).toEqual(["a.txt"]);
  });

  test("git's own list, its files, Forge's data, secrets, temporaries, dependencies and links", async () => {
    files("mine/x", ".git/config", "sub/.git/HEAD", ".forge/data/x", "store/.forge-data", "store/x", ".env", "src/.env.local", "key.pem", ".ssh/config");
    files("node_modules/x/i.js", ".forge-00000000-0000-4000-8000-000000000000.tmp", ".env.example", ".github/a.yml", "a.txt");
    write(".git/info/exclude", "mine/\n");
    writeFileSync(join(base, "outside.txt"), "needle");
    symlinkSync("../outside.txt", join(workspace, "link.txt"));
    symlinkSync("..", join(workspace, "up"));
    expect(await both()).toEqual([".env.example", "a.txt", ".github/a.yml"]);
  });

  test("not what somebody asks for by its path", async () => {
    files("out/a.txt", "out/sub/b.txt", "c.txt");
    write(".gitignore", "out/\n");
    expect(await globbed("**/*", "out")).toEqual(["out/a.txt", "out/sub/b.txt"]);
    expect(await searched({ path: "out/sub" })).toEqual(["out/sub/b.txt"]);
    expect(await searched({ path: "out/a.txt" })).toEqual(["out/a.txt"]);
  });

  test("rules above hold where the look begins below them", async () => {
    files("src/a.log", "src/b.txt");
    write(".gitignore", "*.log\n");
    expect(await globbed("*", "src")).toEqual(["src/b.txt"]);
  });

  test("an ignore file that is a link is not followed", async () => {
    files("a.txt");
    writeFileSync(join(base, "rules"), "a.txt\n");
    symlinkSync("../rules", join(workspace, ".gitignore"));
    expect(await both()).toEqual(["a.txt"]);
  });
});

describe("tools.glob", () => {
  beforeEach(() => files("a.ts", "b.md", "src/c.ts", "src/deep/d.ts", "src/deep/.hidden.ts", "src/[id].ts"));

  test.each([
    ["*.ts", ["a.ts", "src/[id].ts", "src/c.ts", "src/deep/.hidden.ts", "src/deep/d.ts"]],
    ["./*.ts", ["a.ts"]],
    ["src/*.ts", ["src/[id].ts", "src/c.ts"]],
    ["**/deep/**", ["src/deep/.hidden.ts", "src/deep/d.ts"]],
    ["*.{md,txt}", ["b.md"]],
    ["src/\\[id\\].ts", ["src/[id].ts"]],
    ["nothing", []],
  ])("%s", async (pattern, found) => {
    expect(await globbed(pattern)).toEqual(found);
  });

  test("bounds what it names, and says so", async () => {
    for (let index = 0; index < 1_001; index++) write(`many/${index}.x`, "");
    expect((await callTool(globTool(guard), { pattern: "*.x" })).output).toMatchObject({
      truncated: true,
      files: expect.objectContaining({ length: 1_000 }) as unknown,
    });
  });

  test("stops a pattern that takes without end", async () => {
    write(`${"a".repeat(200)}.b`, "");
    const abort = new AbortController();
    const outcome = callTool(globTool(guard), { pattern: `${"*a".repeat(60)}*c` }, { signal: abort.signal });
    setTimeout(() => abort.abort(new ForgeError(ErrorCode.CANCELLED, "cancelled")), 300);
    expect((await outcome).outcome.case).toMatch(/cancelled|tool/);
  });

  test("refuses a path outside, and one that is no more", async () => {
    expect((await callTool(globTool(guard), { pattern: "*", path: ".." })).error).toMatchObject({ code: ErrorCode.SANDBOX_VIOLATION });
    expect((await callTool(globTool(guard), { pattern: "*", path: "missing" })).error).toMatchObject({ code: ErrorCode.NOT_FOUND });
  });
});
