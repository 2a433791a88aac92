import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { Cli, type CliResult, forge } from "./testing/cli.ts";
import { createTestProject, type TestProject } from "./testing/project.ts";

describe("commands with no server", () => {
  let project: TestProject;
  const run = (...words: string[]): Promise<CliResult> => forge(words, { directory: project.root, environment: { CI: "true" } });

  beforeAll(async () => {
    project = await createTestProject();
  });
  afterAll(async () => project[Symbol.asyncDispose]());

  it("runs a workflow in its own process, in plain lines, and leaves nothing running", async () => {
    const { code, stdout, stderr } = await run("run", ".", "-i", "name=World");
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    expect(stdout).not.toContain("\u001B");
    expect(stdout).toMatch(/^greet@v1 {2}run [0-9a-f-]{36}\n {2}make {2}function\n✔ make {2}function/);
    expect(stdout).toMatch(/Wrote out\/greeting\.txt\n/);
    expect(stdout).toMatch(/\nmake +function +COMPLETED +1 /);
    expect(stdout).toMatch(/npx forge inspect [0-9a-f-]{36}\n/);
    expect(await readFile(path.join(project.root, "out/greeting.txt"), "utf8")).toBe("Hello, World");
    expect(await readFile(path.join(project.root, ".forge/data/.gitignore"), "utf8")).toBe("*\n");
    expect(existsSync(path.join(project.root, ".forge/data/address.json"))).toBe(false);
  });

  it("tells machines all that happened, an object a line, the run last", async () => {
    const { code, json } = await run("run", "greet", "-i", "name=World", "--json", "--command-id", "once", "--label", "team=a");
    expect(code).toBe(0);
    const lines = json() as { started?: { run_id: string }; event?: { kind: string }; run?: { run_id: string; status: string; labels: object } }[];
    expect(lines[0]?.started?.run_id).toMatch(/^[0-9a-f-]{36}$/);
    expect(lines.slice(1, -1).map(({ event }) => event?.kind)).toEqual(expect.arrayContaining(["run.created", "step.completed", "run.completed"]));
    expect(lines.at(-1)?.run).toMatchObject({ run_id: lines[0]?.started?.run_id, status: "COMPLETED", labels: { team: "a" } });
    const again = await run("run", "greet", "-i", "name=World", "--json", "--command-id", "once", "--label", "team=a");
    expect(again.json()[0]).toEqual(lines[0]);
    const listed = await run("runs", "--label", "team=a", "--json");
    expect(listed.json()).toHaveLength(1);
  });

  it("shows what was kept", async () => {
    const [newest] = (await run("runs", "--json", "--limit", "1")).json() as unknown as { run_id: string }[];
    const id = newest?.run_id as string;
    const inspected = await run("inspect", id);
    expect(inspected.stdout).toMatch(/^greet@v1 {2}COMPLETED\n/);
    expect(inspected.stdout).toMatch(/ {2}output {2}\{"text":"Hello, World"\}\n/);
    expect((await run("inspect", id, "--json")).json()[0]).toMatchObject({
      run_id: id,
      status: "COMPLETED",
      steps: [{ step_id: "make", step_type: "FUNCTION" }, { step_id: "save" }],
    });
    const events = (await run("events", id, "--json")).json() as unknown as { seq: string }[];
    expect(events.map(({ seq }) => Number(seq))).toEqual(events.map((_, index) => index + 1));
    expect((await run("events", id, "--after", "2", "--json")).json()).toEqual(events.slice(2));
  });

  it("makes nothing go on by reading, and goes on with what was left at the next start", async () => {
    const started = new Cli(["run", "slow", "-i", "ms=json:300", "--json"], { directory: project.root, environment: { CI: "1" } });
    await started.says(/"step_started"/);
    started.child.kill("SIGTERM");
    expect((await started.end()).code).toBe(0);
    const id = (JSON.parse(started.stdout.split("\n")[0] as string) as { started: { run_id: string } }).started.run_id;
    const before = await run("inspect", id, "--json");
    expect(before.json()[0]).toMatchObject({ status: "RUNNING" });
    expect((await run("inspect", id, "--json")).stdout).toBe(before.stdout);
    const other = new Cli(["events", id, "--follow", "--json"], { directory: project.root, environment: { CI: "1" } });
    await other.says(/"step_started"/);
    // Who only follows gives the database free for whoever serves the project.
    expect((await run("run", "slow", "-i", "ms=json:1500")).code).toBe(0);
    await other.says(/"run_completed"/);
    other.child.kill("SIGINT");
    expect((await other.end()).code).toBe(0);
  });

  it.each([
    [["run", "fails"], 1, /✖ only .*out of luck[\s\S]*error: .*out of luck/],
    [["run", "wrong.yaml"], 2, /error: wrong\.yaml:3:\d+: .*b/],
    [["run", "greet"], 2, /error: .*"name" is required/],
    [["run", "greet", "-i", "name"], 2, /name=value/],
    [["run", "nothing"], 3, /error: .*`nothing`/],
    [["inspect", "00000000-0000-4000-8000-000000000000"], 3, /error: there is no run or session/],
    [["inspect", "short"], 2, /error: short is no id/],
    [["up", "--port", "99999"], 2, /0 to 65535/],
    [["run", "unserved"], 2, /error: workflows\/unserved\.yaml:2:46: .*steps\.gret.*did you mean `greet`\?/],
    [["run", "ask", "--model", "demo/none"], 3, /Known are: demo\/chat/],
    [["run", "ask", "--model", "openai/any"], 2, /set OPENAI_API_KEY/],
    [["runn"], 2, /Did you mean one of run, runs/],
    [["runs", "-p", "nowhere"], 3, /there is no directory/],
  ] as const)("ends %j with exit code %i and says what to do", async (words, code, said) => {
    const result = await run(...words);
    expect(result.code, result.stderr).toBe(code);
    expect(result.stdout + result.stderr).toMatch(said);
  });

  it("tells machines errors as JSON on standard error, wrong words included", async () => {
    const failed = await run("inspect", "short", "--json");
    expect([failed.code, failed.stdout]).toEqual([2, ""]);
    expect(JSON.parse(failed.stderr)).toMatchObject({ error: { code: "VALIDATION", metadata: { field: "id" } } });
    expect(JSON.parse((await run("runs", "--json", "--limit", "x")).stderr)).toMatchObject({ error: { code: "VALIDATION", reason: "COMMAND_LINE" } });
  });

  it("has every line of standard input as a turn, in order, and waits for the last", async () => {
    const { code, stdout } = await forge(["chat", "--model", "demo/echo"], { directory: project.root, environment: { CI: "1" }, input: "one\n\ntwo\n" });
    expect(code).toBe(0);
    expect(stdout).toMatch(/^Session [0-9a-f-]{36}\nAttach again: npx forge chat [0-9a-f-]{36}\n/);
    expect(stdout.replace(/^(?:.*\n){2}/, "")).toMatch(/^› one\n[^›]*one[^›]*\n› two\n[^›]*two[^›]*\n$/);
  });
});
