import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, expect, it } from "vitest";
import { type CliResult, forge } from "../testing/cli.ts";
import { createTestProject, type TestProject } from "../testing/project.ts";

/** It takes the demo model longer than the commands that follow. */
const COUNT = "count to 1000";

let project: TestProject;
const run = (...words: string[]): Promise<CliResult> => forge(words, { directory: project.root });
beforeAll(async () => {
  project = await createTestProject();
});
afterAll(async () => project[Symbol.asyncDispose]());

const errorOf = ({ stderr }: CliResult) => (JSON.parse(stderr) as { error: Record<string, unknown> }).error;

it("does what a script says again with the same command id once, and tells what became of it", async () => {
  const create = ["session", "create", "--model", "demo/echo", "--title", "Scripted", "--command-id", "my-session", "--json"];
  const [made, again] = [await run(...create), await run(...create)];
  const { session_id: id } = made.json()[0] as unknown as { session_id: string };
  expect(again.json()).toEqual(made.json());
  expect((await run("command", "my-session", "--created", "session", "--json")).json()[0]).toMatchObject({ stream: { kind: "SESSION", id } });
  expect((await run("command", "another", "--created", "session")).code).toBe(3);

  const start = ["session", "start", id, "Hello.", "--command-id", "my-turn"];
  const turnId = (await run(...start)).stdout.trim();
  expect((await run(...start)).stdout.trim()).toBe(turnId);
  expect((await run("command", "my-turn", "--of", id)).stdout).toContain(id);
  const reused = await run("session", "start", id, "Goodbye.", "--command-id", "my-turn", "--json");
  expect(reused.code).toBe(4);
  expect(errorOf(reused)).toMatchObject({ code: "CONFLICT", reason: "COMMAND_ID_REUSED" });
});

it("changes nothing where something has happened in between, or another turn is meant", async () => {
  const id = (await run("session", "create", "--model", "demo/echo")).stdout.trim();
  const late = await run("session", "close", id, "--expected-seq", "7", "--json");
  expect(errorOf(late)).toMatchObject({ reason: "SEQ_MISMATCH", metadata: { current_seq: "1" } });
  expect((await run("session", "pause", id, "--turn", randomUUID())).code).toBe(4);
  expect((await run("session", "close", id, "--expected-seq", "1")).stdout).toBe("Closed. The events stay.\n");
  expect((await run("inspect", id, "--json")).json()[0]).toMatchObject({ status: "CLOSED" });
});

it("asks a turn to stop without waiting, and ends one that nobody can stop any more", async () => {
  const id = (await run("session", "create", "--model", "demo/chat")).stdout.trim();
  const first = (await run("session", "start", id, COUNT)).stdout.trim();
  expect((await run("session", "abandon", id, "Its machine is gone.", "--turn", first)).stdout).toMatch(/^Abandoned/);
  expect((await run("inspect", id, "--json")).json()[0]).toMatchObject({ turn: { turn_id: first, status: "ABANDONED" } });
  const second = (await run("session", "start", id, COUNT)).stdout.trim();
  const asked = await run("cancel", id, "--turn", second, "--detach", "--json");
  expect(asked.json()).toEqual([{ seq: expect.stringMatching(/^\d+$/) }]);
});
