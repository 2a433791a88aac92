import { mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, expect, it } from "vitest";
import { runVitest } from "./run-vitest.ts";

const REPORTER = fileURLToPath(new URL("./summary-reporter.ts", import.meta.url));
const MODULES = fileURLToPath(new URL("../../../node_modules", import.meta.url));

let root: string;
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), "forge-vitest-"));
  await symlink(MODULES, join(root, "node_modules"));
});
afterEach(async () => {
  await rm(root, { recursive: true });
});

it("returns what the run came to", async () => {
  await writeFile(join(root, "a.spec.ts"), "it('passes', () => {});");
  expect(await runVitest(root, ["--globals", "--reporter", REPORTER], { runMsMax: 60_000, exitMsMax: 60_000 })).toEqual({
    runner: "vitest",
    exitCode: 0,
    summary: { passed: 1, failed: [], skipped: [] },
  });
});

it("ends a run that takes too long", async () => {
  await writeFile(join(root, "a.spec.ts"), "it('hangs', () => new Promise(() => {}), 60_000);");
  const { summary, problem } = await runVitest(root, ["--globals", "--reporter", REPORTER], { runMsMax: 1_000, exitMsMax: 60_000 });
  expect({ summary, problem }).toEqual({ summary: undefined, problem: "did not come to an end in time" });
});

it("ends a run that is over and does not exit, and keeps its summary", async () => {
  await writeFile(join(root, "a.spec.ts"), "it('passes', () => {});");
  await writeFile(join(root, "setup.ts"), "export const setup = () => () => new Promise((resolve) => setTimeout(resolve, 600_000));");
  await writeFile(join(root, "vitest.config.mjs"), "export default { test: { globalSetup: './setup.ts', teardownTimeout: 600_000 } };");
  expect(await runVitest(root, ["--globals", "--reporter", REPORTER], { runMsMax: 60_000, exitMsMax: 200 })).toMatchObject({
    summary: { passed: 1, failed: [] },
    problem: "did not exit after its last test: a test left something open",
  });
});
