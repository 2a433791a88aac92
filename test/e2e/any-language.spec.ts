import { execFile } from "node:child_process";
import { chmod, mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, it } from "vitest";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const GUIDE = path.join(ROOT, "docs/guides/any-language.md");
const FORGE = path.join(ROOT, "apps/cli/src/main.js");
const PATIENCE_MS = 120_000;

const run = promisify(execFile);

let directory: string;
let environment: NodeJS.ProcessEnv;

beforeAll(async () => {
  directory = await mkdtemp(path.join(tmpdir(), "forge-guide-"));
  const programs = path.join(directory, "bin");
  await mkdir(programs);
  // `npx forge` is this repository's, and grpcurl its stand-in: the tests need no more than the guide's reader has here.
  await writeProgram(path.join(programs, "npx"), `shift\nexec '${process.execPath}' '${FORGE}' "$@"`);
  await writeProgram(path.join(programs, "grpcurl"), `exec '${process.execPath}' '${path.join(ROOT, "test/harness/grpcurl-entry.ts")}' "$@"`);
  environment = { ...process.env, PATH: `${programs}:${path.dirname(process.execPath)}:${process.env.PATH}`, DATABASE_URL: "", CI: "" };
});

afterAll(async () => {
  await run(process.execPath, [FORGE, "down", "--drain", "0ms"], { cwd: directory, env: environment });
  await rm(directory, { recursive: true, force: true });
});

async function writeProgram(file: string, text: string): Promise<void> {
  await writeFile(file, `#!/bin/sh\n${text}\n`);
  await chmod(file, 0o755);
}

it("does what its guide shows, command by command", async () => {
  const blocks = Array.from((await readFile(GUIDE, "utf8")).matchAll(/```sh\n(.*?)```/gs), (match) => match[1] ?? "");
  expect(blocks.length).toBeGreaterThan(6);
  const script = `set -euo pipefail\n${blocks.map((block, index) => `echo; echo "=== ${index}"\n${block}`).join("")}`;
  const { stdout } = await run("bash", ["-c", script], { cwd: directory, env: environment, timeout: PATIENCE_MS });
  const said = stdout.split(/\n=== \d+\n/).slice(1);
  const [up = "", created = "", turn = "", health = "", contracts = "", events = "", lines = "", down = ""] = said;
  expect(up).toMatch(/Address +http:\/\/127\.0\.0\.1:\d+/);

  const { session_id } = JSON.parse(created) as { session_id: string };
  expect(JSON.parse(created)).toEqual({ session_id: expect.stringMatching(/^[0-9a-f-]{36}$/), seq: "1" });
  expect(turn).toMatch(/\{"turn_id":"[0-9a-f-]{36}",/);
  expect(turn).toContain(`{"session":{"session_id":"${session_id}"`);

  expect(health).toContain("ok\n");
  expect(health).toContain('{"status":"SERVING"}');

  expect(contracts).toMatch(/^forge\.session\.v1\.SessionService$/m);
  expect(contracts).toMatch(/forge\.session\.v1\.SessionService is a service:[\s\S]*rpc StartTurn \( \.forge\.session\.v1\.StartTurnRequest \)/);

  expect(events).toMatch(/"kind": ?"session.created"[\s\S]*"kind": ?"turn.started"[\s\S]*"caughtUp"/);

  const answers = lines
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as { id?: number; subscription?: number });
  const of = (call: number): object[] => answers.filter(({ id, subscription }) => (id ?? subscription) === call);
  expect(of(1)).toEqual([{ id: 1, result: { session: expect.objectContaining({ session_id }) } }]);
  expect(of(2)).toEqual([{ id: 2, error: expect.objectContaining({ code: expect.stringMatching(/^ERROR_CODE_/) }) }]);
  expect(of(3).at(0)).toEqual({ id: 3, result: {} });
  expect(of(3).at(1)).toMatchObject({ message: { event: { kind: "session.created", seq: "1" } } });
  expect(of(3).at(-2)).toMatchObject({ message: { caught_up: {} } });
  expect(of(3).at(-1)).toEqual({ subscription: 3, end: {} });

  expect(down).toMatch(/Ended process \d+\./);
});
