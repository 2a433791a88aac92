import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { create } from "@bufbuild/protobuf";
import { ForgeError } from "@forge/protocol";
import { ErrorCode, ValueSchema } from "@forge/protocol/common";
import { CapabilityKind, TaskSchema } from "@forge/protocol/worker";
import type { Outcome, TaskHandler } from "@forge/worker";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { type FakeTaskContext, type FakeTaskContextOptions, fakeTaskContext } from "../testing/fake-task-context.ts";
import { eventually, processesWith } from "../testing/processes.ts";
import { createBuiltinTools } from "./builtin-tools.ts";

let base: string;
let workspace: string;
let tools: TaskHandler[];

beforeEach(() => {
  base = realpathSync(mkdtempSync(join(tmpdir(), "forge-tools-")));
  workspace = join(base, "work");
  mkdirSync(workspace);
  tools = createBuiltinTools({ workspace, environment: { GIVEN: "yes" }, stateDirectory: join(base, "state") });
});

afterEach(() => rmSync(base, { recursive: true, force: true }));

function contextOf(
  tool: string,
  argumentsJson: string,
  options: FakeTaskContextOptions & { needsStart?: boolean; input?: Record<string, string> } = {},
): FakeTaskContext {
  const input = Object.fromEntries(
    Object.entries(options.input ?? {}).map(([name, json]) => [name, create(ValueSchema, { kind: { case: "json", value: json } })]),
  );
  return fakeTaskContext(
    create(TaskSchema, { kind: { case: "tool", value: { tool, argumentsJson, input } }, needsStart: options.needsStart ?? false }),
    options,
  );
}

function run(context: FakeTaskContext): Promise<Outcome> {
  const name = context.task.kind.case === "tool" ? context.task.kind.value.tool : "";
  const handler = tools.find((tool) => tool.capability.name === name);
  if (handler === undefined) throw new Error(`no tool ${name}`);
  return handler.run(context);
}

/** What a call returns; fails where the call did. */
async function call(tool: string, args: object): Promise<Record<string, unknown>> {
  const context = contextOf(tool, JSON.stringify(args));
  const outcome = await run(context);
  if (outcome.case !== "tool" || outcome.value.output === undefined) throw new Error(`${tool}: ${JSON.stringify(errorOf(outcome))}`);
  return JSON.parse(await context.fromValue(outcome.value.output)) as Record<string, unknown>;
}

function errorOf(outcome: Outcome): { code: ErrorCode; message: string; reason: string; field: string | undefined; unknown: boolean } | undefined {
  if (outcome.case !== "failure" || outcome.value.error === undefined) return undefined;
  const { code, message, reason, metadata } = outcome.value.error;
  return { code, message, reason, field: metadata.field, unknown: outcome.value.unknown };
}

const refused = async (tool: string, args: object) => errorOf(await run(contextOf(tool, JSON.stringify(args))));

