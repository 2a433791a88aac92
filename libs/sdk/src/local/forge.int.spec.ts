import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { commandHeader } from "@forge/client";
import { TurnStatus } from "@forge/protocol/session";
import { RunStatus } from "@forge/protocol/workflow";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { defineProvider } from "../define-provider.ts";
import { serve } from "../serve.ts";
import { shoutingModel } from "../testing/shouting-model.ts";
import { Forge, type LocalForge } from "./forge.ts";

const WAIT_MS_MAX = 60_000;

async function until(condition: () => boolean | Promise<boolean>, what: string): Promise<void> {
  const untilMs = Date.now() + WAIT_MS_MAX;
  while (!(await condition())) {
    if (Date.now() > untilMs) throw new Error(`never: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 25));
  }
}

/** Processes, also those of other users, whose command line names a directory. */
async function processesOf(directory: string): Promise<string[]> {
  const ids = (await readdir("/proc")).filter((name) => /^\d+$/.test(name));
  // One that ends meanwhile has no command line any more.
  const lines = await Promise.all(ids.map(async (id) => (await readFile(`/proc/${id}/cmdline`, "utf8").catch(() => "")).replaceAll("\0", " ")));
  return lines.filter((line) => line.includes(directory));
}

describe("Forge.local", () => {
  let directory: string;
  beforeAll(async () => {
    directory = await mkdtemp(path.join(tmpdir(), "forge-local-"));
  });
  afterAll(() => rm(directory, { recursive: true, force: true }));

  /** Starts a program that embeds; the data directory that it prints. */
  async function embed(text: string): Promise<{ readonly child: ReturnType<typeof spawn>; readonly dataDirectory: string; readonly pid: number }> {
    const index = fileURLToPath(new URL("../index.ts", import.meta.url));
    const file = path.join(directory, "program.ts");
    // It looks for itself: its server may have gone with it before anybody else does.
    const told = "JSON.stringify({ dataDirectory, address: readFileSync(`${dataDirectory}/address.json`, 'utf8') })";
    const lines = [
      'import { readFileSync } from "node:fs";',
      `import { Forge } from ${JSON.stringify(index)};`,
      "const { dataDirectory } = await Forge.local();",
    ];
    await writeFile(file, [...lines, `console.log(${told});`, text].join("\n"));
    const child = spawn(process.execPath, [file], { cwd: directory, stdio: ["ignore", "pipe", "inherit"] });
    const [line] = (await once(createInterface({ input: child.stdout }), "line")) as [string];
    const { dataDirectory, address } = JSON.parse(line) as { dataDirectory: string; address: string };
    const { pid } = JSON.parse(address) as { pid: number };
    return { child, dataDirectory, pid };
  }

  /** Resolves when a server and its database have gone. */
  async function end({ pid, dataDirectory }: { readonly pid: number; readonly dataDirectory: string }): Promise<void> {
    await until(() => !existsSync(`/proc/${pid}`), "the server's end");
    await until(async () => (await processesOf(dataDirectory)).length === 0, "the database's end");
  }

  it("gives a program a server of its own, which serves what the program defines, and takes everything away again", async () => {
    let forge: LocalForge | undefined;
    let dataDirectory: string;
    {
      await using local = await Forge.local({ project: directory });
      forge = local;
      ({ dataDirectory } = local);
      const shout = defineProvider({ name: "shout", languageModel: shoutingModel });
      const worker = await serve({ url: local.url, token: local.workerToken, name: "embedded", definitions: [shout] });
      const { session } = local.client;
      const { sessionId } = await session.createSession({ header: commandHeader(), agent: { model: "shout/loud" } });
      await session.startTurn({ header: commandHeader(), sessionId, input: [{ kind: { case: "text", value: { text: "hello" } } }] });
      await until(async () => (await session.getSessionSnapshot({ sessionId })).session?.turn?.status === TurnStatus.COMPLETED, "the turn's end");
      await worker.stop();
    }
    await expect(forge.client.workflow.listRuns({})).rejects.toMatchObject({ reason: expect.any(String) });
    expect(await processesOf(dataDirectory)).toEqual([]);
    expect(existsSync(dataDirectory)).toBe(false);
  });

  it("runs a workflow of its project to the end, tells of its life, and is stopped by nobody who watches", async () => {
    const project = path.join(directory, "project");
    await mkdir(path.join(project, "workflows"), { recursive: true });
    await writeFile(path.join(project, "runtime.yaml"), "");
    await writeFile(
      path.join(project, "workflows/echo.yaml"),
      "workflow: {id: echo, version: v1}\nsteps:\n  - {id: say, type: tool, tool: tools.echo, inputs: {message: inputs.text}}\n",
    );
    await using local = await Forge.local({ project });
    const told: [string, unknown][] = [];
    const printed = vi.spyOn(console, "error").mockImplementation(() => undefined);
    const onEvent = (event: string, payload: Readonly<Record<string, unknown>>): void => {
      told.push([event, payload.step_id ?? payload.workflow_id ?? payload.status]);
      if (event === "STEP_START") throw new Error("whoever watches");
    };
    const run = await local.run("echo", { inputs: { text: "hello" }, commandId: "once", onEvent });
    expect(run).toMatchObject({ status: RunStatus.COMPLETED, steps: [{ stepId: "say" }] });
    expect(told).toEqual([
      ["RUN_START", "echo"],
      ["STEP_START", "say"],
      ["TOOL_START", "say"],
      ["TOOL_SUCCESS", "say"],
      ["STEP_COMPLETE", "say"],
      ["RUN_COMPLETE", "COMPLETED"],
    ]);
    expect(printed).toHaveBeenCalledOnce();
    printed.mockRestore();
    expect((await local.run("echo", { inputs: { text: "hello" }, commandId: "once" })).runId).toBe(run.runId);
    await expect(local.run("missing")).rejects.toMatchObject({ reason: "WORKFLOW_NOT_FOUND" });
    const left = AbortSignal.abort();
    await expect(local.run("echo", { inputs: { text: "x" }, signal: left })).rejects.toMatchObject({ message: expect.stringContaining("it goes on") });
  });

  it("keeps a data directory that it was given, which nobody else may use meanwhile", async () => {
    const dataDirectory = path.join(directory, "data");
    const first = await Forge.local({ project: directory, dataDirectory });
    const { sessionId } = await first.client.session.createSession({ header: commandHeader(), agent: { model: "demo/echo" } });
    await expect(Forge.local({ project: directory, dataDirectory })).rejects.toMatchObject({ reason: "DATA_DIRECTORY_IN_USE" });
    await first.close();
    await using again = await Forge.local({ project: directory, dataDirectory });
    await expect(again.client.session.getSessionSnapshot({ sessionId })).resolves.toMatchObject({ session: { sessionId } });
  });

  it("ends with a program that is killed, and takes the temporary data along", async () => {
    const { child, ...server } = await embed("setInterval(() => undefined, 1_000);");
    child.kill("SIGKILL");
    await end(server);
    expect(existsSync(server.dataDirectory)).toBe(false);
  });

  it("keeps no program from ending that has nothing to do any more", async () => {
    const { child, ...server } = await embed("");
    if (child.exitCode === null) await once(child, "exit");
    expect(child.exitCode).toBe(0);
    await end(server);
    expect(existsSync(server.dataDirectory)).toBe(false);
  });

  it("is what the program of the guide needs", async () => {
    const child = spawn(process.execPath, [fileURLToPath(new URL("../../../../examples/worker/embed.ts", import.meta.url))], {
      stdio: ["ignore", "pipe", "ignore"],
    });
    const lines: string[] = [];
    createInterface({ input: child.stdout }).on("line", (line) => lines.push(line));
    await once(child, "close");
    expect(lines).toEqual(['quote {"item":"lamp","count":2,"cents":4800}', 'take {"left":10}', "run.completed"]);
  });

  it("says why it could not be started", async () => {
    await expect(Forge.local({ command: [process.execPath, "-e", "console.error('no luck'); process.exit(3)"] })).rejects.toMatchObject({
      reason: "SERVER_START",
      message: expect.stringMatching(/exit code 3[\s\S]*no luck/),
    });
    await expect(Forge.local({ command: ["no-such-program"] })).rejects.toMatchObject({ reason: "SERVER_START", message: expect.stringContaining("ENOENT") });
  });
});
