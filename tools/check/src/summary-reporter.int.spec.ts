import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { execa } from "execa";
import { afterEach, beforeEach, expect, it } from "vitest";
import { SUMMARY_FILE_VARIABLE } from "./test-summary.ts";

const REPORTER = fileURLToPath(new URL("./summary-reporter.ts", import.meta.url));
const ROOT = fileURLToPath(new URL("../../..", import.meta.url));

let directory: string;
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), "forge-reporter-"));
});
afterEach(async () => {
  await rm(directory, { recursive: true });
});

/** Runs vitest over these files, in a project of their own, and reads what the reporter wrote. */
async function summaryOf(files: Record<string, string>): Promise<unknown> {
  for (const [name, text] of Object.entries(files)) await writeFile(join(directory, name), text);
  const file = join(directory, "summary.json");
  const args = ["run", "--globals", "--root", directory, "--reporter", REPORTER];
  await execa("vitest", args, { preferLocal: true, localDir: ROOT, reject: false, env: { [SUMMARY_FILE_VARIABLE]: file } });
  return JSON.parse(await readFile(file, "utf8"));
}

it("counts what passes, fails and is skipped, and everything that goes wrong outside of a test", async () => {
  const summary = await summaryOf({
    "a.spec.ts": `
      it("passes", () => {});
      it("fails", () => expect(1).toBe(2));
      it("is skipped", (context) => context.skip("needs a moon"));
      it.skip("is skipped silently", () => {});`,
    "b.spec.ts": "throw new Error('can not be loaded');",
    "c.spec.ts": `
      describe("suite", () => {
        beforeAll(() => { throw new Error("broken hook"); });
        it("waits for the hook", () => {});
      });`,
    "d.spec.ts": "it('leaks', () => { void Promise.reject(new Error('nobody waits for me')); });",
  });
  expect(summary).toEqual({
    passed: 2,
    failed: expect.arrayContaining([
      " > a.spec.ts > fails",
      " > b.spec.ts (outside of its tests)",
      " > c.spec.ts > suite (outside of its tests)",
      "an error that no test caught: nobody waits for me",
    ]),
    skipped: expect.arrayContaining([{ name: " > a.spec.ts > is skipped", reason: "needs a moon" }, { name: " > a.spec.ts > is skipped silently" }]),
  });
});
