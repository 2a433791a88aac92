import { chmod, mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { Cli, type CliResult, forge, forgeOnTerminal, until } from "../testing/cli.ts";
import { createTestProject, type TestProject } from "../testing/project.ts";

let project: TestProject;
let outside: string;
const run = (...words: string[]): Promise<CliResult> => forge(words, { directory: project.root });
beforeAll(async () => {
  project = await createTestProject();
  outside = await mkdtemp(path.join(tmpdir(), "forge-cli-out-"));
});
afterAll(async () => {
  await project[Symbol.asyncDispose]();
  await rm(outside, { recursive: true, force: true });
});

describe("forge workspace", () => {
  it("keeps the project, shows and lists it, tells what has drifted, and restores it", async () => {
    await writeFile(path.join(project.root, "run me"), "#!/bin/sh\n");
    await chmod(path.join(project.root, "run me"), 0o755);
    await symlink("workflows/greet.yaml", path.join(project.root, "link"));
    const kept = await run("workspace", "snapshot", "--label", "before");
    expect(kept).toMatchObject({ code: 0, stdout: expect.stringMatching(/^[0-9a-f]{64}\n$/), stderr: expect.stringMatching(/^\d+ entries, .* KiB\n$/) });
    const id = kept.stdout.trim();
    // Nothing of Forge's own is in it, so that the same state is the same revision.
    expect((await run("workspace", "snapshot", "--json", "--label", "again")).json()).toMatchObject([{ revision_id: id, label: "before" }]);

    const shown = await run("workspace", "show", id.slice(0, 8));
    expect(shown.stdout).toMatch(new RegExp(`^revision ${id}\nlabel    before\n`));
    expect(shown.stdout).toMatch(/10 bytes {2}x {2}run me\n/);
    expect(shown.stdout).toMatch(/ l {2}link -> workflows\/greet\.yaml\n/);
    expect(shown.stdout).not.toMatch(/\.forge/);
    expect((await run("workspace", "show", id, "--json")).json()).toContainEqual({ entry: { path: "link", type: "SYMLINK", target: "workflows/greet.yaml" } });
    expect((await run("workspace", "list", "--label", "before", "--json")).json()).toMatchObject([{ revision_id: id }]);
    expect((await run("workspace", "list")).stdout).toMatch(new RegExp(`^REVISION +LABEL .*\n${id} +before`));
    expect(await run("workspace", "list", "--label", "none")).toMatchObject({ code: 0, stdout: "", stderr: "no revisions\n" });

    expect(await run("workspace", "drift", id)).toMatchObject({ code: 0, stdout: "" });
    await writeFile(path.join(project.root, "wrong.yaml"), "other");
    await mkdir(path.join(project.root, "new"));
    await rm(path.join(project.root, "link"));
    expect(await run("workspace", "drift", id)).toMatchObject({ code: 1, stdout: "- link\n+ new\n~ wrong.yaml (content)\n", stderr: "" });
    const drift = await run("workspace", "drift", id.slice(0, 12), ".", "--json", "--exclude", "new", "--exclude", "link");
    expect({ code: drift.code, json: drift.json() }).toEqual({ code: 1, json: [{ path: "wrong.yaml", change: "changed", differs: ["content"] }] });

    const target = path.join(outside, "restored");
    expect(await run("workspace", "restore", id, target)).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/^Restored \d+ entries, .* in \S*restored\n$/),
    });
    expect(await run("workspace", "drift", id, target)).toMatchObject({ code: 0 });
    expect(await readFile(path.join(target, "link"), "utf8")).toMatch(/workflow: \{id: greet/);
    expect(await run("workspace", "restore", id, target, "--json")).toMatchObject({ code: 4, stderr: expect.stringMatching(/"DIRECTORY_NOT_EMPTY"/) });
    expect(await run("workspace", "restore", id, ".")).toMatchObject({ code: 2 });
    expect(await run("workspace", "show", "0".repeat(64))).toMatchObject({ code: 3 });
    expect(await run("workspace", "show", "abcdef0")).toMatchObject({ code: 3 });
    expect(await run("workspace", "show", "latest")).toMatchObject({ code: 2 });
  });

  it("leaves a directory alone when it is killed while it restores, and cleans up when it is asked to stop", async () => {
    const from = path.join(outside, "many");
    await mkdir(from);
    const content = Buffer.alloc(500_000, 1);
    for (let index = 0; index < 50; index++) await writeFile(path.join(from, `f${index}`), Buffer.concat([content, Buffer.from(`${index}`)]));
    const id = (await run("workspace", "snapshot", from)).stdout.trim();
    const target = path.join(outside, "target");
    await mkdir(target);
    const leftovers = async (): Promise<string[]> => (await readdir(outside)).filter((name) => name.startsWith(".forge-restore-"));

    const killed = new Cli(["workspace", "restore", id, target], { directory: project.root });
    await until(async () => (await leftovers()).length === 1, "the restore begins");
    killed.child.kill("SIGKILL");
    await killed.end();
    expect(await readdir(target)).toEqual([]);
    expect(await leftovers()).toHaveLength(1);
    for (const name of await leftovers()) await rm(path.join(outside, name), { recursive: true });

    const stopped = forgeOnTerminal(["workspace", "restore", id, target], { directory: project.root });
    await stopped.says(/Getting \d+ of 50 files/);
    stopped.child.stdin.write("\u0003");
    expect((await stopped.end()).code).toBe(130);
    expect(await leftovers()).toEqual([]);
    expect(await readdir(target)).toEqual([]);

    expect((await run("workspace", "restore", id, target)).code).toBe(0);
    expect(await readdir(target)).toHaveLength(50);
  });
});
