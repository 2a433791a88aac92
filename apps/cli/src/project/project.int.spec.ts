import { existsSync } from "node:fs";
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type CliResult, forge } from "../testing/cli.ts";

let directory: string;
let root: string;
const run = (...words: string[]): Promise<CliResult> => forge(words, { directory: root, environment: { CI: "true" } });

beforeAll(async () => {
  directory = await mkdtemp(path.join(tmpdir(), "forge-init-"));
  root = path.join(directory, "my-project");
});
afterAll(async () => rm(directory, { recursive: true, force: true }));

describe("a new project", () => {
  let runId = "";

  it("is made whole, and only where nothing is", async () => {
    const made = await forge(["init", "my-project"], { directory });
    expect({ code: made.code, stderr: made.stderr }).toEqual({ code: 0, stderr: "" });
    expect(made.stdout).toContain("cd my-project && npx forge run hello -i name=Ada");
    expect((await readdir(root)).toSorted()).toEqual(["agents", "functions", "prompts", "runtime.yaml", "tools", "workflows"]);
    const again = await forge(["init", "my-project"], { directory });
    expect(again.code).toBe(4);
    expect(again.stderr).toContain("is not empty");
    expect((await readdir(directory)).toSorted()).toEqual(["my-project"]);
    await mkdir(path.join(directory, "empty/.git"), { recursive: true });
    expect((await forge(["init", "empty", "--json"], { directory })).json()[0]).toMatchObject({ project: path.join(directory, "empty") });
    await writeFile(path.join(directory, "file"), "");
    const onFile = await forge(["init", "file"], { directory });
    expect(onFile.code).toBe(2);
    expect(onFile.stderr).toContain("is a file");
  });

  it("lists what it has, and finds it right", async () => {
    expect((await run("list", "--json")).json()).toEqual([
      { kind: "workflow", id: "hello", version: "v1", file: "workflows/hello.yaml" },
      { kind: "agent", id: "writer", version: "v1", file: "agents/writer.yaml" },
    ]);
    const checked = await run("check");
    expect(checked).toMatchObject({ code: 0, stdout: "✔ workflows/hello.yaml  hello@v1\n", stderr: "" });
  });

  it("says of each file what is wrong, with its place, and runs nothing", async () => {
    await writeFile(
      path.join(root, "workflows/bad.yaml"),
      "workflow: {id: bad, version: v1}\nsteps:\n  - {id: a, type: function, function: greeting.greet}\n  - {id: b, type: agent, agent: nobody}\n",
    );
    await writeFile(
      path.join(root, "workflows/worse.yaml"),
      "workflow: {id: worse, version: v1}\nsteps:\n  - {id: a, type: function, function: greeting.greet}\n",
    );
    try {
      const { code, stdout } = await run("check");
      expect(code).toBe(2);
      expect(stdout).toMatch(/✖ workflows\/bad\.yaml {2}bad@v1\n {2}error: .*workflows\/bad\.yaml:4:\d+.*nobody/);
      expect(stdout).toContain("✔ workflows/hello.yaml");
      expect(stdout).toMatch(/✖ workflows\/worse\.yaml {2}worse@v1\n {2}error: workflows\/worse\.yaml:3:\d+: .*did you mean `greetings`\?/);
      const one = await run("check", "worse", "--json");
      expect(one.code).toBe(2);
      expect(one.json()).toMatchObject([{ file: "workflows/worse.yaml", workflow: "worse@v1", errors: [{ reason: "FUNCTION_NOT_SERVED", line: "3" }] }]);
      expect((await run("check", "nothing-like-it")).code).toBe(2);
    } finally {
      for (const name of ["bad", "worse"]) await rm(path.join(root, `workflows/${name}.yaml`));
    }
    expect(existsSync(path.join(root, ".forge"))).toBe(false);
  });

  it("runs", async () => {
    const { code, stdout, stderr } = await run("run", "hello", "-i", "name=Ada");
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    expect(await readFile(path.join(root, "out/greeting.txt"), "utf8")).toBe("Hello, Ada!");
    runId = /run ([0-9a-f-]{36})/.exec(stdout)?.[1] ?? "";
  });

  it("shows afterwards how its state came to be", async () => {
    const versions = (await run("inspect", runId, "--state-history", "--json")).json() as unknown as {
      version: number;
      step_id?: string;
      changes: { path: string }[];
    }[];
    expect(versions.map(({ version, step_id, changes }) => [version, step_id, changes.map((change) => change.path)])).toEqual([
      [0, undefined, ["inputs", "steps", "runtime"]],
      [1, "greet", ["steps.greet"]],
      [2, "polish", ["steps.polish"]],
      [3, "save", ["steps.save"]],
    ]);
    const diff = (await run("state-diff", runId, "--from", "1", "--to", "2", "--json")).json();
    expect(diff).toEqual([{ run_id: runId, from: 1, to: 2, changes: [{ marker: "+", path: "steps.polish", after: { text: "Hello, Ada!" } }] }]);
    expect((await run("state-diff", runId, "--from", "2", "--to", "1")).stdout).toMatch(/^version 2 → 1 of 3\n- steps\.polish/);
    const tooFar = await run("state-diff", runId, "--to", "4");
    expect(tooFar).toMatchObject({ code: 2 });
    expect(tooFar.stderr).toContain("versions 0 to 3");
    expect((await run("inspect", runId, "--steps")).stdout).toMatch(/✔ greet[\s\S]*input name\n {4}Ada\n {2}output\n {4}\{\n {6}"text": "Hello, Ada!"/);
  });

  it("shows its run as a picture", async () => {
    expect((await run("visualize", runId, "--ascii")).stdout).toMatch(
      /^hello@v1 {2}COMPLETED.*\n\n✔ greet .*\n┊ {2}if state\.steps\.greet\.length > 60 {2}to save\n┃ {2}otherwise\n✔ polish .*\n┃\n✔ save .*\n┃\n● end\n$/,
    );
    expect((await run("visualize", runId, "--timeline")).stdout).toMatch(/\ngreet +▕ *█+ *▏ +\d/);
    expect((await run("visualize", runId)).stdout).toBe(`Wrote .runs/${runId}/visualization.html\n`);
    expect(await readFile(path.join(root, ".runs", runId, "visualization.html"), "utf8")).toContain("<h1>hello@v1");
    expect((await run("visualize", runId, "--output", "deep/er/page.html", "--json")).json()).toEqual([
      { run_id: runId, file: path.join(root, "deep/er/page.html") },
    ]);
  });
});
