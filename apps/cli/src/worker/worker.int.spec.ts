import { existsSync } from "node:fs";
import { cp, readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { commandHeader } from "@forge/client";
import { ErrorCode } from "@forge/protocol/common";
import { TurnStatus } from "@forge/protocol/session";
import { RunStatus, StepStatus } from "@forge/protocol/workflow";
import { afterAll, afterEach, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { Cli, forge, forgeOnTerminal, isAlive, until } from "../testing/cli.ts";
import { createWorkerProject, type WorkerProject } from "../testing/worker-project.ts";

/** Tools that act on files, so that a test sees where they are and lets them go on. */
const tools = (version: string, more = ""): string => `
import { existsSync, writeFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { defineFunction, defineTool } from "@forge/sdk";
import { z } from "zod";

const file = z.object({ file: z.string() });

export const greet = defineTool({
  name: "t.greet", description: "Greets.", input: z.object({ name: z.string() }), run: ({ name }) => "${version} " + name,
});
export const gate = defineTool({
  name: "t.gate", description: "Waits for a file.", input: file,
  run: async ({ file }, { signal }) => {
    writeFileSync(file + ".entered", String(process.pid));
    while (!existsSync(file)) await sleep(10, undefined, { signal });
    return "${version}";
  },
});
export const deaf = defineTool({
  name: "t.deaf", description: "Does not stop.", input: file, timeoutMs: 60_000,
  run: ({ file }) => {
    writeFileSync(file + ".entered", String(process.pid));
    return new Promise(() => undefined);
  },
});
export const spin = defineTool({
  name: "t.spin", description: "Blocks everything.", input: file, timeoutMs: 500,
  run: ({ file }) => {
    writeFileSync(file + ".entered", String(process.pid));
    for (;;) {}
  },
});
export const crash = defineTool({
  name: "t.crash", description: "Ends its process.", input: z.object({}), run: () => process.kill(process.pid, "SIGKILL"),
});
export const add = defineFunction({ name: "t.add", input: z.object({ a: z.number(), b: z.number() }), run: ({ a, b }) => ({ sum: a + b }) });
export const once = defineFunction({
  name: "t.once", input: file,
  run: async ({ file }, { signal }) => {
    if (existsSync(file + ".entered")) return { attempt: "second" };
    writeFileSync(file + ".entered", "");
    process.kill(process.pid, "SIGKILL");
    await sleep(60_000, undefined, { signal });
    return {};
  },
});
${more}
`;

const provider = `
import { defineProvider } from "@forge/sdk";

export default defineProvider({
  name: "shout",
  languageModel: (modelId) => ({
    specificationVersion: "v4", provider: "shout", modelId, supportedUrls: {},
    doGenerate: () => Promise.reject(new Error("only streams")),
    doStream: async ({ prompt }) => ({
      stream: ReadableStream.from([
        { type: "stream-start", warnings: [] },
        { type: "text-start", id: "1" },
        { type: "text-delta", id: "1", delta: prompt.at(-1).content[0].text.toUpperCase() },
        { type: "text-end", id: "1" },
        { type: "finish", finishReason: { unified: "stop", raw: "stop" }, usage: { inputTokens: { total: 1 }, outputTokens: { total: 1 } } },
      ]),
    }),
  }),
});
`;

describe("forge worker", () => {
  let project: WorkerProject;
  let worker: Cli;
  const at = (name: string): string => path.join(project.root, name);
  const tool = (name: string, input: object): Promise<string> => project.start(`type: tool, tool: ${name}, inputs: ${JSON.stringify(input)}`);
  const call = async (name: string, input: object) => project.end(await tool(name, input));
  const outputOf = async (name: string, input: object): Promise<unknown> => (await call(name, input)).step.output?.kind.value;
  /** Of the process that a call is in; 0 as long as it has not written it. */
  const pidOf = async (file: string): Promise<number> => Number(await readFile(at(`${file}.entered`), "utf8").catch(() => ""));
  /** Starts a call that waits, and resolves once it is in its code. */
  const enter = async (name: string, file: string): Promise<string> => {
    const id = await tool(name, { file: at(file) });
    await until(async () => (await pidOf(file)) > 0, `${name} in its code`);
    return id;
  };
  const serve = async (...words: string[]): Promise<Cli> => {
    const started = new Cli(["worker", ...words, "--json"], { directory: project.root });
    await started.says(/"serving"/);
    return started;
  };
  const said = (cli: Cli, key: string): Record<string, never>[] =>
    cli.stdout
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line) as Record<string, Record<string, never>>)
      .flatMap((line) => (line[key] === undefined ? [] : [line[key]]));
  /** Resolves when something was said after an action. */
  const afterwards = async (action: () => Promise<unknown>, pattern: RegExp): Promise<void> => {
    const from = worker.stdout.length;
    await action();
    await worker.says(pattern, from);
  };

  beforeAll(async () => {
    project = await createWorkerProject();
    await project.write("tools.ts", tools("v1"));
    worker = await serve("tools.ts");
  });
  afterAll(async () => project[Symbol.asyncDispose]());

  it("serves what a file defines, with nothing installed beside it, and tells of each call", async () => {
    expect(said(worker, "serving")).toMatchObject([
      {
        name: "tools",
        file: "tools.ts",
        queues: [project.queue, "default"],
        url: project.url,
        tools: expect.arrayContaining(["t.greet"]),
        functions: ["t.add", "t.once"],
      },
    ]);
    const greeted = await call("t.greet", { name: "Ann" });
    expect(greeted.step.output?.kind.value).toBe('"v1 Ann"');
    const added = await project.end(await project.start("type: function, function: t.add, inputs: {a: 1, b: 2}"));
    expect(added.step.output?.kind.value).toBe('{"sum":3}');
    await until(() => said(worker, "call").length === 2, "two calls");
    expect(said(worker, "call")).toMatchObject([
      { name: "t.greet", outcome: "completed", run_id: greeted.run.runId, step_id: "only" },
      { name: "t.add", outcome: "completed" },
    ]);
  });

  it("refuses arguments that don't match, naming the field", async () => {
    const { step } = await call("t.greet", { name: 3 });
    expect(step.error).toMatchObject({ code: ErrorCode.VALIDATION, metadata: expect.objectContaining({ field: "arguments.name" }) });
  });

  it("serves a change at once, and loses no call that runs", async () => {
    const running = await enter("t.gate", "first");
    await afterwards(() => project.write("tools.ts", tools("v2")), /"reloaded":true/);
    expect(await outputOf("t.greet", { name: "Ann" })).toBe('"v2 Ann"');
    const before = await pidOf("first");
    expect(isAlive(before)).toBe(true);
    await writeFile(at("first"), "");
    expect((await project.end(running)).step.output?.kind.value).toBe('"v1"');
    await until(() => !isAlive(before), "the end of the process before");
  });

  it("serves what is new as soon as the calls that run have ended", async () => {
    const more = 'export const extra = defineTool({ name: "t.extra", description: "", input: z.object({}), run: () => "extra" });';
    const running = await enter("t.gate", "second");
    await afterwards(() => project.write("tools.ts", tools("v3", more)), /"waiting":\{"calls":1\}/);
    await afterwards(() => writeFile(at("second"), ""), /"tools":\[[^\]]*"t.extra"/);
    expect((await project.end(running)).step.output?.kind.value).toBe('"v2"');
    expect(await outputOf("t.extra", {})).toBe('"extra"');
  });

  it("shows where a changed file is wrong, and goes on with what it had", async () => {
    await afterwards(() => project.write("tools.ts", `${tools("v4")}\nexport const wrong = (;\n`), /"problem"/);
    const line = tools("v4").split("\n").length + 1;
    expect(said(worker, "problem").at(-1)).toMatchObject({ error: { reason: "WORKER_FILE", metadata: { file: at("tools.ts"), line: String(line) } } });
    expect(await outputOf("t.greet", { name: "Ann" })).toBe('"v3 Ann"');
    await afterwards(() => project.write("tools.ts", tools("v4")), /"reloaded":true/);
    expect(await outputOf("t.greet", { name: "Ann" })).toBe('"v4 Ann"');
  });

  it("starts again when its process dies: nobody knows what the call did, and the next one is served", async () => {
    const { run, step } = await call("t.crash", {});
    expect([run.status, step.status, step.error?.reason]).toEqual([RunStatus.FAILED, StepStatus.FAILED, "UNKNOWN_EFFECT"]);
    await worker.says(/"exited":\{"pid":\d+,"how":"by SIGKILL"/);
    expect(await outputOf("t.greet", { name: "Ann" })).toMatch(/Ann/);
  });

  it("makes an idempotent call again whose process died", async () => {
    const { step } = await project.end(await project.start(`type: function, function: t.once, inputs: {file: ${JSON.stringify(at("third"))}}`));
    expect(step.output?.kind.value).toBe('{"attempt":"second"}');
    expect(step.attemptCount).toBe(1);
  });

  it("tells a call that it is cancelled", async () => {
    const id = await enter("t.gate", "fourth");
    await project.client.workflow.cancelRun({ header: commandHeader(), runId: id });
    expect((await project.end(id)).run.status).toBe(RunStatus.CANCELLED);
    expect(isAlive(await pidOf("fourth"))).toBe(true);
  });

  it("ends the process of a call that does not stop, after what else runs in it", async () => {
    const id = await enter("t.deaf", "fifth");
    const other = await enter("t.gate", "sixth");
    const pid = await pidOf("fifth");
    await afterwards(() => project.client.workflow.cancelRun({ header: commandHeader(), runId: id }), /"stuck"/);
    expect(await outputOf("t.greet", { name: "Ann" })).toMatch(/Ann/);
    expect(isAlive(pid)).toBe(true);
    await writeFile(at("sixth"), "");
    expect((await project.end(other)).run.status).toBe(RunStatus.COMPLETED);
    expect((await project.end(id)).run.status).toBe(RunStatus.CANCELLED);
    expect(isAlive(pid)).toBe(false);
  });

  it("ends a call that blocks its process, at the tool's own deadline", async () => {
    const { step } = await call("t.spin", { file: at("seventh") });
    expect(step.error?.code).toBe(ErrorCode.DEADLINE_EXCEEDED);
    expect(isAlive(await pidOf("seventh"))).toBe(false);
    expect(await outputOf("t.greet", { name: "Ann" })).toMatch(/Ann/);
  });

  it("serves models from a second file at the same time", async () => {
    await project.write("models.ts", provider);
    const models = await serve("models.ts");
    expect(said(models, "serving")).toMatchObject([{ name: "models", models: ["shout/*"] }]);
    const { session } = project.client;
    const { sessionId } = await session.createSession({ header: commandHeader(), agent: { model: "shout/loud" }, queue: project.queue });
    await session.startTurn({ header: commandHeader(), sessionId, input: [{ kind: { case: "text", value: { text: "hello" } } }] });
    const turn = async () => (await session.getSessionSnapshot({ sessionId })).session?.turn;
    await until(async () => (await turn())?.status === TurnStatus.COMPLETED, "the turn's end");
    await models.says(/"call":\{"name":"shout\/loud","outcome":"completed"/);
    expect(await outputOf("t.greet", { name: "Ann" })).toMatch(/Ann/);
    models.child.kill("SIGINT");
    expect((await models.end()).code).toBe(0);
  });

  it("gives way to another worker of its name", async () => {
    const running = await enter("t.gate", "eighth");
    const before = worker;
    worker = await serve("tools.ts");
    // What it held was lost with it.
    expect((await project.end(running)).step.error?.reason).toBe("UNKNOWN_EFFECT");
    expect((await before.end()).code).toBe(4);
    expect(said(before, "replaced")).toEqual([{ name: "tools" }]);
    expect(await outputOf("t.greet", { name: "Ann" })).toMatch(/Ann/);
  });

  it("leaves no process when it is killed, and its calls end when it comes back", async () => {
    const running = await enter("t.deaf", "ninth");
    const pid = await pidOf("ninth");
    worker.child.kill("SIGKILL");
    await worker.end();
    await until(() => !isAlive(pid), "the end of its process");
    worker = await serve("tools.ts");
    expect((await project.end(running)).step.error?.reason).toBe("UNKNOWN_EFFECT");
    const other = await tool("t.gate", { file: at("tenth") });
    await until(() => existsSync(at("tenth.entered")), "a call");
    // It finishes what it has, and then ends.
    worker.child.kill("SIGTERM");
    await worker.says(/"ending"/);
    await writeFile(at("tenth"), "");
    expect((await project.end(other)).run.status).toBe(RunStatus.COMPLETED);
    expect((await worker.end()).code).toBe(0);
  });

  it("leaves no process behind that blocks when it is killed", async () => {
    await project.write("blocks.ts", tools("v1").replaceAll("timeoutMs: 500", "timeoutMs: 60_000").replaceAll('"t.', '"b.'));
    const blocked = await serve("blocks.ts");
    await enter("b.spin", "eleventh");
    const pid = await pidOf("eleventh");
    onTestFinished(() => {
      if (isAlive(pid)) process.kill(pid, "SIGKILL");
    });
    blocked.child.kill("SIGKILL");
    await until(() => !isAlive(pid), "the end of its process");
    expect(isAlive(pid)).toBe(false);
  });

  it.each([
    ["nothing.ts", 3, /there is no file/],
    ["runtime.yaml", 2, /no file of a worker/],
    ["empty.ts", 2, /empty\.ts: it exports nothing to serve/],
    ["broken.ts", 2, /broken\.ts:2:\d+: SyntaxError/],
  ])("ends with what is wrong with %s", async (file, code, message) => {
    await project.write("empty.ts", "export const nothing = 1;\n");
    await project.write("broken.ts", "const fine = 1;\nexport enum Wrong { A }\n");
    const { code: ended, stderr } = await forge(["worker", file], { directory: project.root });
    expect([ended, stderr]).toEqual([code, expect.stringMatching(message)]);
  });

  it("says what a Python file needs", async () => {
    await project.write("tools.py", "");
    const { code, stderr } = await forge(["worker", "tools.py"], { directory: project.root, environment: { FORGE_PYTHON: "no-such-python" } });
    expect([code, stderr]).toEqual([3, expect.stringMatching(/no-such-python can't be started .*FORGE_PYTHON/)]);
    const bare = await forge(["worker", "tools.py"], { directory: project.root, environment: { FORGE_PYTHON: "false" } });
    expect([bare.code, bare.stderr]).toEqual([3, expect.stringMatching(/pip install \.\/libs\/client-python/)]);
  });

  it("serves a control plane that is named, with its token", async () => {
    const token = (await readFile(at(".forge/data/worker-token"), "utf8")).trim();
    const elsewhere = new Cli(["worker", at("tools.ts"), "--name", "remote", "--queue", "far", "--json"], {
      directory: "/",
      environment: { FORGE_URL: project.url, FORGE_TOKEN: token },
    });
    await elsewhere.says(/"serving":\{"name":"remote","queues":\["far"\]/);
    elsewhere.child.kill("SIGINT");
    expect((await elsewhere.end()).code).toBe(0);
  });
});

describe("forge worker, for people", () => {
  let project: WorkerProject;
  beforeAll(async () => {
    project = await createWorkerProject();
  });
  afterEach(() => Cli.endAll());
  afterAll(async () => project[Symbol.asyncDispose]());

  it("serves the example of the guide", async () => {
    const example = fileURLToPath(new URL("../../../../examples/worker", import.meta.url));
    await cp(path.join(example, "workflows"), path.join(project.root, "workflows"), { recursive: true });
    await cp(path.join(example, "my-tools.ts"), path.join(project.root, "my-tools.ts"));
    const worker = new Cli(["worker", "my-tools.ts"], { directory: project.root });
    await worker.says(/ {2}Tools {6}stock\.look, stock\.take\n {2}Functions {2}pricing\.quote\n {2}Queues {5}project:\w+, default\n/);
    const { code, stdout } = await forge(["run", "order", "-i", "item=lamp", "-i", "count=2"], { directory: project.root });
    expect([code, stdout]).toEqual([0, expect.stringContaining('{\n  "left": 10\n}')]);
    await worker.says(/✔ pricing\.quote .*\n[\s\S]*taken item=lamp count=2 [\s\S]*✔ stock\.take /);
  });

  it("says what it serves and each call, and ends with Ctrl-C", async () => {
    await project.write("tools.ts", tools("v1"));
    const worker = forgeOnTerminal(["worker", "tools.ts"], { directory: project.root });
    await worker.says(/Ctrl-C ends it/);
    await project.end(await project.start('type: tool, tool: t.greet, inputs: {name: "Ann"}'));
    await worker.says(/✔.* t\.greet +\d+ms/);
    worker.child.stdin.write("\u0003");
    expect((await worker.end()).code).toBe(0);
    expect(worker.stdout).toContain("Ending, after what is running.");
  });
});
