import { existsSync } from "node:fs";
import { readFile, rm, writeFile } from "node:fs/promises";
import path from "node:path";
import { stripVTControlCharacters } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { Cli, type CliResult, forge, forgeOnTerminal, isAlive, until } from "./testing/cli.ts";
import { createTestProject, type TestProject } from "./testing/project.ts";

describe("commands and a server", () => {
  let project: TestProject;
  const run = (...words: string[]): Promise<CliResult> => forge(words, { directory: project.root });
  const address = async (): Promise<{ pid: number; url: string }> =>
    JSON.parse(await readFile(path.join(project.root, ".forge/data/address.json"), "utf8")) as { pid: number; url: string };

  beforeAll(async () => {
    project = await createTestProject();
  });
  afterAll(async () => project[Symbol.asyncDispose]());

  it("starts one server in the background for two commands at once", async () => {
    const [first, second] = await Promise.all([run("run", "greet", "-i", "name=A", "--json"), run("run", "greet", "-i", "name=B", "--json")]);
    expect([first.code, second.code], first.stderr + second.stderr).toEqual([0, 0]);
    const { pid } = await address();
    expect(isAlive(pid)).toBe(true);
    const listed = (await run("runs", "--json")).json();
    expect(listed).toHaveLength(2);
    expect((await address()).pid).toBe(pid);
  });

  it("refuses a second server on one directory, naming process and directory", async () => {
    const { pid } = await address();
    const { code, stderr } = await run("up");
    expect(code).toBe(4);
    expect(stderr).toContain(`process ${pid}`);
    expect(stderr).toContain(path.join(project.root, ".forge/data"));
    const detached = await run("up", "--detach", "--json");
    expect([detached.code, (JSON.parse(detached.stderr) as { error: object }).error]).toEqual([
      4,
      expect.objectContaining({ reason: "DATA_DIRECTORY_IN_USE" }),
    ]);
  });

  it("lets another terminal answer what a run waits for", async () => {
    const started = (await run("run", "ask", "--detach", "--json")).json()[0] as unknown as { started: { run_id: string } };
    const id = started.started.run_id;
    await until(async () => (await run("approvals", "--json")).stdout !== "", "an approval that waits");
    const answered = await run("approve", id);
    expect(answered.stdout).toBe('Approved: tools.shell {"command":"touch made.txt"}\n');
    expect((await run("approve", id)).code).toBe(3);
    await until(async () => (await run("inspect", id, "--json")).stdout.includes('"status":"COMPLETED"'), "the run's end");
  });

  it("stops what runs and waits until it has stopped", async () => {
    const started = (await run("run", "slow", "-i", "ms=json:600000", "--detach", "--json")).json()[0] as unknown as { started: { run_id: string } };
    const id = started.started.run_id;
    expect((await run("cancel", id)).stdout).toBe("Cancelled.\n");
    expect((await run("inspect", id, "--json")).json()[0]).toMatchObject({ status: "CANCELLED" });
    expect((await run("cancel", id)).code).toBe(4);
  });

  it("cancels a run at the first SIGINT where nobody can be asked", async () => {
    const cli = new Cli(["run", "slow", "-i", "ms=json:600000"], { directory: project.root });
    await cli.says(/first {3}function/);
    cli.child.kill("SIGINT");
    const { code, stdout } = await cli.end();
    expect(code).toBe(130);
    expect(stdout).toMatch(/CANCELLED/);
  });

  it("follows a run to its end though the server is killed on the way", async () => {
    const cli = new Cli(["run", "slow", "-i", "ms=json:1000"], { directory: project.root });
    await cli.says(/first {3}function/);
    const { pid } = await address();
    process.kill(pid, "SIGKILL");
    const { code, stdout, stderr } = await cli.end();
    expect(code, stderr).toBe(0);
    expect(stdout).toMatch(/✔ second/);
    expect((await address()).pid).not.toBe(pid);
  });

  it("ends the server, after which nothing is left, and is content where there is none", async () => {
    const { pid } = await address();
    const { code, stdout } = await run("down");
    expect([code, stdout]).toEqual([0, `Ended process ${pid}.\n`]);
    expect(isAlive(pid)).toBe(false);
    expect(existsSync(path.join(project.root, ".forge/data/address.json"))).toBe(false);
    expect((await run("down")).code).toBe(0);
  });

  it("serves until nobody has used it for so long", async () => {
    const [up] = (await run("up", "--detach", "--idle", "400ms", "--json")).json() as unknown as { pid: number; url: string; data_directory: string }[];
    expect(up?.url).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);
    expect(up?.data_directory).toBe(path.join(project.root, ".forge/data"));
    await until(() => !isAlive(up?.pid as number), "the idle server's end");
    expect(existsSync(path.join(project.root, ".forge/data/address.json"))).toBe(false);
  });

  it("ends a server whose token or address was lost, and leaves the token to the server", async () => {
    await run("up", "--detach");
    const { pid } = await address();
    const data = path.join(project.root, ".forge/data");
    await rm(path.join(data, "token"));
    const refused = await run("runs");
    expect([refused.code, refused.stderr]).toEqual([1, expect.stringContaining("npx forge down")]);
    expect(existsSync(path.join(data, "token"))).toBe(false);
    expect((await run("down")).stdout).toBe(`Ended process ${pid}.\n`);
    await run("up", "--detach");
    const next = (await address()).pid;
    await writeFile(path.join(data, "address.json"), "lost");
    expect((await run("down")).stdout).toBe(`Ended process ${next}.\n`);
  });

  it("warns of an address that others can reach", async () => {
    const { stderr } = await run("up", "--detach", "--host", "0.0.0.0", "--idle", "400ms");
    expect(stderr).toMatch(/warning: 0\.0\.0\.0 can be reached by other machines/);
    await run("down");
  });

  describe("a person at a terminal", () => {
    const CTRL_C = "\u0003";

    it("cancels a turn by Ctrl-C, answers a call, and leaves by Ctrl-D", async () => {
      const cli = forgeOnTerminal(["chat"], { directory: project.root });
      await cli.says(/Ctrl-D leaves/);
      cli.child.stdin.write("count to 5000\r");
      await cli.says(/1 2 3/);
      let from = cli.stdout.length;
      cli.child.stdin.write(CTRL_C);
      await cli.says(/■ cancelled/, from);
      cli.child.stdin.write("run touch made.txt\r");
      await cli.says(/Allow[^\n]*touch made[\s\S]*or why not/, from);
      from = cli.stdout.length;
      cli.child.stdin.write("y\r");
      await cli.says(/exit code 0/, from);
      await cli.says(/›/, from);
      cli.child.stdin.write("\u0004");
      expect((await cli.end()).code).toBe(0);
    });

    it("loses no line that was typed before it asks, and takes a paste as one", async () => {
      await run("down");
      const cli = forgeOnTerminal(["chat", "--model", "demo/echo"], { directory: project.root });
      await cli.says(/Starting Forge/);
      cli.child.stdin.write("first\rsecond\r\u001B[200~third\rand on\u001B[201~\r\u0004");
      const { code, stdout } = await cli.end();
      expect(code).toBe(0);
      const [before = "", conversation = ""] = stdout.split("Session");
      expect(before).not.toContain("first");
      expect(stripVTControlCharacters(conversation).replaceAll("\r", "")).toMatch(/first\n[^›]*first\n[^]*second\n[^›]*second\n[^]*third\nand on\n/);
    });

    it("sees again what was said in a session, and what is going on in it", async () => {
      const cli = forgeOnTerminal(["chat"], { directory: project.root });
      await cli.says(/Ctrl-D leaves/);
      const id = /Session\S* ([0-9a-f-]{36})/.exec(cli.stdout)?.[1] as string;
      cli.child.stdin.write("count to 60\r");
      await cli.says(/1 2 3/);
      // The terminal goes away, which hangs up: the turn goes on.
      cli.child.kill("SIGKILL");
      await cli.end();
      const { code, stdout } = await forge(["chat", id], { directory: project.root, input: "" });
      expect(code).toBe(0);
      expect(stdout).toMatch(/› count to 60\n1 2 3 .* 59 60\n[^\n]* tokens, \$0\.00\n$/);
    });

    it("asks at Ctrl-C what to do with a run, whose active step moves", async () => {
      const cli = forgeOnTerminal(["run", "slow", "-i", "ms=json:600000"], { directory: project.root });
      await cli.says(/⠋|⠙|⠹|⠸|⠼|⠴|⠦|⠧|⠇|⠏/);
      await cli.says(/first/);
      const from = cli.stdout.length;
      cli.child.stdin.write(CTRL_C);
      await cli.says(/The run is not over[\s\S]*Detach[\s\S]*Cancel it[\s\S]*Wait for it/, from);
      cli.child.stdin.write("\u001B[B\r");
      const { code, stdout } = await cli.end();
      expect(code).toBe(130);
      expect(stdout.endsWith("\u001B[?25l")).toBe(false);
    });
  });
});
