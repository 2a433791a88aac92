import { afterAll, beforeAll, expect, it } from "vitest";
import { Cli, forge, forgeOnTerminal, until } from "../testing/cli.ts";
import { createTestProject, type TestProject } from "../testing/project.ts";

let project: TestProject;
beforeAll(async () => {
  project = await createTestProject();
  await forge(["chat", "--json"], { directory: project.root, input: "hello\n" });
});
afterAll(async () => project[Symbol.asyncDispose]());

const linesOf = (cli: Cli): Record<string, string>[] =>
  cli.stdout
    .split("\n")
    .slice(0, -1)
    .map((line) => JSON.parse(line) as Record<string, string>);

it("prints the list and then a line of JSON for each change, over a server that ends and another that begins", async () => {
  const cli = new Cli(["sessions", "--watch", "--json"], { directory: project.root });
  await until(() => linesOf(cli).length === 1, "the list");
  const [known] = linesOf(cli);
  const chat = await forge(["chat", "--json"], { directory: project.root, input: "hello\n" });
  const made = (chat.json()[0] as unknown as { session: { session_id: string } }).session.session_id;
  await until(() => linesOf(cli).some((line) => line.session_id === made && line.turn_status === "COMPLETED"), "the change");
  await forge(["down"], { directory: project.root });
  await forge(["chat", made, "--json"], { directory: project.root, input: "again\n" });
  await until(() => linesOf(cli).filter((line) => line.session_id === made && line.turn_status === "COMPLETED").length >= 2, "the change on the next server");
  // The one that never changed was said once.
  expect(linesOf(cli).filter((line) => line.session_id === known?.session_id)).toHaveLength(1);
  cli.child.kill("SIGINT");
  expect(await cli.end()).toMatchObject({ code: 0, stderr: "" });
});

it("shows a table on a terminal that changes in place, and leaves it there", async () => {
  const cli = forgeOnTerminal(["runs", "--watch", "--limit", "5"], { directory: project.root });
  await cli.says(/RUN .*WORKFLOW/);
  const run = await forge(["run", "greet", "-i", "name=A", "--json"], { directory: project.root });
  expect(run.code, run.stderr).toBe(0);
  await cli.says(/greet@v1 +COMPLETED/);
  const from = cli.stdout.length;
  cli.child.stdin.write("\u0003");
  const { stdout } = await cli.end();
  expect(stdout.slice(from)).toMatch(/greet@v1 +COMPLETED/);
});
