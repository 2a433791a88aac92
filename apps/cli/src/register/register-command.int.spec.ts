import { readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { type CliResult, forge } from "../testing/cli.ts";
import { createTestProject, type TestProject } from "../testing/project.ts";

let project: TestProject;
beforeAll(async () => {
  project = await createTestProject();
});
afterAll(async () => {
  await project[Symbol.asyncDispose]();
});

const run = (...words: string[]): Promise<CliResult> => forge(words, { directory: project.root });

it("keeps a workflow under its version, and refuses another one under the same", async () => {
  const first = await run("register", "greet");
  expect(first).toMatchObject({
    code: 0,
    stdout: expect.stringMatching(/^greet@v1 {2}[0-9a-f]{64}\n$/),
    stderr: expect.stringContaining("in the queue project:"),
  });
  const file = path.join(project.root, "workflows/greet.yaml");
  const text = await readFile(file, "utf8");
  await writeFile(file, `# Only a comment.\n${text}`);
  const again = JSON.parse((await run("register", "greet", "--json")).stdout) as { workflow_hash: string };
  expect(`greet@v1  ${again.workflow_hash}\n`).toBe(first.stdout);
  await writeFile(file, text.replace("operation: write", "operation: read"));
  expect(await run("register", "greet")).toMatchObject({ code: 4, stdout: "", stderr: expect.stringContaining("give this one another version") });
  await writeFile(file, text.replace("version: v1", "version: v2"));
  expect(await run("register", "greet")).toMatchObject({ code: 0, stdout: expect.stringMatching(/^greet@v2 {2}/) });
  expect(await run("register", "wrong.yaml")).toMatchObject({ code: 2 });
});
