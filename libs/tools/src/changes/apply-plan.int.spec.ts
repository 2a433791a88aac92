import { execFileSync, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { ErrorCode } from "@forge/protocol/common";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { WorkspaceGuard } from "../workspace/workspace-guard.ts";
import { applyPlan } from "./apply-plan.ts";
import { ChangeJournal } from "./change-journal.ts";
import type { PlannedFile } from "./change-plan.ts";
import { readFileState } from "./file-state.ts";
import { thisProcess } from "./process-owner.ts";
import { WorkspaceChanges } from "./workspace-changes.ts";

let base: string;
let workspace: string;
let guard: WorkspaceGuard;
let journal: ChangeJournal;

beforeEach(() => {
  base = realpathSync(mkdtempSync(join(tmpdir(), "forge-apply-")));
  workspace = join(base, "work");
  mkdirSync(join(workspace, "sub"), { recursive: true });
  guard = new WorkspaceGuard(workspace);
  journal = new ChangeJournal(join(base, "journal"));
});

afterEach(() => rmSync(base, { recursive: true, force: true }));

const at = (path: string) => join(workspace, path);
const names = () => (readdirSync(workspace, { recursive: true }) as string[]).toSorted();

async function planned(path: string, content: string | undefined): Promise<PlannedFile> {
  const before = await readFileState(guard, path, 1_000_000);
  return { before, after: content === undefined ? undefined : { bytes: Buffer.from(content), mode: undefined } };
}

describe("a change that fails in the middle is taken back", () => {
  test.each<[string, () => void, () => void]>([
    ["where a later file was changed meanwhile", () => writeFileSync(at("z.txt"), "mine"), () => expect(readFileSync(at("z.txt"), "utf8")).toBe("mine")],
    ["where a later file is gone", () => rmSync(at("z.txt")), () => expect(existsSync(at("z.txt"))).toBe(false)],
    [
      "where a file that is to be made is there by now",
      () => writeFileSync(at("new.txt"), "mine"),
      () => expect(readFileSync(at("new.txt"), "utf8")).toBe("mine"),
    ],
  ])("%s", async (_, meddle, check) => {
    for (const name of ["a.txt", "gone.txt", "z.txt"]) writeFileSync(at(name), `old ${name}`);
    chmodSync(at("a.txt"), 0o640);
    const inode = statSync(at("a.txt")).ino;
    const plan = [
      await planned("a.txt", "new"),
      await planned("gone.txt", undefined),
      await planned("made/deep/x.txt", "new"),
      await planned("new.txt", "new"),
      await planned("z.txt", "new"),
    ];
    meddle();
    await expect(applyPlan(guard, journal, plan)).rejects.toMatchObject({ code: ErrorCode.CONFLICT, reason: "FILE_CHANGED" });
    expect([readFileSync(at("a.txt"), "utf8"), readFileSync(at("gone.txt"), "utf8")]).toEqual(["old a.txt", "old gone.txt"]);
    // Not one that only looks like it: others may have it open, or linked.
    expect([statSync(at("a.txt")).ino, statSync(at("a.txt")).mode & 0o777, existsSync(at("made"))]).toEqual([inode, 0o640, false]);
    expect([names().filter((name) => name.includes(".forge-")), readdirSync(join(base, "journal"))]).toEqual([[], []]);
    check();
  });

  test("where it was cancelled before it began to show", async () => {
    writeFileSync(at("a.txt"), "old");
    const plan = [await planned("a.txt", "new"), await planned("b.txt", "new")];
    await expect(applyPlan(guard, journal, plan, AbortSignal.abort(new Error("cancelled")))).rejects.toThrow("cancelled");
    expect([readFileSync(at("a.txt"), "utf8"), names()]).toEqual(["old", ["a.txt", "sub"]]);
  });
});

describe("a directory that became a link since", () => {
  test.each([
    ["out of the workspace", "..", ErrorCode.SANDBOX_VIOLATION],
    ["to another place in it", "other", ErrorCode.CONFLICT],
  ])("%s is not followed", async (_, target, code) => {
    mkdirSync(at("other"));
    writeFileSync(at("sub/a.txt"), "old");
    writeFileSync(join(base, "a.txt"), "outside");
    const plan = [await planned("sub/a.txt", "new"), await planned("sub/new.txt", "new")];
    rmSync(at("sub"), { recursive: true });
    symlinkSync(target, at("sub"));
    await expect(applyPlan(guard, journal, plan)).rejects.toMatchObject({ code });
    await expect(applyPlan(guard, journal, plan.slice(1))).rejects.toMatchObject({ code });
    expect([readFileSync(join(base, "a.txt"), "utf8"), existsSync(join(base, "new.txt")), readdirSync(at("other"))]).toEqual(["outside", false, []]);
  });
});

test("an edit by somebody else of the same size, just before the file is replaced, is not lost", async () => {
  writeFileSync(at("a.txt"), "old");
  const plan = [await planned("a.txt", "new")];
  writeFileSync(at("a.txt"), "odd");
  await expect(applyPlan(guard, journal, plan)).rejects.toMatchObject({ reason: "FILE_CHANGED" });
  expect(readFileSync(at("a.txt"), "utf8")).toBe("odd");
});

test("a file that somebody saves by rename just before it is replaced is not lost", async () => {
  writeFileSync(at("a.txt"), "old");
  const plan = [await planned("a.txt", "new")];
  let backup: string | undefined;
  const begin = journal.begin.bind(journal);
  journal.begin = (entries) => {
    backup = entries[0]?.backup;
    return begin(entries);
  };
  const openDirectory = guard.openDirectory.bind(guard);
  guard.openDirectory = async (...given) => {
    const opened = await openDirectory(...given);
    const atName = opened.at.bind(opened);
    opened.at = (name) => {
      // Asked for right after the file was found to be the same.
      if (name === backup && !existsSync(atName(name)) && readFileSync(at("a.txt"), "utf8") === "old") {
        writeFileSync(join(base, "saved"), "mine");
        renameSync(join(base, "saved"), at("a.txt"));
      }
      return atName(name);
    };
    return opened;
  };
  await expect(applyPlan(guard, journal, plan)).rejects.toMatchObject({ reason: "FILE_CHANGED" });
  expect([readFileSync(at("a.txt"), "utf8"), names()]).toEqual(["mine", ["a.txt", "sub"]]);
});

describe("of two that work on one workspace as two processes do", () => {
  const open = () => new WorkspaceChanges(new WorkspaceGuard(workspace), { stateDirectory: join(base, "state") });

  test("one waits for the other", async () => {
    const seen: string[] = [];
    const [began, go] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const first = open().alone(async () => {
      seen.push("first");
      began.resolve();
      await go.promise;
      seen.push("end of first");
    });
    await began.promise;
    const second = open().alone(async () => void seen.push("second"));
    await delay(50);
    go.resolve();
    await Promise.all([first, second]);
    expect(seen).toEqual(["first", "end of first", "second"]);
  });

  test("one that is gone keeps nobody waiting", async () => {
    const changes = open();
    mkdirSync(changes.stateDirectory, { recursive: true });
    symlinkSync([thisProcess().host, spawnSync("true").pid, "1", "x"].join(":"), join(changes.stateDirectory, "lock"));
    expect(await changes.alone(async () => readdirSync(changes.stateDirectory))).toEqual(["lock"]);
    expect(readdirSync(changes.stateDirectory)).toEqual([]);
  });
});

test("killed at any moment: each file is old or new, and after the next start all are of one kind, with nothing left over", async () => {
  const child = fileURLToPath(new URL("../testing/patching-child.ts", import.meta.url));
  for (let round = 0; round < 8; round++) {
    const running = spawn(process.execPath, [child, workspace, join(base, "state")], { stdio: ["ignore", "pipe", "inherit"] });
    await once(running.stdout, "data");
    // Not waiting for anything: the moment is to be a random one.
    await delay(Math.random() * 30);
    running.kill("SIGKILL");
    await once(running, "exit");
    const contents = () => ["a.txt", "sub/b.txt", "c.txt"].filter((path) => existsSync(at(path))).map((path) => readFileSync(at(path), "utf8"));
    for (const content of contents()) expect(content).toBe((content[0] as string).repeat(200_000));
    await new WorkspaceChanges(guard, { stateDirectory: join(base, "state") }).recover();
    expect(new Set(contents()).size).toBe(1);
    expect(names().filter((name) => name.includes(".forge-"))).toEqual([]);
  }
});

describe("a process that died", () => {
  const child = fileURLToPath(new URL("../testing/abandoning-child.ts", import.meta.url));
  const contents = () => Object.fromEntries(names().map((name) => [name, statSync(at(name)).isFile() ? readFileSync(at(name), "utf8") : "directory"]));

  beforeEach(() => {
    for (const name of ["a.txt", "gone.txt", "z.txt"]) writeFileSync(at(name), `old ${name}`);
  });

  function die(end: "armed" | "committed"): void {
    expect(spawnSync(process.execPath, [child, workspace, join(base, "journal"), end]).signal).toBe("SIGKILL");
  }

  test("between two files: all are as they were", async () => {
    die("armed");
    expect(contents()).toMatchObject({ "a.txt": "new a.txt", "made.txt": "new made.txt" });
    await journal.recover(guard);
    expect(contents()).toEqual({ "a.txt": "old a.txt", "gone.txt": "old gone.txt", "z.txt": "old z.txt", sub: "directory" });
    expect(readdirSync(join(base, "journal"))).toEqual([]);
  });

  test("after all of them: they stay, and what is left over goes", async () => {
    die("committed");
    await journal.recover(guard);
    expect(contents()).toEqual({ "a.txt": "new a.txt", "made.txt": "new made.txt", "z.txt": "old z.txt", sub: "directory" });
  });

  test("between two files that somebody has worked on since: his work stays", async () => {
    die("armed");
    rmSync(at("a.txt"));
    writeFileSync(at("a.txt"), "mine");
    rmSync(at("made.txt"));
    writeFileSync(at("made.txt"), "mine");
    writeFileSync(at("gone.txt"), "mine");
    await journal.recover(guard);
    expect(contents()).toEqual({ "a.txt": "mine", "made.txt": "mine", "gone.txt": "mine", "z.txt": "old z.txt", sub: "directory" });
  });
});

test("a transaction of many files is noted before the first of them shows, and as done after the last", async () => {
  const seen: string[] = [];
  const note = (step: string) =>
    seen.push(`${step}: ${["a.txt", "b.txt"].map((name) => (existsSync(at(name)) ? readFileSync(at(name), "utf8") : "-")).join(" ")}`);
  const begin = journal.begin.bind(journal);
  journal.begin = async (entries) => {
    note("begin");
    const open = await begin(entries);
    return {
      arm: async () => {
        note("arm");
        expect(entries.map(({ staged }) => readFileSync(at(staged?.name ?? ""), "utf8"))).toEqual(["new", "new"]);
        await open.arm();
      },
      commit: async () => {
        note("commit");
        await open.commit();
      },
      close: async () => {
        note("close");
        await open.close();
      },
    };
  };
  writeFileSync(at("a.txt"), "old");
  await applyPlan(guard, journal, [await planned("a.txt", "new"), await planned("b.txt", "new")]);
  expect(seen).toEqual(["begin: old -", "arm: old -", "commit: new new", "close: new new"]);
});

test("what another process that still runs is doing is left alone", async () => {
  writeFileSync(at("a.txt"), "old");
  writeFileSync(at(".forge-00000000-0000-4000-8000-000000000000.tmp"), "staged");
  const entries = [{ directory: ".", name: "a.txt", staged: { name: ".forge-00000000-0000-4000-8000-000000000000.tmp", sha256: "1" } }];
  const open = await journal.begin(entries);
  await journal.recover(guard);
  expect(names()).toHaveLength(3);
  await open.close();
});

function tmpfs(): string | undefined {
  const path = join(base, "full");
  mkdirSync(path);
  try {
    execFileSync("mount", ["-t", "tmpfs", "-o", "size=256k", "tmpfs", path], { stdio: "ignore" });
    return path;
  } catch {
    return undefined;
  }
}

test("a full disk is told as that, and the old files are whole", async (context) => {
  const full = tmpfs();
  if (full === undefined) context.skip("no file system can be mounted here, which a full disk needs");
  try {
    const small = new WorkspaceGuard(full as string);
    writeFileSync(join(full as string, "a.txt"), "old");
    const before = await readFileState(small, "a.txt", 1_000_000);
    const large = await readFileState(small, "b.txt", 1_000_000);
    const plan = [
      { before, after: { bytes: Buffer.from("new"), mode: undefined } },
      { before: large, after: { bytes: Buffer.alloc(1_000_000), mode: undefined } },
    ];
    await expect(applyPlan(small, journal, plan)).rejects.toMatchObject({ code: ErrorCode.RESOURCE_EXHAUSTED, reason: "ENOSPC" });
    expect([readdirSync(full as string), readFileSync(join(full as string, "a.txt"), "utf8")]).toEqual([["a.txt"], "old"]);
  } finally {
    execFileSync("umount", [full as string]);
  }
});
