import { mkdtemp, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { Cli, type CliResult, forge, forgeOnTerminal, stateDirectory } from "../testing/cli.ts";
import type { ExecResult } from "./exec-result.ts";

let root: string;
const run = (...words: string[]): Promise<CliResult> => forge(words, { directory: root });
const resultOf = ({ json }: CliResult) => (json().at(-1) as unknown as { result: ExecResult }).result;
const call = (tool: string, args: object) => `use the ${tool} tool with ${JSON.stringify(args)}`;
const PATCH = { patch: "--- a/a.txt\n+++ b/a.txt\n@@ -1,3 +1,4 @@\n one\n+one and a half\n two\n three\n@@ -6,2 +7,2 @@\n six\n-seven\n+SEVEN\n" };

beforeAll(async () => {
  // No project: any directory is one for an agent.
  root = await mkdtemp(path.join(tmpdir(), "forge-exec-"));
});
afterAll(async () => {
  await Cli.endAll();
  await run("down", "--drain", "0ms");
  for (const directory of [root, stateDirectory(root)]) await rm(directory, { recursive: true, force: true });
});

async function fresh(): Promise<string> {
  const file = path.join(root, "a.txt");
  await writeFile(file, "one\ntwo\nthree\nfour\nfive\nsix\nseven\n");
  return file;
}

describe("forge exec", () => {
  it("answers on standard output and tells on standard error what it did", async () => {
    await fresh();
    const { code, stdout, stderr } = await run("exec", call("tools.read_file", { path: "a.txt" }));
    expect(code, stderr).toBe(0);
    expect(stdout).not.toContain("⚙");
    expect(stderr).toMatch(/⚙ tools\.read_file a\.txt[\s\S]*✔/);
  });

  it("denies what nobody allowed beforehand, never waits, and says so by its exit code", async () => {
    const file = await fresh();
    const denied = await run("exec", call("tools.patch", PATCH), "--json");
    expect(denied.code).toBe(9);
    expect(resultOf(denied)).toMatchObject({ outcome: "TASK_COMPLETED", unapproved: ["tools.patch a.txt"], changed: [], exit_code: 9 });
    const other = await run("exec", call("tools.patch", PATCH), "--approve", "execution,evidence", "--json");
    expect(resultOf(other)).toMatchObject({ unapproved: ["tools.patch a.txt"], exit_code: 9 });
    expect(await readFile(file, "utf8")).toContain("two\nthree\nfour");
  });

  it("allows what was allowed beforehand, and only that", async () => {
    const file = await fresh();
    const done = await run("exec", call("tools.patch", PATCH), "--approve", "changes", "--json");
    expect(resultOf(done)).toMatchObject({ changed: ["a.txt"], unapproved: [], exit_code: 0 });
    expect(await readFile(file, "utf8")).toBe("one\none and a half\ntwo\nthree\nfour\nfive\nsix\nSEVEN\n");
    const events = done.json().flatMap((line) => ("event" in line ? [(line.event as { kind: string }).kind] : []));
    expect(events).toEqual(expect.arrayContaining(["turn.started", "tool.previewed", "approval.resolved", "workspace.change_recorded", "turn.completed"]));

    const refused = await run("exec", call("tools.patch", PATCH), "--approve", "all", "--deny", "tools.pat*", "--json");
    expect(resultOf(refused)).toMatchObject({ changed: [], exit_code: 0 });
    const planned = await run("exec", call("tools.file", { operation: "write", path: "b.txt", content: "x" }), "--approve", "all", "--mode", "plan", "--json");
    expect(resultOf(planned)).toMatchObject({ changed: [] });
    await expect(stat(path.join(root, "b.txt"))).rejects.toMatchObject({ code: "ENOENT" });
  });

  it("ends by its bounds and signals, each with an exit code of its own", async () => {
    expect((await run("exec", "count to 5000", "--deadline", "1s")).code).toBe(8);
    expect((await run("exec", call("tools.glob", { pattern: "*" }), "--max-steps", "1", "--json")).code).toBe(7);
    const cli = new Cli(["exec", "count to 5000", "--json"], { directory: root });
    await cli.says(/model\.started/);
    cli.child.kill("SIGINT");
    const { code, stdout } = await cli.end();
    expect(code).toBe(130);
    expect(stdout).toContain('"status":"cancelled"');
  });

  it("goes on in a session, reads from standard input, and refuses what does not go together", async () => {
    const first = resultOf(await run("exec", "say hello to Ada", "--json"));
    const second = await forge(["exec", "-", "--session", first.session_id, "--json"], { directory: root, input: "say hello to Bob\n" });
    expect(resultOf(second)).toMatchObject({ session_id: first.session_id, exit_code: 0 });
    expect((await run("exec", "x", "--session", first.session_id, "--max-cost", "1")).code).toBe(2);
    expect((await run("exec", "x", "--approve", "everything")).code).toBe(2);
    expect((await run("exec", "x", "--image", "none.png")).code).toBe(2);
    expect((await run("exec", " ")).code).toBe(2);
  });
});

describe("a session that changed files", () => {
  it("is reviewed, exported, verified, undone and rewound", async () => {
    const file = await fresh();
    const { session_id: id } = resultOf(await run("exec", call("tools.patch", PATCH), "--approve", "changes", "--json"));
    const review = (await run("review", id, "--json")).json()[0] as unknown as { changes: { files: { path: string }[]; diff: string }[] };
    expect(review.changes).toMatchObject([{ files: [{ path: "a.txt" }], diff: expect.stringContaining("+SEVEN") }]);
    expect((await run("review", id)).stdout).toContain("```diff");
    expect((await run("session", "export", id, "s.tar")).code).toBe(0);
    expect((await run("session", "verify", "s.tar", "--workspace", ".")).code).toBe(0);
    const before = await readFile(path.join(root, "s.tar"));
    before[before.indexOf("SEVEN")] = 0x73;
    await writeFile(path.join(root, "t.tar"), before);
    expect(await run("session", "verify", "t.tar")).toMatchObject({ code: 1, stdout: expect.stringMatching(/events\.jsonl line \d+ was changed/) });

    const undone = await run("session", "undo", id);
    expect(undone, undone.stderr).toMatchObject({ code: 0, stdout: expect.stringContaining("1 change was taken back") });
    expect(await readFile(file, "utf8")).toBe("one\ntwo\nthree\nfour\nfive\nsix\nseven\n");
    expect((await run("session", "verify", "s.tar", "--workspace", ".")).stdout).toMatch(/a\.txt differs from what the session left/);
    expect((await run("session", "rewind", id, "--message", "1")).stdout).toMatch(/stands as it did before|Rewound/);
    expect((await run("session", "changes", id)).stdout).toContain("taken back");
  });

  it("says by its exit code that what a person has changed since was not taken back", async () => {
    const file = await fresh();
    const { session_id: id } = resultOf(await run("exec", call("tools.patch", PATCH), "--approve", "changes", "--json"));
    await writeFile(file, "mine\n");
    const refused = await run("session", "undo", id);
    expect(refused, refused.stderr).toMatchObject({ code: 4, stdout: expect.stringContaining("a.txt") });
    expect(await readFile(file, "utf8")).toBe("mine\n");
  });
});

describe("a person who is asked about a patch", () => {
  it("takes one part of it, and undoes it", async () => {
    const file = await fresh();
    const cli = forgeOnTerminal(["chat"], { directory: root });
    await cli.says(/lists commands[\s\S]*›/);
    cli.child.stdin.write(`${call("tools.patch", PATCH)}\r`);
    await cli.says(/\+SEVEN[\s\S]*Allow[\s\S]*or why not/);
    let from = cli.stdout.length;
    cli.child.stdin.write("\r");
    await cli.says(/or why not/, from);
    cli.child.stdin.write("e\r");
    await cli.says(/1\/2: /, from);
    cli.child.stdin.write("n\r");
    await cli.says(/2\/2: /, from);
    cli.child.stdin.write("y\r");
    await cli.says(/±[^\n]*a\.txt[\s\S]*tokens[\s\S]*›/, from);
    expect(await readFile(file, "utf8")).toBe("one\ntwo\nthree\nfour\nfive\nsix\nSEVEN\n");
    from = cli.stdout.length;
    cli.child.stdin.write("/undo\r");
    await cli.says(/1 change was taken back[\s\S]*›/, from);
    expect(await readFile(file, "utf8")).toBe("one\ntwo\nthree\nfour\nfive\nsix\nseven\n");
    cli.child.stdin.write("/quit\r");
    expect((await cli.end()).code).toBe(0);
  });
});