describe("every tool", () => {
  test("is offered with a schema, a risk and a time limit", () => {
    const served = tools.filter(({ capability }) => capability.kind === CapabilityKind.TOOL);
    const offered = served.map(({ capability }) => [capability.name, capability.tool?.idempotent, capability.tool?.risk]);
    expect(offered).toEqual([
      ["tools.echo", true, 1],
      ["tools.file", false, 2],
      ["tools.read_file", true, 1],
      ["tools.patch", false, 2],
      ["tools.glob", true, 1],
      ["tools.search", true, 1],
      ["tools.shell", false, 3],
      ["tools.processes", true, 1],
      ["tools.http", false, 3],
    ]);
    expect(tools.filter((tool) => !served.includes(tool)).map(({ capability }) => [capability.kind, capability.name])).toEqual([
      [CapabilityKind.WORKSPACE, "undo"],
    ]);
    for (const { capability } of served) {
      expect(JSON.parse(capability.tool?.inputSchemaJson ?? "")).toMatchObject({ type: "object" });
      expect(Number(capability.tool?.timeout?.seconds)).toBeGreaterThan(0);
    }
  });

  test.each([
    ["{}", "arguments.message"],
    ['{"message":1}', "arguments.message"],
    ['{"message":"x","more":1}', "arguments.more"],
    ['{"message":"cut sho', "arguments"],
    ["[]", "arguments"],
    ["", "arguments.message"],
  ])("refuses arguments %s, naming %s", async (json, field) => {
    expect(errorOf(await run(contextOf("tools.echo", json)))).toMatchObject({ code: ErrorCode.VALIDATION, reason: "TOOL_ARGUMENTS", field });
  });

  test("is not executed, nor started, with arguments that don't match", async () => {
    const context = contextOf("tools.file", '{"operation":"write","path":"a","content":1}', { needsStart: true });
    expect(errorOf(await run(context))).toMatchObject({ code: ErrorCode.VALIDATION, field: "arguments.content" });
    expect(context.starts).toEqual([]);
    expect(readdirSync(workspace)).toEqual([]);
  });

  test("takes a step's inputs by name", async () => {
    const context = contextOf("tools.echo", "", { input: { message: '"from the step"' } });
    expect(await run(context)).toMatchObject({ case: "tool", value: { output: { kind: { value: '{"message":"from the step"}' } } } });
  });

  test("awaits the go-ahead before it has an effect", async () => {
    let before: boolean | undefined;
    const start = async () => {
      // Long enough for an effect that does not wait to show itself.
      await delay(50);
      before = existsSync(join(workspace, "a.txt"));
    };
    const context = contextOf("tools.file", '{"operation":"write","path":"a.txt","content":"x"}', { needsStart: true, start });
    expect((await run(context)).case).toBe("tool");
    expect([before, context.starts[0]?.case]).toEqual([false, "tool"]);
  });

  test("does nothing when the go-ahead is refused", async () => {
    const start = () => Promise.reject(new ForgeError(ErrorCode.CONFLICT, "fenced"));
    const context = contextOf("tools.file", '{"operation":"write","path":"a.txt","content":"x"}', { needsStart: true, start });
    expect(errorOf(await run(context))).toMatchObject({ code: ErrorCode.CONFLICT });
    expect(readdirSync(workspace)).toEqual([]);
  });

  test("puts a large output into the artifact store", async () => {
    const context = contextOf("tools.echo", JSON.stringify({ message: "x".repeat(100_000) }));
    expect(await run(context)).toMatchObject({ case: "tool", value: { output: { kind: { case: "artifact" } } } });
    expect(context.artifacts.size).toBe(1);
  });
});

