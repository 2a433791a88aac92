import { execFileSync, spawnSync } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, statSync, utimesSync } from "node:fs";
import { afterEach, expect, it, vi } from "vitest";
import { Tree } from "../testing/tree.ts";
import { gitFacts } from "./git-facts.ts";

function git(tree: Tree, ...args: string[]): void {
  const identity = ["-c", "user.name=a", "-c", "user.email=a@b.c", "-c", "init.defaultBranch=main"];
  execFileSync("git", [...identity, ...args], { cwd: tree.path, stdio: "ignore", env: { ...process.env, GIT_CONFIG_NOSYSTEM: "1" } });
}

function repository(files: Record<string, string> = { "a.txt": "a", "b.txt": "b" }): Tree {
  const tree = new Tree(files);
  git(tree, "init");
  git(tree, "add", ".");
  git(tree, "commit", "-m", "first");
  return tree;
}

afterEach(() => {
  vi.unstubAllEnvs();
});

it("tells the branch, the commit, and how many files differ", async () => {
  using tree = repository();
  expect(await gitFacts(tree.path)).toEqual({ branch: "main", commit: expect.stringMatching(/^[0-9a-f]{12}$/), dirtyFiles: 0, isDirtyCut: false });
  tree.write({ "a.txt": "changed", "new.txt": "n", "dir/one": "1", "dir/two": "2" });
  expect(await gitFacts(tree.path)).toMatchObject({ dirtyFiles: 3 });
  git(tree, "checkout", "--detach");
  expect(await gitFacts(tree.path)).toMatchObject({ branch: undefined, dirtyFiles: 3 });
});

it("knows a repository without a commit, and a workspace below its root", async () => {
  using tree = new Tree({ "sub/a.txt": "a" });
  git(tree, "init");
  expect(await gitFacts(tree.at("sub"))).toEqual({ branch: "main", commit: undefined, dirtyFiles: 1, isDirtyCut: false });
});

it("is undefined without a repository, without git, and for what only looks like one", async () => {
  using tree = new Tree({ "a.txt": "a", "fake/.git": "gitdir: /no/such/thing" });
  expect(await gitFacts(tree.path)).toBeUndefined();
  expect(await gitFacts(tree.at("fake"))).toBeUndefined();
  expect(await gitFacts(tree.at("gone"))).toBeUndefined();
  using other = repository();
  vi.stubEnv("PATH", tree.path);
  expect(await gitFacts(other.path)).toBeUndefined();
});

it("runs nothing that the repository's configuration names, and writes nothing", async () => {
  using tree = repository({ "a.txt": "a", "b.txt": "b", ".gitattributes": "*.txt filter=evil diff=evil\n" });
  using program = new Tree({ "evil.sh": '#!/bin/sh\ntouch "$(dirname "$0")/ran"\ncat\n' });
  chmodSync(program.at("evil.sh"), 0o755);
  const evil = program.at("evil.sh");
  for (const [name, value] of [
    ["core.fsmonitor", evil],
    ["filter.evil.clean", evil],
    ["filter.evil.smudge", evil],
    ["filter.evil.process", evil],
    ["filter.evil.required", "true"],
    ["filter.other.with.dots.clean", evil],
    ["core.pager", evil],
    ["core.sshCommand", evil],
    ["diff.evil.textconv", evil],
    ["diff.external", evil],
    ["core.hooksPath", program.path],
    ["alias.status", `!${evil}`],
  ] as const)
    git(tree, "config", name, value);
  tree.write({ ".git/info/attributes": "* filter=evil\n" });
  for (const hook of ["post-index-change", "fsmonitor-watchman"]) program.write({ [hook]: '#!/bin/sh\ntouch "$(dirname "$0")/ran"\n' });
  for (const hook of ["post-index-change", "fsmonitor-watchman"]) chmodSync(program.at(hook), 0o755);
  utimesSync(tree.at("a.txt"), 1, 1);
  const before = statSync(tree.at(".git/index")).mtimeMs;
  expect(await gitFacts(tree.path)).toMatchObject({ branch: "main", dirtyFiles: expect.any(Number) });
  expect(existsSync(program.at("ran"))).toBe(false);
  expect(statSync(tree.at(".git/index")).mtimeMs).toBe(before);
  expect(existsSync(tree.at(".git/index.lock"))).toBe(false);
  // The same repository runs it as soon as nothing is switched off: the test would notice.
  spawnSync("git", ["-c", "core.fsmonitor=", "status"], { cwd: tree.path, stdio: "ignore" });
  expect(existsSync(program.at("ran"))).toBe(true);
});

it("takes neither variables that point git elsewhere nor a git of the workspace", async () => {
  using tree = repository();
  using other = repository();
  git(other, "checkout", "-b", "other");
  vi.stubEnv("GIT_DIR", other.at(".git"));
  vi.stubEnv("GIT_CONFIG_PARAMETERS", "'core.fsmonitor'='/bin/false'");
  expect(await gitFacts(tree.path)).toMatchObject({ branch: "main" });
  mkdirSync(tree.at("bin"));
  tree.write({ git: '#!/bin/sh\ntouch "$(dirname "$0")/ran"\n' });
  chmodSync(tree.at("git"), 0o755);
  vi.stubEnv("PATH", `.:${process.env.PATH}`);
  await gitFacts(tree.path);
  expect(existsSync(tree.at("ran"))).toBe(false);
});

it("ends a git that takes too long, and at once when it is no longer wanted", async () => {
  using tree = repository();
  using slow = new Tree({ git: "#!/bin/sh\nexec sleep 60\n" });
  chmodSync(slow.at("git"), 0o755);
  vi.stubEnv("PATH", `${slow.path}:${process.env.PATH}`);
  const started = performance.now();
  expect(await gitFacts(tree.path, { timeoutMs: 200 })).toBeUndefined();
  expect(await gitFacts(tree.path, { signal: AbortSignal.timeout(100) })).toBeUndefined();
  expect(performance.now() - started).toBeLessThan(5_000);
});
