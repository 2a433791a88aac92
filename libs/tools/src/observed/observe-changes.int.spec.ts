import { appendFileSync, chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { create } from "@bufbuild/protobuf";
import { ForgeError } from "@forge/protocol";
import { ErrorCode } from "@forge/protocol/common";
import type { WorkspaceChangeRecorded } from "@forge/protocol/event";
import { ChangeSchema } from "@forge/protocol/session";
import { RiskLevel } from "@forge/protocol/tool";
import { TaskSchema } from "@forge/protocol/worker";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { undoHandler } from "../changes/undo-handler.ts";
import { callTool, type TestOutcome } from "../testing/call-tool.ts";
import { fakeTaskContext } from "../testing/fake-task-context.ts";
import { patchTool } from "../tools/patch-tool.ts";
import type { ToolCall, ToolDefinition } from "../tools/tool-definition.ts";
import { openToolWorkspace, type ToolWorkspace } from "../tools/tool-workspace.ts";

let base: string;
let directory: string;
let workspace: ToolWorkspace;
let artifacts: Map<string, Uint8Array>;

beforeEach(() => {
  base = realpathSync(mkdtempSync(join(tmpdir(), "forge-observe-")));
  directory = join(base, "work");
  mkdirSync(directory);
  workspace = openToolWorkspace(directory, { stateDirectory: join(base, "state") });
  artifacts = new Map();
});

afterEach(async () => {
  await workspace.close();
  rmSync(base, { recursive: true, force: true });
});

const at = (path: string) => join(directory, path);
const read = (path: string) => (existsSync(at(path)) ? readFileSync(at(path), "utf8") : undefined);
function write(path: string, content: string | Buffer): void {
  mkdirSync(dirname(at(path)), { recursive: true });
  writeFileSync(at(path), content);
}

/** Calls something that executes, in the place of a command. */
function execute(
  work: (signal: AbortSignal, call: ToolCall) => void | Promise<void>,
  options: { sessionId?: string; signal?: AbortSignal } = {},
): Promise<TestOutcome> {
  const definition: ToolDefinition<object> = {
    name: "tools.execute",
    description: "",
    inputSchema: { type: "object" },
    idempotent: false,
    risk: RiskLevel.EXECUTE,
    timeoutMs: 60_000,
    observes: true,
    execute: async (_, call) => {
      await work(call.signal, call);
      return null;
    },
  };
  return callTool(definition, {}, { sessionId: "s1", artifacts, pipeline: { observe: workspace.observe }, ...options });
}

const pathsOf = (change: WorkspaceChangeRecorded | undefined) => change?.files.map(({ path }) => path);

async function undo(change: WorkspaceChangeRecorded) {
  const task = create(TaskSchema, { kind: { case: "undo", value: { sessionId: "s1", changeIds: [change.changeId] } } });
  const changes = [create(ChangeSchema, { changeId: change.changeId, files: change.files })];
  return undoHandler(workspace.changes).run(fakeTaskContext(task, { artifacts, changes }));
}

test("what an execution changes is recorded with both contents, and can be undone", async () => {
  write("a.txt", "a\n");
  write("run.sh", "r\n");
  write("gone.txt", "g\n");
  const { changes } = await execute(() => {
    write("a.txt", "a\nb\n");
    write("n/new.txt", "n\n");
    chmodSync(at("run.sh"), 0o755);
    rmSync(at("gone.txt"));
  });
  const [change] = changes;
  expect([changes.length, change?.observed, change?.notUndoable]).toEqual([1, true, ["anything outside of the workspace"]]);
  expect(change?.files).toMatchObject([
    { path: "a.txt", addedLines: 1, removedLines: 0, notUndoable: "" },
    { path: "gone.txt", afterSha256: "", removedLines: 1 },
    { path: "n/new.txt", beforeSha256: "", addedLines: 1 },
    { path: "run.sh", beforeMode: 0o644, afterMode: 0o755 },
  ]);
  expect(await undo(change as WorkspaceChangeRecorded)).toMatchObject({ case: "undo", value: { changeIds: [change?.changeId], refused: [] } });
  expect([read("a.txt"), read("n/new.txt"), read("gone.txt")]).toEqual(["a\n", undefined, "g\n"]);
});

test("nothing changed: nothing is recorded", async () => {
  write("a.txt", "a\n");
  expect((await execute(() => {})).changes).toEqual([]);
  expect((await execute(() => void readFileSync(at("a.txt")))).changes).toEqual([]);
});

test("what a person does between two executions is nobody's", async () => {
  write("a.txt", "a\n");
  await execute(() => {});
  write("a.txt", "mine\n");
  write("new.txt", "mine\n");
  expect((await execute(() => write("b.txt", "b\n"))).changes.map(pathsOf)).toEqual([["b.txt"]]);
});

test("what a person does while an execution only reads is nobody's, also afterwards", async () => {
  write("a.txt", "a\n");
  const { changes } = await execute((_, call) => {
    call.readsOnly();
    write("a.txt", "mine\n");
  });
  expect(changes).toEqual([]);
  expect((await execute(() => write("b.txt", "b\n"))).changes.map(pathsOf)).toEqual([["b.txt"]]);
});

test("what is found at the end of one that only reads is of the one that still runs", async () => {
  const { changes } = await execute(async () => {
    const reader = await execute((_, call) => {
      call.readsOnly();
      write("a.txt", "a\n");
    });
    expect(reader.changes).toEqual([]);
  });
  expect(changes.map(pathsOf)).toEqual([["a.txt"]]);
});

test("what was changed is recorded also of a call that fails or is cancelled", async () => {
  const failed = await execute(() => {
    write("a.txt", "a");
    throw new ForgeError(ErrorCode.INTERNAL, "broken");
  });
  expect([failed.outcome.case, failed.changes.map(pathsOf)]).toEqual(["failure", [["a.txt"]]]);
  const abort = new AbortController();
  const cancelled = await execute(
    (signal) => {
      write("b.txt", "b");
      abort.abort(new ForgeError(ErrorCode.CANCELLED, "cancelled"));
      signal.throwIfAborted();
    },
    { signal: abort.signal },
  );
  expect([cancelled.outcome.case, cancelled.changes.map(pathsOf)]).toEqual(["cancelled", [["b.txt"]]]);
});

describe("what can't be undone is told", () => {
  test("ignored files, secrets, and what was too large to be kept", async () => {
    write(".gitignore", "*.log\n");
    write("large.bin", Buffer.alloc(5 * 1024 * 1024));
    write(".env", "KEY=1");
    const { changes } = await execute(() => {
      write("x.log", "x");
      appendFileSync(at("large.bin"), "more");
      write(".env", "KEY=12");
    });
    expect(changes[0]?.files).toMatchObject([{ path: "large.bin", notUndoable: "too large" }]);
    expect(changes[0]?.notUndoable).toEqual(["ignored: x.log", "forbidden: .env", "anything outside of the workspace"]);
    expect([...artifacts.values()].some((content) => Buffer.from(content).includes("KEY="))).toBe(false);
    expect(await undo(changes[0] as WorkspaceChangeRecorded)).toMatchObject({ case: "undo", value: { refused: [{ path: "large.bin", reason: "too large" }] } });
  });

  test("more files than one change names", async () => {
    const { changes } = await execute(() => {
      for (let index = 0; index < 510; index++) write(`n/${index}.txt`, String(index));
    });
    expect([changes[0]?.files.length, changes[0]?.notUndoable]).toEqual([500, ["10 more files", "anything outside of the workspace"]]);
  });
});

describe("more than one at once", () => {
  test("each change is told once, of the one that ends first, and that others ran is told too", async () => {
    write("a.txt", "a");
    const [started, go] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const slow = execute(
      async () => {
        write("slow.txt", "1");
        started.resolve();
        await go.promise;
        write("late.txt", "1");
      },
      { sessionId: "s1" },
    );
    await started.promise;
    const quick = await execute(() => write("quick.txt", "1"), { sessionId: "s2" });
    go.resolve();
    const { changes } = await slow;
    // What was there before the second one began is the first one's for sure.
    expect(pathsOf(quick.changes[0])).toEqual(["quick.txt"]);
    expect(pathsOf(changes[0])).toEqual(["late.txt", "slow.txt"]);
    expect(quick.changes[0]?.notUndoable[0]).toMatch(/tools of others ran, whose changes may be among these: s1/);
    expect(changes[0]?.notUndoable[0]).toMatch(/: s2/);
  });

  test("what a patch changes meanwhile is the patch's, and what the execution does to the same file stays its own", async () => {
    write("a.txt", "one\n");
    write("b.txt", "one\n");
    let patched: TestOutcome | undefined;
    const { changes } = await execute(async () => {
      write("b.txt", "one\ntwo\n");
      patched = await callTool(
        patchTool(workspace.changes),
        {
          edits: [
            { path: "a.txt", search: "one", replace: "ONE" },
            { path: "b.txt", search: "two", replace: "TWO" },
            { path: "n/c.txt", search: "", replace: "c" },
          ],
        },
        { sessionId: "s2", artifacts },
      );
    });
    expect(pathsOf(patched?.changes[0])).toEqual(["a.txt", "b.txt", "n/c.txt"]);
    expect([pathsOf(changes[0]), Buffer.from(artifacts.get(changes[0]?.files[0]?.afterSha256 ?? "") ?? []).toString()]).toEqual([["b.txt"], "one\ntwo\n"]);
  });
});

test("a workspace that can't be looked at is told, and the call goes on", async () => {
  await workspace.close();
  writeFileSync(join(base, "file"), "");
  workspace = openToolWorkspace(directory, { stateDirectory: join(base, "file") });
  const { outcome, changes } = await execute(() => write("a.txt", "a"));
  expect([outcome.case, read("a.txt"), changes[0]?.notUndoable[0]]).toEqual(["tool", "a", expect.stringMatching(/^what was changed is not known: /)]);
});

test("what is known is kept over a restart: nothing is read again, and the content from before is there", async () => {
  write("a.txt", "a\n");
  await execute(() => {});
  await workspace.close();
  workspace = openToolWorkspace(directory, { stateDirectory: join(base, "state") });
  const { changes } = await execute(() => write("a.txt", "b\n"));
  expect(Buffer.from(artifacts.get(changes[0]?.files[0]?.before?.sha256 ?? "") ?? []).toString()).toBe("a\n");
});