describe("tools.file", () => {
  test("writes, reads, appends and lists", async () => {
    const content = "grüße\r\n😀";
    const sha256 = createHash("sha256").update(content).digest("hex");
    expect(await call("tools.file", { operation: "write", path: "a/b/c.txt", content })).toEqual({ path: "a/b/c.txt", bytes_written: 13, sha256 });
    expect(await call("tools.file", { operation: "read", path: "a/b/c.txt" })).toEqual({ path: "a/b/c.txt", content, size: 13 });
    expect(await call("tools.file", { operation: "append", path: "a/b/c.txt", content: "!" })).toEqual({ path: "a/b/c.txt", bytes_written: 1, size: 14 });
    expect(await call("tools.read_file", { path: "a/b/c.txt" })).toEqual({ path: "a/b/c.txt", content: `${content}!`, size: 14 });
    symlinkSync("b", join(workspace, "a/link"));
    expect(await call("tools.file", { operation: "list", path: "a" })).toEqual({
      entries: [
        { name: "b", type: "directory", size: expect.any(Number) as number },
        { name: "link", type: "link", size: 1 },
      ],
      truncated: false,
    });
  });

  test("keeps a byte order mark", async () => {
    writeFileSync(join(workspace, "bom.txt"), "\ufeffx");
    expect(await call("tools.read_file", { path: "bom.txt" })).toMatchObject({ content: "\ufeffx", size: 4 });
  });

  test("replaces a file in one step: its mode stays, readers of the old one keep it, nothing else is left", async () => {
    writeFileSync(join(workspace, "run.sh"), "old");
    chmodSync(join(workspace, "run.sh"), 0o750);
    const inode = statSync(join(workspace, "run.sh")).ino;
    await call("tools.file", { operation: "write", path: "run.sh", content: "new" });
    const after = statSync(join(workspace, "run.sh"));
    expect([after.mode & 0o777, after.ino === inode, readdirSync(workspace)]).toEqual([0o750, false, ["run.sh"]]);
  });

  test("writes through a link that stays inside, and leaves the link", async () => {
    writeFileSync(join(workspace, "real.txt"), "old");
    symlinkSync("real.txt", join(workspace, "link.txt"));
    await call("tools.file", { operation: "write", path: "link.txt", content: "new" });
    expect(readFileSync(join(workspace, "real.txt"), "utf8")).toBe("new");
  });

  test("writes nothing through a link out of the workspace", async () => {
    symlinkSync(base, join(workspace, "out"));
    symlinkSync(join(base, "new.txt"), join(workspace, "dangling"));
    for (const [operation, path] of [
      ["write", "out/new.txt"],
      ["append", "out/new.txt"],
      ["write", "dangling"],
      ["append", "dangling"],
      ["write", "../new.txt"],
      ["write", ".git/hooks/pre-commit"],
    ]) {
      expect(await refused("tools.file", { operation, path, content: "x" })).toMatchObject({ code: ErrorCode.SANDBOX_VIOLATION });
    }
    expect(readdirSync(base).filter((name) => name !== "state")).toEqual(["work"]);
  });

  test("refuses pipes, directories, what is too large, and what is not text", async () => {
    execFileSync("mkfifo", [join(workspace, "pipe")]);
    writeFileSync(join(workspace, "large"), Buffer.alloc(2 * 1024 * 1024 + 1, "x"));
    writeFileSync(join(workspace, "binary"), Buffer.from([0x61, 0xff]));
    mkdirSync(join(workspace, "directory"));
    expect(await refused("tools.file", { operation: "read", path: "pipe" })).toMatchObject({ code: ErrorCode.SANDBOX_VIOLATION });
    expect(await refused("tools.file", { operation: "write", path: "pipe", content: "x" })).toMatchObject({ code: ErrorCode.SANDBOX_VIOLATION });
    expect(await refused("tools.file", { operation: "append", path: "pipe", content: "x" })).toMatchObject({ code: ErrorCode.SANDBOX_VIOLATION });
    expect(await refused("tools.file", { operation: "read", path: "large" })).toMatchObject({ code: ErrorCode.SANDBOX_VIOLATION, reason: "FILE_TOO_LARGE" });
    expect(await refused("tools.file", { operation: "append", path: "large", content: "x" })).toMatchObject({ reason: "FILE_TOO_LARGE" });
    expect(await refused("tools.file", { operation: "read", path: "binary" })).toMatchObject({ reason: "NOT_TEXT" });
    expect(await refused("tools.file", { operation: "read", path: "directory" })).toMatchObject({ reason: "EISDIR" });
    expect(await refused("tools.file", { operation: "write", path: "directory", content: "x" })).toMatchObject({ reason: "EISDIR" });
    expect(await refused("tools.file", { operation: "write", path: "binary/x", content: "x" })).toMatchObject({ code: ErrorCode.VALIDATION });
    expect(await refused("tools.file", { operation: "list", path: "missing" })).toMatchObject({ code: ErrorCode.NOT_FOUND });
    expect(await refused("tools.file", { operation: "write", path: "x" })).toMatchObject({ field: "arguments.content" });
    expect(await refused("tools.file", { operation: "write", path: "x", content: "\ud83d" })).toMatchObject({ field: "arguments.content" });
  });
});

