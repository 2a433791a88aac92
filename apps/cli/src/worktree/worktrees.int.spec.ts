import { execFileSync } from "node:child_process";
import { appendFile, mkdir, mkdtemp, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { trustOf } from "../agent/workspace-trust.ts";
import { gitRoot } from "./git.ts";
import { listWorktrees, mergeWorktree, openWorktree, removeWorktree } from "./worktrees.ts";

const environment = {
  ...process.env,
  GIT_AUTHOR_NAME: "A",
  GIT_AUTHOR_EMAIL: "a@x",
  GIT_COMMITTER_NAME: "A",
  GIT_COMMITTER_EMAIL: "a@x",
  GIT_CONFIG_GLOBAL: "/dev/null",
};
let directory: string;
let root: string;
const run = (...words: string[]) => execFileSync("git", words, { cwd: root, env: environment, encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] });
const remove = (name: string, force = false) => removeWorktree(root, { name, force, end: async () => undefined }, environment);

beforeEach(async () => {
  directory = await mkdtemp(path.join(tmpdir(), "forge-worktrees-"));
  root = path.join(directory, "repo");
  await mkdir(root);
  run("init", "--quiet", "--initial-branch=main");
  await writeFile(path.join(root, "a.txt"), "one\ntwo\nthree\n");
});
afterEach(() => rm(directory, { recursive: true, force: true }));

const commit = () => {
  run("add", ".");
  run("commit", "--quiet", "-m", "first");
};

describe("worktrees of agents", () => {
  it("are made beside the repository, found again, merged by a commit and removed", async () => {
    commit();
    const made = await openWorktree(root, undefined, environment);
    expect(made).toMatchObject({ name: "agent-1", branch: "forge/agent-1", top: path.join(directory, "repo.worktrees", "agent-1") });
    expect(await openWorktree(root, "agent-1", environment)).toEqual(made);
    expect((await openWorktree(root, undefined, environment)).name).toBe("agent-2");
    await appendFile(path.join(made.top, "a.txt"), "four\n");
    await writeFile(path.join(made.top, "new.txt"), "new\n");
    expect((await listWorktrees(root, environment)).map(({ name, dirty, ahead }) => [name, [...dirty].sort(), ahead])).toEqual([
      ["agent-1", ["a.txt", "new.txt"], 0],
      ["agent-2", [], 0],
    ]);
    await expect(mergeWorktree(root, { name: "agent-1" }, environment)).rejects.toMatchObject({ reason: "WORKTREE_DIRTY" });
    await expect(remove("agent-1")).rejects.toMatchObject({ reason: "WORKTREE_DIRTY" });
    expect(await mergeWorktree(root, { name: "agent-1", commit: "more" }, environment)).toMatchObject({ commits: 1 });
    expect(await readFile(path.join(root, "new.txt"), "utf8")).toBe("new\n");
    expect(run("log", "--merges", "--oneline").trim().split("\n")).toHaveLength(1);
    await remove("agent-1");
    await remove("agent-2");
    expect(await listWorktrees(root, environment)).toEqual([]);
    expect(run("branch", "--list", "forge/*")).toBe("");
    await expect(stat(path.join(directory, "repo.worktrees"))).rejects.toMatchObject({ code: "ENOENT" });
  });

  it("are not merged into a tree with changes, and a merge that conflicts leaves everything as it was", async () => {
    commit();
    const { top } = await openWorktree(root, "x", environment);
    await writeFile(path.join(top, "a.txt"), "ONE\ntwo\nthree\n");
    await writeFile(path.join(root, "a.txt"), "1\ntwo\nthree\n");
    await expect(mergeWorktree(root, { name: "x", commit: "c" }, environment)).rejects.toMatchObject({ reason: "WORKTREE_DIRTY" });
    run("commit", "--quiet", "-am", "mine");
    await expect(mergeWorktree(root, { name: "x", commit: "c" }, environment)).rejects.toMatchObject({ reason: "WORKTREE_CONFLICT" });
    expect(run("status", "--porcelain", "-uno")).toBe("");
    await expect(remove("x")).rejects.toMatchObject({ reason: "WORKTREE_UNMERGED" });
    await remove("x", true);
  });

  it("run nothing that the repository's configuration names", async () => {
    commit();
    const mark = path.join(directory, "ran");
    await writeFile(path.join(directory, "hook"), `#!/bin/sh\ntouch ${mark}\n`, { mode: 0o755 });
    await mkdir(path.join(root, "hooks"));
    for (const name of ["post-checkout", "post-commit", "post-merge", "pre-commit"])
      await writeFile(path.join(root, "hooks", name), `#!/bin/sh\ntouch ${mark}\n`, { mode: 0o755 });
    run("config", "core.fsmonitor", path.join(directory, "hook"));
    run("config", "core.hooksPath", path.join(root, "hooks"));
    const { top } = await openWorktree(root, "x", environment);
    await writeFile(path.join(top, "new.txt"), "new\n");
    await mergeWorktree(root, { name: "x", commit: "c" }, environment);
    await expect(stat(mark)).rejects.toMatchObject({ code: "ENOENT" });
  });

  it("need a repository with a commit, and a plain name", async () => {
    await expect(openWorktree(root, "x", environment)).rejects.toMatchObject({ reason: "NO_COMMIT" });
    commit();
    for (const name of ["../x", "-x", "", "a/b", "a..b"]) await expect(openWorktree(root, name, environment)).rejects.toThrow("name");
    await expect(mergeWorktree(root, { name: "none" }, environment)).rejects.toMatchObject({ reason: "WORKTREE_NOT_FOUND" });
    await expect(openWorktree(directory, "x", environment)).rejects.toMatchObject({ reason: "NO_REPOSITORY" });
    expect(await gitRoot(path.join(root, "."))).toBe(root);
  });

  it("runs no command of the repository's own configuration before somebody trusts it", async () => {
    commit();
    const state = path.join(directory, "state");
    const its = { ...environment, XDG_STATE_HOME: state };
    await writeFile(path.join(root, ".gitattributes"), "*.txt filter=x\n");
    run("add", ".");
    run("commit", "--quiet", "-m", "second");
    const ran = path.join(directory, "ran");
    run("config", "filter.x.smudge", `sh -c 'touch ${ran}; cat'`);
    await expect(openWorktree(root, "x", its)).rejects.toMatchObject({ reason: "REPOSITORY_UNTRUSTED", message: expect.stringContaining("filter.x.smudge") });
    await expect(listWorktrees(root, its)).rejects.toMatchObject({ reason: "REPOSITORY_UNTRUSTED" });
    await expect(stat(ran)).rejects.toMatchObject({ code: "ENOENT" });
    const trust = await trustOf(its);
    await trust.trust(root, (await trust.readTrust(root)).digest);
    await openWorktree(root, "x", its);
    await stat(ran);
  });
});
