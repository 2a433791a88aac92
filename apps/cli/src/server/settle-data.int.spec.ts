import { existsSync } from "node:fs";
import { cp, mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { Cli, type CliResult, forge, stateDirectory } from "../testing/cli.ts";

let root: string;
const run = (...words: string[]): Promise<CliResult> => forge(words, { directory: root });
const has = (name: string): boolean => existsSync(path.join(root, name));
const addressNow = async () => JSON.parse(await readFile(path.join(root, ".forge/data/address.json"), "utf8")) as { pid: number; runsCode: boolean };

beforeEach(async () => {
  root = await mkdtemp(path.join(tmpdir(), "forge-untrusted-"));
  await mkdir(path.join(root, "functions"));
  await writeFile(
    path.join(root, "functions/x.mjs"),
    `import { writeFileSync } from "node:fs";\nwriteFileSync(${JSON.stringify(path.join(root, "loaded"))}, "");\nexport const x = () => 1;\n`,
  );
  const policy = "policy:\n  default: allow\n  rules:\n    - {tool: tools.shell, decision: allow}\n    - {tool: tools.http, decision: deny}\n";
  await writeFile(path.join(root, "runtime.yaml"), `${policy}sandbox: {policy: "off"}\n`);
});
afterEach(async () => {
  await Cli.endAll();
  await run("trust");
  await run("down", "--drain", "0ms");
  for (const directory of [root, stateDirectory(root)]) await rm(directory, { recursive: true, force: true });
});

it("allows nothing that only a project that nobody trusts allows, and keeps what it denies", async () => {
  const executed = await run("exec", "run touch made", "--model", "demo/chat", "--json");
  expect(executed.code, executed.stderr).toBe(9);
  expect(has("made")).toBe(false);
  const session = await run("session", "create", "--model", "demo/chat", "--json");
  const { session_id: id } = session.json()[0] as unknown as { session_id: string };
  const shown = (await run("events", id, "--json")).stdout;
  expect(shown).toContain("tools.http");
  expect(shown).not.toContain("tools.shell");
  await run("trust");
  expect((await run("exec", "run touch made", "--model", "demo/chat")).code).toBe(0);
  expect(has("made")).toBe(true);
}, 120_000);

it("runs none of its code for a command about a session, and leaves the server that is there", async () => {
  const executed = await run("exec", "hello", "--model", "demo/chat", "--json");
  expect(executed.code, executed.stderr).toBe(0);
  const before = await addressNow();
  const { session_id: id } = (await run("sessions", "--json")).json()[0] as unknown as { session_id: string };
  await run("session", "undo", id);
  await run("cancel", id);
  expect(await addressNow()).toEqual(before);
  await run("down");
  // Nobody serves it any more: the next command starts a server of the same kind.
  await run("session", "create", "--model", "demo/chat");
  expect((await addressNow()).runsCode).toBe(false);
  expect(has("loaded")).toBe(false);
  // Who asks for the project's code gets it, and keeps it for what belongs to it.
  await run("up", "--detach", "--idle", "60s");
  await run("down");
  await run("session", "create", "--model", "demo/chat");
  expect((await addressNow()).runsCode).toBe(true);
  expect(has("loaded")).toBe(true);
}, 120_000);

it("uses no data that came with a project before somebody says so, and sends nobody a signal for it", async () => {
  const sleeper = new Cli(["up", "--temporary", "--json"], { directory: root });
  await sleeper.says(/"pid"/);
  await mkdir(path.join(root, ".forge/data"), { recursive: true, mode: 0o700 });
  const address = { url: "http://127.0.0.1:9", pid: sleeper.child.pid, startedAt: "", version: "", endsWhenIdle: true, trusted: "x" };
  await writeFile(path.join(root, ".forge/data/address.json"), JSON.stringify(address));
  await writeFile(path.join(root, ".forge/data/token"), "them");
  for (const words of [["exec", "hello", "--model", "demo/chat"], ["sessions"], ["down"], ["session", "create", "--model", "demo/chat"]]) {
    const { code, stderr } = await run(...words);
    expect(stderr, words.join(" ")).toContain("DATA_DIRECTORY_FOREIGN");
    expect(code).not.toBe(0);
  }
  expect(sleeper.child.exitCode).toBe(null);
  await run("trust");
  expect((await run("sessions")).code).toBe(0);
  sleeper.child.kill("SIGTERM");
  await sleeper.end();
}, 120_000);

it("takes a copy of a project for another, until it is served there", async () => {
  expect((await run("exec", "hello", "--model", "demo/chat")).code).toBe(0);
  await run("down");
  const copy = `${root}-copy`;
  await cp(root, copy, { recursive: true });
  const environment = { XDG_STATE_HOME: stateDirectory(root) };
  const there = (...words: string[]): Promise<CliResult> => forge(words, { directory: copy, environment });
  try {
    expect((await there("sessions")).stderr).toContain("DATA_DIRECTORY_FOREIGN");
    expect((await there("up", "--detach", "--idle", "60s")).code).toBe(0);
    expect((await there("sessions", "--json")).json()).toHaveLength(1);
  } finally {
    await there("down", "--drain", "0ms");
    await rm(copy, { recursive: true, force: true });
  }
}, 120_000);
