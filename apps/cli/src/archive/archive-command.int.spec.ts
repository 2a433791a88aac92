import { writeFile } from "node:fs/promises";
import path from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { type CliResult, forge, until } from "../testing/cli.ts";
import { createTestProject, type TestProject } from "../testing/project.ts";

let project: TestProject;
beforeAll(async () => {
  project = await createTestProject();
});
afterAll(async () => {
  await project[Symbol.asyncDispose]();
});

const run = (...words: string[]): Promise<CliResult> => forge(words, { directory: project.root });

async function aRun(): Promise<string> {
  const { stdout, code } = await run("run", "greet", "-i", "name=Ada", "--json");
  expect(code).toBe(0);
  const [, id] = /"run_id":\s*"([0-9a-f-]{36})"/.exec(stdout) ?? [];
  return id as string;
}

/** What commands end with and print, one after the other. */
async function shown(commands: readonly (readonly string[])[]) {
  const all = [];
  for (const words of commands) {
    const { code, stdout, stderr } = await run(...words);
    all.push({ words, code, stdout, stderr });
  }
  return all;
}

it("archives what a person names, and shows it afterwards as before", async () => {
  const id = await aRun();
  const commands = [
    ["inspect", id, "--json"],
    ["inspect", id, "--steps"],
    ["events", id, "--json"],
    ["replay", id, "--verify-state"],
    ["visualize", id, "--ascii"],
  ];
  const before = await shown(commands);
  expect(before.map(({ code }) => code)).toEqual(commands.map(() => 0));

  expect(await run("archive")).toMatchObject({ code: 0, stdout: "", stderr: expect.stringContaining("nothing to archive") });
  expect(await run("archive", id, "--dry-run")).toMatchObject({ code: 0, stdout: `${id}\n`, stderr: expect.stringContaining("1 run would be archived") });
  expect(await run("archive", id)).toMatchObject({ code: 0, stdout: expect.stringMatching(/^[0-9a-f-]{36} {2}\d+ events, .*(?:bytes|KiB)\n$/) });
  expect(await run("archive", id)).toMatchObject({ code: 0, stdout: "" });

  expect(await shown(commands)).toEqual(before);
  expect(await run("cancel", id)).toMatchObject({ code: 4, stderr: expect.stringContaining("fork it") });
  expect((await run("runs", "--json")).stdout).toContain(`"archived":true`);
});

it("archives by the project's own rule, and says where that comes from", async () => {
  const id = await aRun();
  await run("down");
  await writeFile(path.join(project.root, "runtime.yaml"), "retention: {archive_after: 1ms}\n");
  expect((await run("config")).stdout).toMatch(/retention\.archive_after.*1ms.*runtime\.yaml/);
  await run("up", "--detach");
  await until(
    async () => /"archived":true/.test((await run("runs", "--json")).stdout.split("\n").find((line) => line.includes(id)) ?? ""),
    "the run is archived",
  );
});
