import { execFileSync } from "node:child_process";
import { appendFileSync, chmodSync, mkdirSync, mkdtempSync, realpathSync, renameSync, rmSync, symlinkSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { FORBIDDEN_DEFAULT, forbiddenPaths } from "../workspace/forbidden-paths.ts";
import { ContentPack } from "./content-pack.ts";
import { loadedManifest, savedManifest } from "./manifest.ts";
import type { Observation } from "./observed-file.ts";
import { WorkspaceScanner } from "./workspace-scanner.ts";

let base: string;
let workspace: string;
let pack: ContentPack;
let scanner: WorkspaceScanner;

function newScanner(known?: WorkspaceScanner): WorkspaceScanner {
  const manifest = known === undefined ? undefined : loadedManifest(JSON.parse(JSON.stringify(savedManifest(known.manifest))));
  return new WorkspaceScanner({ root: workspace, isForbidden: forbiddenPaths(FORBIDDEN_DEFAULT), pack }, manifest);
}

beforeEach(() => {
  base = realpathSync(mkdtempSync(join(tmpdir(), "forge-scan-")));
  workspace = join(base, "work");
  mkdirSync(workspace);
  pack = new ContentPack(join(base, "pack"), 1_000_000);
  write("a.txt", "a");
  write("src/b.txt", "b");
  write("src/deep/c.txt", "c");
  write(".gitignore", "dist/\n*.log\n");
  write("dist/out.js", "out");
  write("x.log", "log");
  scanner = newScanner();
});

afterEach(() => {
  pack.close();
  rmSync(base, { recursive: true, force: true });
});

const at = (path: string) => join(workspace, path);
function write(path: string, content: string | Buffer): void {
  mkdirSync(dirname(at(path)), { recursive: true });
  writeFileSync(at(path), content);
}

/** For example "M a.txt a -> b". */
function told({ changes, notes }: Observation): string[] {
  const text = (file: Observation["changes"][number]["before"]) => (file === undefined ? "-" : (pack.get(file.sha256)?.toString() ?? "?"));
  return [...changes.map(({ path, before, after }) => `${path}: ${text(before)} > ${text(after)}`).toSorted(), ...notes];
}

const look = () => told(scanner.scan());

test("tells nothing the first time, and nothing while nothing changes", () => {
  expect([look(), look(), look()]).toEqual([[], [], []]);
});

describe("what changed since the look before", () => {
  beforeEach(() => void scanner.scan());

  test("files changed, made and deleted, in directories known and new, with both contents", () => {
    write("a.txt", "A");
    write("new/er/d.txt", "d");
    rmSync(at("src/deep"), { recursive: true });
    expect(look()).toEqual(["a.txt: a > A", "new/er/d.txt: - > d", "src/deep/c.txt: c > -"]);
    expect(look()).toEqual([]);
    rmSync(at("src"), { recursive: true });
    expect(look()).toEqual(["src/b.txt: b > -"]);
  });

  test("the same size at the same time", () => {
    const time = new Date(1_600_000_000_000);
    utimesSync(at("a.txt"), time, time);
    expect(look()).toEqual([]);
    write("a.txt", "b");
    utimesSync(at("a.txt"), time, time);
    expect(look()).toEqual(["a.txt: a > b"]);
  });

  test("twice within a tick of the clock", () => {
    for (let round = 0; round < 50; round++) {
      write("a.txt", `${round}x`);
      expect(look()).toHaveLength(1);
      write("a.txt", `${round}y`);
      expect(look()).toEqual([`a.txt: ${round}x > ${round}y`]);
      write(`n${round}`, "");
      expect(look()).toHaveLength(1);
      rmSync(at(`n${round}`));
      write(`m${round}`, "");
      expect(look()).toHaveLength(2);
    }
  });

  test("only the time: nothing", () => {
    utimesSync(at("a.txt"), 1, 1);
    expect(look()).toEqual([]);
  });

  test("the mode", () => {
    chmodSync(at("a.txt"), 0o755);
    expect(scanner.scan().changes).toMatchObject([{ path: "a.txt", before: { mode: 0o644 }, after: { mode: 0o755 } }]);
  });

  test("a file that becomes a directory, and the other way round", () => {
    rmSync(at("a.txt"));
    write("a.txt/x", "x");
    rmSync(at("src"), { recursive: true });
    write("src", "s");
    expect(look()).toEqual(["a.txt/x: - > x", "a.txt: a > -", "src/b.txt: b > -", "src/deep/c.txt: c > -", "src: - > s"]);
  });

  test("a link, which is told as one and never followed", () => {
    write("../outside.txt", "secret");
    symlinkSync("../outside.txt", at("link"));
    rmSync(at("a.txt"));
    symlinkSync("/etc", at("a.txt"));
    const { changes } = scanner.scan();
    expect(changes.map(({ path, after }) => [path, after?.isLink, after?.isKept])).toEqual(
      expect.arrayContaining([
        ["link", true, false],
        ["a.txt", true, false],
      ]),
    );
  });

  test("a directory that was moved", () => {
    renameSync(at("src"), at("lib"));
    expect(look()).toEqual(["lib/b.txt: - > b", "lib/deep/c.txt: - > c", "src/b.txt: b > -", "src/deep/c.txt: c > -"]);
  });

  test("the workspace itself that is gone, and comes back", () => {
    rmSync(workspace, { recursive: true });
    expect(look()).toEqual([".gitignore: dist/\n*.log\n > -", "a.txt: a > -", "src/b.txt: b > -", "src/deep/c.txt: c > -", "ignored: dist/, x.log"]);
    write("a.txt", "again");
    expect(look()).toEqual(["a.txt: - > again"]);
  });

  test("a large file is told, and not kept", () => {
    write("large", Buffer.alloc(5 * 1024 * 1024));
    expect(scanner.scan().changes).toMatchObject([{ path: "large", after: { isKept: false, size: 5 * 1024 * 1024 } }]);
  });

  test("Forge's own temporaries and data, and pipes are nobody's work, and a repository inside is only told of", () => {
    write(".forge-00000000-0000-4000-8000-000000000000.tmp", "x");
    write(".forge/data/x", "x");
    write("store/.forge-data", "");
    write("store/x", "");
    write("sub/.git/config", "x");
    execFileSync("mkfifo", [at("pipe")]);
    expect(look()).toEqual(["git sub/.git", "git sub/.git/config"]);
  });
});

describe("what is ignored", () => {
  beforeEach(() => void scanner.scan());

  test("is named, not told", () => {
    appendFileSync(at("x.log"), "more");
    write("dist/other.js", "other");
    write("y.log", "new");
    write("src/z.log", "new");
    expect(look()).toEqual([expect.stringMatching(/^ignored: (?=.*y\.log)(?=.*x\.log)(?=.*dist\/)(?=.*src\/z\.log)/)]);
    expect(look()).toEqual([]);
  });

  test("and secrets are named as forbidden, and never read", () => {
    write(".env", "KEY=1");
    expect(look()).toEqual(["forbidden: .env"]);
    write(".env", "KEY=12");
    expect([look(), pack.has("")]).toEqual([["forbidden: .env"], false]);
  });

  test("and becomes visible is no work of whoever changed the rules", () => {
    write(".gitignore", "*.log\n");
    expect(look()).toEqual([".gitignore: dist/\n*.log\n > *.log\n", "1 file or directory ignored no longer"]);
    write("dist/out.js", "changed");
    expect(look()).toEqual(["dist/out.js: out > changed"]);
  });

  test("and becomes visible as a single file is not new either", () => {
    write(".gitignore", "dist/\n");
    expect(look()).toEqual([".gitignore: dist/\n*.log\n > dist/\n", "1 file or directory ignored no longer"]);
    rmSync(at("x.log"));
    expect(look()).toEqual(["x.log: log > -"]);
  });

  test("from now on was not deleted", () => {
    write(".gitignore", "dist/\n*.log\nsrc/\n");
    expect(look()).toEqual([".gitignore: dist/\n*.log\n > dist/\n*.log\nsrc/\n", "1 file or directory ignored from now on"]);
    write("src/b.txt", "B");
    expect(scanner.scan().changes).toEqual([]);
  });

  test("is so by nested files and negations, and by git's own list", () => {
    write("src/.gitignore", "*.tmp\n!keep.tmp\n");
    write(".git/info/exclude", "mine/\n");
    scanner.scan();
    write("src/x.tmp", "");
    write("src/keep.tmp", "k");
    write("mine/x", "");
    write("src/deep/y.tmp", "");
    expect(scanner.scan().changes.map(({ path }) => path)).toEqual(["src/keep.tmp"]);
  });
});

test("where HEAD and other references are is told", () => {
  const git = (...args: string[]) => execFileSync("git", ["-c", "user.name=n", "-c", "user.email=e", ...args], { cwd: workspace, stdio: "ignore" });
  git("init", "-b", "main");
  scanner.scan();
  git("commit", "--allow-empty", "-m", "x");
  expect(look()).toEqual(["git refs/heads/main"]);
  git("checkout", "-b", "other");
  expect(look()).toEqual(["git HEAD", "git refs/heads/other"]);
});

test("what Forge itself changed is known, also in a new directory, and nothing beside it", () => {
  scanner.scan();
  write("a.txt", "mine");
  write("n/e/w.txt", "mine");
  write("n/e/other.txt", "other");
  rmSync(at("src/b.txt"));
  scanner.refresh(["a.txt", "n/e/w.txt", "src/b.txt", "dist/ignored.txt"]);
  expect(look()).toEqual(["n/e/other.txt: - > other"]);
});

describe("a manifest that was stored", () => {
  test("is taken as how things were: what changed since is nobody's, and is known", () => {
    scanner.scan();
    write("a.txt", "since");
    rmSync(at("src/b.txt"));
    scanner = newScanner(scanner);
    expect(look()).toEqual([]);
    write("a.txt", "now");
    write("src/b.txt", "back");
    expect(look()).toEqual(["a.txt: since > now", "src/b.txt: - > back"]);
  });

  test("is sorted anew where an ignore file is another one by now", () => {
    scanner.scan();
    write(".gitignore", "src/deep/\n");
    scanner = newScanner(scanner);
    expect(look()).toEqual([]);
    write("dist/out.js", "changed");
    write("src/deep/c.txt", "changed");
    expect(scanner.scan().changes.map(({ path }) => path)).toEqual(["dist/out.js"]);
  });
});

describe("the pack", () => {
  test("holds what it is told it holds, and no more than its bound", () => {
    const full = new ContentPack(join(base, "small"), 10);
    expect([full.add("one", Buffer.from("123456")), full.add("two", Buffer.from("1234567")), full.add("one", Buffer.from("123456"))]).toEqual([
      true,
      false,
      true,
    ]);
    expect([full.get("one")?.toString(), full.get("two")]).toEqual(["123456", undefined]);
    const index = [...full.entries()];
    full.add("three", Buffer.from("789"));
    full.close();
    // What was written after the index was kept is gone, and its room is used.
    const again = new ContentPack(join(base, "small"), 10, index);
    expect([again.has("three"), again.get("one")?.toString(), again.add("four", Buffer.from("abcd")), again.get("four")?.toString()]).toEqual([
      false,
      "123456",
      true,
      "abcd",
    ]);
    again.retain(new Set(["four"]));
    expect([again.has("one"), again.get("four")?.toString(), again.add("five", Buffer.from("vwxyz!"))]).toEqual([false, "abcd", true]);
    expect([again.get("five")?.toString(), again.get("four")?.toString()]).toEqual(["vwxyz!", "abcd"]);
    again.close();
  });
});

test("tells of repositories inside, and of what git runs in them or is led by, also after a restart", () => {
  write("lib/old/.git/config", "[core]\n");
  scanner.scan();
  write("lib/new/.git/config", "[core]\nfsmonitor = ./x\n");
  write("lib/new/.git/hooks/pre-commit", "#!/bin/sh\n");
  write("link/.git", "gitdir: ../lib/new/.git\n");
  expect(look()).toEqual(["git lib/new/.git", "git lib/new/.git/config", "git lib/new/.git/hooks/pre-commit", "git link/.git"]);
  write("lib/old/.git/index", "whatever git does");
  expect(look()).toEqual([]);
  write("lib/old/.git/commondir", "../../new/.git\n");
  expect(look()).toEqual(["git lib/old/.git/commondir"]);
  scanner = newScanner(scanner);
  expect(look()).toEqual([]);
  write("lib/old/.git/hooks/post-checkout", "#!/bin/sh\n");
  rmSync(at("link"), { recursive: true });
  expect(look().toSorted()).toEqual(["git lib/old/.git/hooks/post-checkout", "git link/.git"]);
});
