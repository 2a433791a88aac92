import { spawn } from "node:child_process";
import { mkdir, readFile, rename, writeFile } from "node:fs/promises";
import path from "node:path";
import { fileURLToPath } from "node:url";
import pino from "pino";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type ControlPlaneService, startControlPlane } from "./control-plane.ts";
import { openDatabase } from "./database.ts";
import { makeDirectory, removeDirectory } from "./testing/directory.ts";
import { grant, newToken } from "./tokens.ts";
import { startToolProcess, toolEnvironment } from "./tool-process.ts";

const logger = pino({ level: "silent" });
const cleanup = new AsyncDisposableStack();
const [clientToken, workerToken] = [newToken(), newToken()];
let directory: string;
let service: ControlPlaneService;

beforeAll(async () => {
  directory = await makeDirectory();
  cleanup.defer(() => removeDirectory(directory));
  const database = await openDatabase({ dataDirectory: path.join(directory, "data"), logger });
  cleanup.defer(() => database.close());
  service = await startControlPlane({ connection: database.connection, port: 0, logger });
  cleanup.defer(() => service.close());
  await grant(service.store, clientToken, { id: "tester", role: "operator", namespaces: ["default"], queues: [] });
  await grant(service.store, workerToken, { id: "worker:tester", role: "worker", namespaces: ["default"], queues: [] });
});

afterAll(() => cleanup.disposeAsync());

const settings = () => ({
  url: service.url,
  token: workerToken,
  name: "executor-tools",
  queues: ["tools"],
  workspace: directory,
  dataDirectory: path.join(directory, "data"),
  isTrusted: false,
});

const KEYS = { OPENAI_API_KEY: "sk-key-of-the-provider", ANTHROPIC_API_KEY: "another-key", FORGE_TOKEN: "a-token" };

test("holds no key of a provider, nor the token, where others see it", async () => {
  const tools = startToolProcess({ settings: settings(), processEnvironment: { ...process.env, ...KEYS, FORGE_SECRET_X: "for-tools" }, logger });
  try {
    await tools.ready;
    const [environment, commandLine] = await Promise.all(["environ", "cmdline"].map((name) => readFile(`/proc/${tools.pid()}/${name}`, "latin1")));
    expect(environment).toContain("FORGE_SECRET_X=for-tools");
    for (const value of [...Object.values(KEYS), workerToken]) expect(`${environment}${commandLine}`).not.toContain(value);
  } finally {
    await tools.stop();
  }
  expect(tools.pid()).toBeUndefined();
});

test("the environment that it is given", () => {
  expect(
    toolEnvironment({ ...KEYS, PATH: "p", LC_ALL: "C", FORGE_SECRET_A: "s", NPM_TOKEN: "t", AWS_SECRET_ACCESS_KEY: "k", NODE_OPTIONS: "--inspect" }),
  ).toEqual({
    PATH: "p",
    LC_ALL: "C",
    FORGE_SECRET_A: "s",
  });
});

test("one that was killed is started again, and joins", async () => {
  const tools = startToolProcess({ settings: settings(), processEnvironment: process.env, logger });
  try {
    await tools.ready;
    const first = tools.pid() as number;
    process.kill(first, "SIGKILL");
    await expect.poll(() => tools.pid() !== undefined && tools.pid() !== first, { timeout: 10_000 }).toBe(true);
  } finally {
    await tools.drain(1_000);
    await tools.stop();
  }
});

test("one that can't join says why, and is not started again", async () => {
  const tools = startToolProcess({ settings: { ...settings(), token: clientToken }, processEnvironment: process.env, logger });
  await expect(tools.ready).rejects.toMatchObject({ reason: "TOOLS_UNAVAILABLE" });
  await tools.stop();
});

test("one that has joined before is started again until nothing is in its way", async () => {
  const workspace = path.join(directory, "moved");
  await mkdir(workspace);
  const logged: string[] = [];
  const tools = startToolProcess({
    settings: { ...settings(), workspace },
    processEnvironment: process.env,
    logger: pino({ level: "error" }, { write: (line: string) => void logged.push(line) }),
  });
  try {
    await tools.ready;
    await rename(workspace, `${workspace}-away`);
    process.kill(tools.pid() as number, "SIGKILL");
    await expect.poll(() => logged.some((line) => line.includes("can't be served")), { timeout: 10_000 }).toBe(true);
    await expect.poll(() => tools.pid(), { timeout: 10_000 }).toBeUndefined();
    await rename(`${workspace}-away`, workspace);
    await expect.poll(() => tools.pid(), { timeout: 10_000 }).toBeDefined();
  } finally {
    await tools.stop();
  }
});

test("profiles of tests are those that were trusted, and not what the file says by now", async () => {
  const workspace = path.join(directory, "profiles");
  await mkdir(path.join(workspace, ".forge"), { recursive: true });
  await writeFile(path.join(workspace, ".forge", "tests.toml"), "not a profile");
  const start = (code: { tests?: string }) =>
    startToolProcess({ settings: { ...settings(), workspace, isTrusted: true, code }, processEnvironment: process.env, logger });
  const unread = start({});
  await unread.ready;
  await unread.stop();
  const told = start({ tests: "also = 1" });
  await expect(told.ready).rejects.toThrow("also is not known");
  await told.stop();
});

test("it ends with its host, however that ends", async () => {
  const host = `
    import pino from "pino";
    import { startToolProcess } from ${JSON.stringify(new URL("./tool-process.ts", import.meta.url).href)};
    const tools = startToolProcess({ settings: ${JSON.stringify(settings())}, processEnvironment: process.env, logger: pino({ level: "silent" }) });
    await tools.ready;
    console.log(tools.pid());
    setInterval(() => {}, 1000);`;
  const child = spawn(process.execPath, ["--input-type=module", "-e", host], {
    stdio: ["ignore", "pipe", "inherit"],
    cwd: path.dirname(fileURLToPath(import.meta.url)),
  });
  const pid = Number(await new Promise((resolve) => child.stdout.once("data", (data: Buffer) => resolve(data.toString()))));
  expect(pid).toBeGreaterThan(0);
  child.kill("SIGKILL");
  const isAlive = async (): Promise<boolean> => (await readFile(`/proc/${pid}/stat`, "latin1").catch(() => "")) !== "";
  await expect.poll(isAlive, { timeout: 10_000 }).toBe(false);
});
