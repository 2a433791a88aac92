import { writeFile } from "node:fs/promises";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { commandHeader, createJsonLinesClient, type ForgeClient, followEvents } from "@forge/client";
import { ErrorCode, StreamKind } from "@forge/protocol/common";
import { OnError } from "@forge/protocol/workflow";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { Cli, forge } from "./testing/cli.ts";
import { createTestProject, type TestProject } from "./testing/project.ts";

const MAIN = fileURLToPath(new URL("main.js", import.meta.url));
const PATIENCE_MS = 60_000;

describe("forge rpc", () => {
  let project: TestProject;
  const environment = { CI: "true" };
  const clientOf = (...words: string[]): ForgeClient =>
    createJsonLinesClient({
      command: process.execPath,
      args: [MAIN, "rpc", ...words],
      cwd: project.root,
      env: { ...process.env, DATABASE_URL: "", ...environment },
    });

  beforeAll(async () => {
    project = await createTestProject();
    // Whatever a project's own code says must not get between the answers.
    const noisy = 'console.log("module");\nexport function shout() {\n  console.log("{}");\n  process.stdout.write("loud");\n  return { done: true };\n}\n';
    await writeFile(path.join(project.root, "functions/noisy.ts"), noisy);
  });
  afterAll(async () => project[Symbol.asyncDispose]());

  it("serves a program that has nothing but its standard input and output, from a project without a server", async () => {
    const client = clientOf();
    try {
      const definition = {
        id: "noisy",
        version: "v1",
        onError: OnError.FAIL_FAST,
        steps: [{ id: "only", kind: { case: "function" as const, value: { name: "noisy.shout" } } }],
      };
      const { runId } = await client.workflow.startRun({ header: commandHeader(), definition });
      const kinds: string[] = [];
      for await (const each of followEvents(client, { streams: [{ stream: { kind: StreamKind.RUN, id: runId } }], signal: AbortSignal.timeout(PATIENCE_MS) })) {
        if (each.kind === "event") kinds.push(each.event.kind);
        if (kinds.at(-1)?.startsWith("run.completed")) break;
      }
      expect(kinds).toEqual(expect.arrayContaining(["run.created", "step.completed", "run.completed"]));
      await expect(client.workflow.getRun({ runId: "00000000-0000-4000-8000-000000000000" })).rejects.toMatchObject({ code: ErrorCode.NOT_FOUND });
    } finally {
      await client.close();
    }
  });

  it("tells why it can't serve, on standard error and to its client", async () => {
    const { code, stdout, stderr } = await forge(["rpc", "-p", "nowhere"], { directory: project.root, environment });
    expect([code, stdout, JSON.parse(stderr)]).toEqual([3, "", { error: expect.objectContaining({ code: "NOT_FOUND", reason: "PROJECT_NOT_FOUND" }) }]);
    const client = clientOf("-p", "nowhere");
    await expect(client.session.listSessions({})).rejects.toMatchObject({ code: ErrorCode.NOT_FOUND, reason: "PROJECT_NOT_FOUND" });
    await client.close();
  });

  it("ends at a signal, with what is open cancelled, and at the end of its input", async () => {
    const cli = new Cli(["rpc"], { directory: project.root, environment });
    const stream = { streams: [{ stream: { kind: "STREAM_KIND_SESSION", id: "" } }] };
    cli.child.stdin.write(
      `${JSON.stringify({ id: 1, method: "SessionService.CreateSession", params: { header: { version: { major: 1 }, command_id: "a" }, agent: { model: "demo/echo" } } })}\n`,
    );
    await cli.says(/\n$/);
    const { result } = JSON.parse(cli.stdout) as { result: { session_id: string } };
    stream.streams[0] = { stream: { kind: "STREAM_KIND_SESSION", id: result.session_id } };
    cli.child.stdin.write(`${JSON.stringify({ id: 2, method: "EventService.SubscribeEvents", params: stream })}\n`);
    await cli.says(/"caught_up".*\n$/);
    cli.child.kill("SIGTERM");
    const { code, stdout, json } = await cli.end();
    expect([code, stdout.split("\n").length], stdout).toEqual([0, 6]);
    expect(json().at(-1)).toEqual({ subscription: 2, end: { error: expect.objectContaining({ code: "ERROR_CODE_CANCELLED" }) } });

    const input = `${JSON.stringify({ id: 3, method: "EventService.SubscribeEvents", params: stream })}\n`;
    const ended = await forge(["rpc"], { directory: project.root, environment, input });
    expect([ended.code, ended.json().at(-1)]).toEqual([0, { subscription: 3, end: {} }]);
  });
});
