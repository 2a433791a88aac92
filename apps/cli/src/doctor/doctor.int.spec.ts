import { chmod, chown, mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { createServer, type Server } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { forge } from "../testing/cli.ts";
import { createTestProject, type TestProject } from "../testing/project.ts";
import { checkProviderKeys, checkRemote, checkTokenFiles } from "./checks/credentials.ts";
import { checkDataDirectory } from "./checks/data-directory.ts";
import { checkDatabase } from "./checks/database.ts";
import { checkGit, checkPython } from "./checks/programs.ts";
import { checkProjectFiles } from "./checks/project-files.ts";
import { checkPort, checkServer } from "./checks/server.ts";
import type { Finding, Found } from "./finding.ts";
import type { Subject } from "./subject.ts";

const TOKEN = `forge_${"a".repeat(43)}`;
const signal = new AbortController().signal;

let root: string;
let dataDirectory: string;
const servers: Server[] = [];

beforeEach(async () => {
  root = await mkdtemp(path.join(tmpdir(), "forge-doctor-"));
  dataDirectory = path.join(root, ".forge", "data");
});
afterEach(async () => {
  for (const server of servers.splice(0)) server.close();
  await rm(root, { recursive: true, force: true });
});

function subject(rest: Partial<Subject> = {}): Subject {
  return { environment: {}, root, dataDirectory, online: false, ...rest };
}

/** A port where somebody listens and says nothing. */
async function silentPort(): Promise<number> {
  const server = createServer();
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return (server.address() as { port: number }).port;
}

/** A port where nobody listens any more. */
async function closedPort(): Promise<number> {
  const port = await silentPort();
  await new Promise((resolve) => servers.pop()?.close(resolve));
  return port;
}

async function makeDataDirectory(): Promise<void> {
  await mkdir(dataDirectory, { recursive: true, mode: 0o700 });
}

const words = (found: Found | readonly Found[]): string[] => [found].flat().map(({ status, message }) => `${status} ${message}`);
const statuses = (found: Found | readonly Found[]): string[] => [found].flat().map(({ status }) => status);

describe("the data directory", () => {
  it("is fine where it is not there yet, or is its owner's alone", async () => {
    expect(words(await checkDataDirectory(subject()))).toEqual([expect.stringMatching(/^ok nothing is kept/), expect.stringMatching(/^ok .*free$/)]);
    await makeDataDirectory();
    expect(words(await checkDataDirectory(subject()))).toEqual([expect.stringMatching(/^ok .*in nobody's use$/), expect.stringMatching(/^ok/)]);
    await writeFile(path.join(dataDirectory, "postgres.lock"), `${process.pid}\n`);
    expect(words(await checkDataDirectory(subject()))[0]).toContain(`in use by process ${process.pid}`);
  });

  it("is a problem where it is a file, or lies where nothing is", async () => {
    await mkdir(path.dirname(dataDirectory));
    await writeFile(dataDirectory, "");
    expect(words(await checkDataDirectory(subject()))).toEqual([expect.stringMatching(/^problem .*is no directory$/)]);
    const nowhere = path.join(root, "nowhere");
    await expect(checkDataDirectory(subject({ root: nowhere, dataDirectory: path.join(nowhere, ".forge/data") }))).rejects.toThrow("ENOENT");
  });

  it("is a warning where others may look into it", async () => {
    await makeDataDirectory();
    await chmod(dataDirectory, 0o755);
    expect(words(await checkDataDirectory(subject()))[1]).toMatch(/^warning others may look into .*755/);
  });

  it("is a warning to root where it is another user's", async (context) => {
    if (process.getuid?.() !== 0) return context.skip("only root can make a directory that is another user's");
    await makeDataDirectory();
    await chown(dataDirectory, 12_345, 12_345);
    expect(words(await checkDataDirectory(subject()))[0]).toMatch(/^warning .*belongs to user 12345/);
  });
});

describe("the database", () => {
  it("is the embedded one where no other is named, and can be run", async () => {
    expect(words(await checkDatabase(subject(), signal))).toEqual([expect.stringMatching(/^ok embedded PostgreSQL \d+/)]);
  });

  it.each<[string, (port: number) => string, RegExp]>([
    ["no URL", () => "mysql://user:hunter2secret@db/forge", /is no URL of a PostgreSQL/],
    ["one where nobody listens", () => "postgres://user:hunter2secret@127.0.0.1:1/forge", /127.0.0.1:1\/forge can't be used/],
    ["one where somebody says nothing", (port) => `postgres://user:hunter2secret@127.0.0.1:${port}/forge`, /can't be used/],
  ])("is a problem where DATABASE_URL is %s, and its password is not shown", async (_, url, says) => {
    const found = await checkDatabase(subject({ environment: { DATABASE_URL: url(await silentPort()) } }), signal);
    expect(words(found)).toEqual([expect.stringMatching(says)]);
    expect(JSON.stringify(found)).not.toContain("hunter2secret");
  });
});

describe("the server", () => {
  const address = (port: number, pid: number) => JSON.stringify({ url: `http://127.0.0.1:${port}`, pid, startedAt: new Date().toISOString(), version: "0" });

  it("is no problem where none runs, and a warning where only its address is left", async () => {
    expect(statuses(await checkServer(subject(), signal))).toEqual(["ok"]);
    await makeDataDirectory();
    await writeFile(path.join(dataDirectory, "address.json"), address(1, 2 ** 22 + 1));
    expect(words(await checkServer(subject(), signal))).toEqual([expect.stringMatching(/^warning .*left over/)]);
  });

  it.each<[string, () => Promise<number>, RegExp]>([
    ["nobody listens", closedPort, /ECONNREFUSED/],
    ["somebody says nothing", silentPort, /no answer within 2 s/],
  ])("is a problem where its process is there and %s", async (_, port, says) => {
    await makeDataDirectory();
    await writeFile(path.join(dataDirectory, "address.json"), address(await port(), process.pid));
    const [found] = words(await checkServer(subject(), signal));
    expect(found).toMatch(/^problem process \d+ is said to serve/);
    expect(found).toMatch(says);
  });

  it("can listen on a free port, and not on one that is taken", async () => {
    expect(statuses(await checkPort(subject()))).toEqual(["ok"]);
    const port = await silentPort();
    expect(words(await checkPort(subject({ port })))).toEqual([`problem port ${port} of 127.0.0.1 is in use`]);
    await makeDataDirectory();
    await writeFile(path.join(dataDirectory, "address.json"), address(port, process.pid));
    expect(words(await checkPort(subject({ port })))).toEqual([`ok port ${port} is the project's own server's`]);
  });
});

describe("credentials", () => {
  it("are for their owner only, and whole", async () => {
    expect(statuses(await checkTokenFiles(subject()))).toEqual(["ok"]);
    await makeDataDirectory();
    await writeFile(path.join(dataDirectory, "token"), `${TOKEN}\n`, { mode: 0o600 });
    await writeFile(path.join(dataDirectory, "worker-token"), "half", { mode: 0o600 });
    expect(words(await checkTokenFiles(subject()))).toEqual(["ok token, for its owner only", expect.stringMatching(/^warning .*holds no token/)]);
    await chmod(path.join(dataDirectory, "token"), 0o644);
    const found = await checkTokenFiles(subject());
    expect(words(found)[0]).toMatch(/^problem others may read .*644/);
    expect(JSON.stringify(found)).not.toContain(TOKEN);
  });

  it("of providers are told by name, never by value", async () => {
    expect((await checkProviderKeys(subject())).message).toMatch(/OPENAI_API_KEY.* not set/);
    const found = await checkProviderKeys(subject({ environment: { OPENAI_API_KEY: "sk-secret" } }));
    expect(words(found)).toEqual(["ok OPENAI_API_KEY is set"]);
  });

  it("are a problem where the control plane that they are for does not answer, and a warning where there is none", async () => {
    const remote = { url: "http://127.0.0.1:1", token: TOKEN };
    expect(words(await checkRemote(subject({ remote })))).toEqual([expect.stringMatching(/^problem http:\/\/127.0.0.1:1 does not answer/)]);
    expect(statuses(await checkRemote(subject({ environment: { FORGE_TOKEN: TOKEN } })))).toEqual(["warning"]);
    expect(statuses(await checkRemote(subject()))).toEqual(["ok"]);
  });
});

describe("project files", () => {
  it("are right, or told with what is wrong", async () => {
    await mkdir(path.join(root, "workflows"));
    await writeFile(path.join(root, "workflows/a.yaml"), "workflow: {id: a, version: v1}\nsteps:\n  - {id: x, type: function, function: f.g}\n");
    expect(words(await checkProjectFiles(subject()))).toEqual([expect.stringMatching(/^ok 1 workflow in/)]);
    await writeFile(path.join(root, "runtime.yaml"), "strange: 1\n");
    await writeFile(path.join(root, "workflows/b.yaml"), "workflow: {id: b, version: v1}\nsteps:\n  - {id: x, type: agent, agent: nobody}\n");
    expect(words(await checkProjectFiles(subject())).toSorted()).toEqual([
      expect.stringMatching(/^problem workflows\/b.yaml is not right: .*nobody/s),
      expect.stringMatching(/^warning .*strange/),
    ]);
    await writeFile(path.join(root, "runtime.yaml"), "policy: 7\n");
    expect(words(await checkProjectFiles(subject()))).toEqual([expect.stringMatching(/^problem .*policy/s)]);
  });
});

describe("programs", () => {
  it("are a warning where they are missing, too old, or lack what is needed", async () => {
    const script = async (name: string, text: string) => {
      const file = path.join(root, name);
      await writeFile(file, `#!/bin/sh\n${text}\n`, { mode: 0o755 });
      return file;
    };
    const python = async (text: string) => words(await checkPython(subject({ environment: { FORGE_PYTHON: await script("python", text) } }), signal));
    expect(await python("echo 3.9.2; echo True")).toEqual([expect.stringMatching(/^warning .*3.9.2.*3.10/)]);
    expect(await python("echo 3.11.1; echo False")).toEqual([expect.stringMatching(/^warning .*no package forge-client/)]);
    expect(await python("exit 3")).toEqual([expect.stringMatching(/^warning .*can't be run/)]);
    expect(await python("echo 3.11.1; echo True")).toEqual(["ok Python 3.11.1 with forge-client"]);
    const nothing = subject({ environment: { PATH: root } });
    expect(words(await checkGit(nothing, signal))).toEqual(["warning git can't be run (there is none)"]);
    expect(words(await checkPython(nothing, signal))).toEqual(["warning python3 can't be run (there is none)"]);
  });
});

describe("forge doctor", () => {
  let project: TestProject;
  beforeAll(async () => {
    project = await createTestProject();
  });
  afterAll(async () => project[Symbol.asyncDispose]());

  const doctor = async (directory: string, environment: Record<string, string> = {}, ...more: string[]) => {
    const { code, stdout } = await forge(["doctor", "--json", ...more], { directory, environment });
    return { code, ...(JSON.parse(stdout) as { findings: Finding[]; problems: number; warnings: number }) };
  };
  const of = (findings: readonly Finding[], check: string) =>
    findings.filter((each) => each.check === check).map(({ status, message }) => `${status} ${message}`);

  it("finds nothing wrong beside a server that runs, and says what a token may do there", async () => {
    const up = await forge(["up", "--detach", "--json"], { directory: project.root });
    const { url } = up.json()[0] as unknown as { url: string };
    const text = (await forge(["token", "add", "looker", "--role", "viewer"], { directory: project.root })).stdout.trim();
    await rm(path.join(project.root, "wrong.yaml"));
    const { findings, problems, code } = await doctor(project.root, { FORGE_URL: url, FORGE_TOKEN: text });
    expect({ problems, code }, JSON.stringify(findings.filter(({ status }) => status === "problem"))).toEqual({ problems: 0, code: 0 });
    expect(of(findings, "server")).toEqual([expect.stringContaining(`serves the project at ${url}`)]);
    expect(of(findings, "data directory")[0]).toMatch(/in use by process \d+$/);
    expect(of(findings, "control plane")).toEqual([`ok ${url} answers; FORGE_TOKEN has the role viewer`]);
    const stranger = await doctor(project.root, { FORGE_URL: url, FORGE_TOKEN: TOKEN }, "--port", new URL(url).port);
    expect(stranger.code).toBe(1);
    expect(of(stranger.findings, "control plane")).toEqual([expect.stringMatching(/^problem .*refuses FORGE_TOKEN/)]);
    expect(of(stranger.findings, "port")).toEqual([expect.stringMatching(/^ok .*own server's$/)]);
  });

  it("looks at everything that can still be looked at where everything is broken, shows no secret, and ends", async () => {
    await mkdir(path.dirname(dataDirectory));
    await writeFile(dataDirectory, "");
    await writeFile(path.join(root, "runtime.yaml"), "policy: 7\n");
    const beganMs = Date.now();
    const environment = {
      DATABASE_URL: `postgres://user:hunter2secret@127.0.0.1:${await silentPort()}/forge`,
      FORGE_URL: `http://127.0.0.1:${await silentPort()}`,
      FORGE_TOKEN: TOKEN,
      OPENAI_API_KEY: "sk-secret",
      FORGE_PYTHON: "/nowhere/python",
    };
    const { findings, problems, code } = await doctor(root, environment);
    expect(code).toBe(1);
    expect(findings.filter(({ status }) => status === "problem").map(({ check }) => check)).toEqual(["project", "data directory", "database", "control plane"]);
    expect(problems).toBe(4);
    expect(findings.filter(({ status, advice }) => status !== "ok" && !advice)).toEqual([]);
    for (const secret of ["hunter2secret", TOKEN, "sk-secret"]) expect(JSON.stringify(findings)).not.toContain(secret);
    expect(Date.now() - beganMs).toBeLessThan(45_000);
    const shown = await forge(["doctor", "--project", path.join(root, "nowhere")], { directory: root, environment: { FORGE_URL: "nonsense" } });
    expect(shown).toMatchObject({ code: 1, stdout: expect.stringMatching(/^problem +project: there is no directory/), stderr: "" });
    expect(shown.stdout).toMatch(/problem +control plane: FORGE_URL is no URL/);
  });
});
