import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { Cli, type CliResult, forge, forgeOnTerminal, until } from "../testing/cli.ts";
import { createTestProject, type TestProject } from "../testing/project.ts";

const ASK = 'use the tools.ask tool with {"question":"Which colour?"}';

let project: TestProject;
const run = (...words: string[]): Promise<CliResult> => forge(words, { directory: project.root });
beforeAll(async () => {
  project = await createTestProject();
});
afterAll(async () => project[Symbol.asyncDispose]());

/** A chat on a terminal, and the id of its session. */
async function chat(...words: string[]): Promise<{ cli: Cli; id: string }> {
  const cli = forgeOnTerminal(["chat", ...words], { directory: project.root });
  await cli.says(/lists commands/);
  await cli.says(/lists commands[\s\S]*›/);
  return { cli, id: /Session\S* ([0-9a-f-]{36})/.exec(cli.stdout)?.[1] as string };
}

/** Ctrl-D. */
const leave = (cli: Cli) => cli.child.stdin.write("\u0004");

describe("forge session", () => {
  it("answers the model's question, steers, forks, compacts and replaces the policy", async () => {
    const asking = new Cli(["chat", "--tool", "tools.ask", "--json"], { directory: project.root });
    asking.child.stdin.end(`${ASK}\n`);
    await asking.says(/turn_input_requested/);
    const id = (JSON.parse(asking.stdout.split("\n")[0] ?? "") as { session: { session_id: string } }).session.session_id;
    expect((await run("inspect", id)).stdout).toMatch(/tools\.ask waits for an answer Which colour\?/);
    expect((await run("session", "steer", id, "count to 3")).stdout).toBe("Told.\n");
    expect((await run("session", "pause", id)).stdout).toMatch(/^Paused/);
    expect((await run("session", "pause", id, "--json")).code).toBe(4);
    expect((await run("session", "compact", id, "They spoke.")).code).toBe(4);
    expect((await run("session", "answer", id, "red")).stdout).toBe("Answered.\n");
    expect((await run("session", "answer", id, "blue")).code).toBe(4);
    expect((await run("session", "continue", id)).stdout).toBe("The turn goes on.\n");
    expect((await asking.end()).code).toBe(0);
    expect(asking.stdout).toContain('"text_preview":"1 2 3"');

    const fork = (await run("session", "fork", id, "--title", "Another way")).stdout.trim();
    expect((await run("inspect", fork, "--json")).json()[0]).toMatchObject({ title: "Another way", agent: { tools: ["tools.ask"] } });
    expect((await run("session", "compact", fork, "They spoke of colours.", "--json")).json()[0]).toMatchObject({ seq: expect.any(String) });
    expect((await run("session", "policy", fork, "--default", "deny", "--rule", "tools.read*=allow")).code).toBe(0);
    expect((await run("inspect", fork, "--json")).json()[0]).toMatchObject({
      policy: { default_decision: "DENY", rules: [{ tool: "tools.read*", decision: "ALLOW" }] },
    });
    expect((await run("session", "policy", fork, "--rule", "tools.read=perhaps")).code).toBe(2);
    const other = (await run("session", "fork", fork, "--model", "demo/echo")).stdout.trim();
    expect((await run("inspect", other, "--json")).json()[0]).toMatchObject({ agent: { model: "demo/echo", tools: ["tools.ask"] } });
    expect((await run("session", "fork", fork, "--model", "nobody/has-it")).code).toBe(2);
  });
});

describe("a person in a chat", () => {
  it("steers the turn that runs by typing", async () => {
    const { cli } = await chat();
    cli.child.stdin.write("count to 60\r");
    await cli.says(/1 2 3/);
    const from = cli.stdout.length;
    cli.child.stdin.write("say hello to 7\r");
    await cli.says(/I have seen \d messages of yours[\s\S]*›/, from);
    leave(cli);
    expect((await cli.end()).code).toBe(0);
  });

  it("answers what the model asks, and holds the turn meanwhile", async () => {
    const { cli } = await chat("--tool", "tools.ask");
    cli.child.stdin.write(`${ASK}\r`);
    await cli.says(/Which colour\?\r\n/);
    let from = cli.stdout.length;
    cli.child.stdin.write("/pause\r");
    await cli.says(/■ paused/, from);
    cli.child.stdin.write("red\r");
    await cli.says(/✔/, from);
    from = cli.stdout.length;
    cli.child.stdin.write("/continue\r");
    await cli.says(/"red"[\s\S]*›/, from);
    leave(cli);
    expect((await cli.end()).code).toBe(0);
  });

  it("compacts and forks the session, and is told of what is no command", async () => {
    const { cli, id } = await chat();
    cli.child.stdin.write("hello there, you\r");
    await cli.says(/demo model[\s\S]*›/);
    let from = cli.stdout.length;
    cli.child.stdin.write("/compact the greeting\r");
    await cli.says(/being summarised[\s\S]*was compacted[\s\S]*›/, from);
    from = cli.stdout.length;
    cli.child.stdin.write("/fork\r");
    await cli.says(/The fork: npx forge chat ([0-9a-f-]{36})[\s\S]*›/, from);
    const fork = /npx forge chat ([0-9a-f-]{36})/.exec(cli.stdout.slice(from))?.[1];
    expect(fork).not.toBe(id);
    from = cli.stdout.length;
    cli.child.stdin.write("/nothing\r");
    await cli.says(/There is no \/nothing[\s\S]*›/, from);
    leave(cli);
    expect((await cli.end()).code).toBe(0);
    await until(async () => (await run("sessions", "--json")).stdout.includes(fork ?? "none"), "the fork in the list");
  });

  it("performs commands from a pipe in their turn, and reads no further where one can't be", async () => {
    const piped = async (words: readonly string[], input: string): Promise<CliResult> => {
      const cli = new Cli(["chat", ...words], { directory: project.root });
      cli.child.stdin.end(input);
      return await cli.end();
    };
    const lines = await piped([], "count to 3\n/cost\n//cost is said\n/model demo/echo\nin the fork\n/quit\nnever said\n");
    expect(lines.code).toBe(0);
    expect(lines.stdout).toMatch(/1 2 3[\s\S]*Session, 1 turns:[\s\S]*\/cost is said[\s\S]*goes on in a fork, with demo\/echo[\s\S]*in the fork/);
    expect(lines.stdout).not.toContain("never said");

    const json = await piped(["--json"], "/cost\n/rewind 7\n/nothing\nnever said\n");
    expect(json.code).toBe(2);
    expect(json.json()).toContainEqual({ command: "cost", told: [expect.stringContaining("Last turn"), expect.stringContaining("Session, 0 turns")] });
    expect(json.json()).toContainEqual({ command: "rewind", told: ["There is no message 7: /rewind lists them."] });
    expect(`${json.stdout}${json.stderr}`).toContain("There is no /nothing");
    expect(json.stdout).not.toContain("never said");
  });

  it("leaves a turn that runs by Ctrl-D", async () => {
    const { cli, id } = await chat();
    cli.child.stdin.write("count to 3000\r");
    await cli.says(/1 2 3/);
    leave(cli);
    expect((await cli.end()).code).toBe(0);
    expect((await run("cancel", id)).stdout).toBe("Cancelled.\n");
  });
});