describe("tools.search", () => {
  beforeEach(() => {
    for (const directory of [".git", ".forge/data", "node_modules/x", "src/deep"]) mkdirSync(join(workspace, directory), { recursive: true });
    for (const file of [".git/config", ".forge/data/x", "node_modules/x/i.js", "src/a.ts", "src/deep/b.md", "z.txt"]) {
      writeFileSync(join(workspace, file), `first\r\nneedle (${file})\r\nlast needle`);
    }
    writeFileSync(join(workspace, "binary"), "needle\0");
    writeFileSync(join(workspace, "large"), "needle\n".repeat(200_000));
    writeFileSync(join(base, "outside.txt"), "needle");
    symlinkSync("../outside.txt", join(workspace, "out"));
    execFileSync("mkfifo", [join(workspace, "pipe")]);
  });

  test("finds literal text in text files only, in order", async () => {
    const { matches } = await call("tools.search", { pattern: "needle (" });
    expect(matches).toEqual([
      { file: "z.txt", line: 2, text: "needle (z.txt)" },
      { file: "src/a.ts", line: 2, text: "needle (src/a.ts)" },
      { file: "src/deep/b.md", line: 2, text: "needle (src/deep/b.md)" },
    ]);
  });

  test.each([
    [{ path: "src" }, ["src/a.ts", "src/deep/b.md"]],
    [{ path: "src/a.ts" }, ["src/a.ts"]],
    [{ glob: "*.md" }, ["src/deep/b.md"]],
    [{ glob: "src/*" }, ["src/a.ts"]],
    [{ glob: "src/**" }, ["src/a.ts", "src/deep/b.md"]],
  ])("looks only where %j says", async (where, files) => {
    const { matches } = await call("tools.search", { pattern: "first", ...where });
    expect((matches as { file: string }[]).map(({ file }) => file)).toEqual(files);
  });

  test("finds a regular expression", async () => {
    const { matches } = await call("tools.search", { pattern: "^last n[e]{2}dle$", regex: true, glob: "*.txt" });
    expect(matches).toEqual([{ file: "z.txt", line: 3, text: "last needle" }]);
  });

  test("bounds results and lines, and says so", async () => {
    expect(await call("tools.search", { pattern: "needle", max_results: 2 })).toMatchObject({ matches: [{ line: 2 }, { line: 3 }], truncated: true });
    writeFileSync(join(workspace, "long.txt"), `${"😀".repeat(10_000)}haystack${"😀".repeat(10_000)}`);
    const { matches } = await call("tools.search", { pattern: "haystack" });
    const [{ text }] = matches as [{ text: string }];
    expect([text.length <= 400, text.includes("haystack"), text.isWellFormed()]).toEqual([true, true, true]);
  });

  test("stops an expression that backtracks without end", async () => {
    writeFileSync(join(workspace, "trap.txt"), `${"a".repeat(60)}!`);
    const abort = new AbortController();
    const context = contextOf("tools.search", JSON.stringify({ pattern: "^(a+)+$", regex: true, path: "trap.txt" }), { signal: abort.signal });
    const outcome = run(context);
    setTimeout(() => abort.abort(new ForgeError(ErrorCode.CANCELLED, "cancelled")), 100);
    expect((await outcome).case).toBe("cancelled");
  });

  test("refuses a bad expression, a pattern over lines, and a path outside", async () => {
    expect(await refused("tools.search", { pattern: "(", regex: true })).toMatchObject({ field: "arguments.pattern" });
    expect(await refused("tools.search", { pattern: "a\nb" })).toMatchObject({ field: "arguments.pattern" });
    expect(await refused("tools.search", { pattern: "a", path: ".." })).toMatchObject({ code: ErrorCode.SANDBOX_VIOLATION });
    expect(await refused("tools.search", { pattern: "a", path: "missing", regex: true })).toMatchObject({ code: ErrorCode.NOT_FOUND });
  });
});

describe("tools.shell", () => {
  test("returns exit code and output; a failing command is a completed call", async () => {
    mkdirSync(join(workspace, "sub"));
    const result = await call("tools.shell", { command: 'pwd; echo "$GIVEN" >&2; exit 4', cwd: "sub" });
    expect(result).toEqual({ exit_code: 4, stdout: `${workspace}/sub\n`, stderr: "yes\n", truncated: false, duration_ms: expect.any(Number) as number });
  });

  test("shows output while it runs, each piece at its offset", async () => {
    const context = contextOf("tools.shell", JSON.stringify({ command: "echo one; echo zwölf >&2; echo 😀" }));
    await run(context);
    expect(context.printed()).toContain("😀\n");
    let offset = 0n;
    for (const report of context.reports) {
      if (report.case !== "tool") throw new Error("another kind of delta");
      expect(report.value).toMatchObject({ offset, epoch: 3 });
      offset += BigInt(report.value.text.length);
    }
    expect(offset).toBe(13n);
  });

  test("bounds what it returns and what it shows live", async () => {
    const context = contextOf("tools.shell", JSON.stringify({ command: "head -c 20000000 /dev/zero | tr '\\0' x" }));
    const outcome = await run(context);
    const output = outcome.case === "tool" && outcome.value.output !== undefined ? await context.fromValue(outcome.value.output) : "";
    expect(JSON.parse(output)).toMatchObject({ exit_code: 0, truncated: true });
    expect(output.length).toBeLessThan(40_000);
    expect(context.printed().length).toBeLessThan(400_000);
    expect(context.printed()).toMatch(/not shown live\]\n$/);
  });

  test("a timeout is a failure that tells what was printed", async () => {
    const error = await refused("tools.shell", { command: "echo half; echo oops >&2; sleep 60", timeout_seconds: 0.3 });
    expect(error).toMatchObject({ code: ErrorCode.DEADLINE_EXCEEDED, unknown: false });
    expect(error?.message).toContain("within 0.3 s");
    expect(error?.message).toContain("half\n");
    expect(error?.message).toContain("oops\n");
  });

  test("the task's deadline is such a failure as well", async () => {
    const abort = new AbortController();
    const onReport = () => abort.abort(new ForgeError(ErrorCode.DEADLINE_EXCEEDED, "the task's time is up"));
    const outcome = await run(contextOf("tools.shell", JSON.stringify({ command: "echo half; sleep 60" }), { signal: abort.signal, onReport }));
    expect(errorOf(outcome)).toMatchObject({ code: ErrorCode.DEADLINE_EXCEEDED, message: "the task's time is up\nstdout until then:\nhalf\n" });
  });

  test("a cancel is settled when everything has stopped", async () => {
    const mark = `sleep ${800_000 + process.pid}`;
    const abort = new AbortController();
    const command = `trap '' TERM; setsid ${mark} & ${mark}`;
    const outcome = run(contextOf("tools.shell", JSON.stringify({ command }), { signal: abort.signal }));
    await eventually("two processes", async () => (await processesWith(mark.replace(" ", "\0"))).length === 2);
    abort.abort(new ForgeError(ErrorCode.CANCELLED, "cancelled"));
    expect((await outcome).case).toBe("cancelled");
    expect(await processesWith(mark.replace(" ", "\0"))).toEqual([]);
  });

  test("does not run outside of the workspace, with a NUL, or for too long", async () => {
    expect(await refused("tools.shell", { command: "true", cwd: ".." })).toMatchObject({ code: ErrorCode.SANDBOX_VIOLATION });
    expect(await refused("tools.shell", { command: "true", cwd: "missing" })).toMatchObject({ code: ErrorCode.NOT_FOUND });
    expect(await refused("tools.shell", { command: "echo\0 x" })).toMatchObject({ field: "arguments.command" });
    expect(await refused("tools.shell", { command: "true", timeout_seconds: 601 })).toMatchObject({ field: "arguments.timeout_seconds" });
  });
});
