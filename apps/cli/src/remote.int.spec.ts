import { mkdtemp, readFile, rm } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { forge } from "./testing/cli.ts";
import { createTestProject, type TestProject } from "./testing/project.ts";

let project: TestProject;
let elsewhere: string;
let url: string;
let token: string;

beforeAll(async () => {
  project = await createTestProject();
  elsewhere = await mkdtemp(path.join(tmpdir(), "forge-elsewhere-"));
  const up = await forge(["up", "--detach", "--json"], { directory: project.root });
  url = up.json()[0]?.url as unknown as string;
  token = (await readFile(path.join(project.root, ".forge/data/token"), "utf8")).trim();
});

afterAll(async () => {
  await project[Symbol.asyncDispose]();
  await rm(elsewhere, { recursive: true });
});

const from = (directory: string, environment: Readonly<Record<string, string>> = {}) => ({
  directory,
  environment: { FORGE_TOKEN: token, ...environment },
});

it("talks to the control plane that --url or FORGE_URL names, from anywhere, and starts nothing there", async () => {
  const made = await forge(["chat", "--url", url, "--json"], { ...from(elsewhere), input: "hello\n" });
  expect(made).toMatchObject({ code: 0, stderr: "" });
  const id = (made.json()[0] as unknown as { session: { session_id: string } }).session.session_id;
  // In the project itself it is there without any of this, and through the environment as well.
  for (const options of [{ directory: project.root }, from(elsewhere, { FORGE_URL: url, FORGE_NAMESPACE: "default", CI: "1" })]) {
    const listed = await forge(["sessions", "--json"], options);
    expect(listed.json()).toMatchObject([{ session_id: id }]);
  }
  const inspected = await forge(["inspect", "00000000-0000-7000-8000-000000000000", "--url", url], from(elsewhere));
  expect(inspected).toMatchObject({ code: 3, stderr: expect.stringContaining(`at ${url}`) });
  await expect(readFile(path.join(elsewhere, ".forge"))).rejects.toMatchObject({ code: "ENOENT" });
});

it("says in the commands that it advises which control plane it means", async () => {
  const run = await forge(["run", path.join(project.root, "workflows/slow.yaml"), "-i", "ms=0", "--detach", "--url", url], from(elsewhere));
  // The functions of a project are served beside it, for its own queue and the default one.
  expect(run).toMatchObject({ code: 0, stdout: expect.stringContaining(`--url ${url}`) });
});

it.each<{ what: string; words: string[]; environment: Record<string, string>; code: number; says: RegExp }>([
  { what: "no token", words: ["runs", "--url", "http://127.0.0.1:1"], environment: { FORGE_TOKEN: "" }, code: 2, says: /FORGE_TOKEN is not set/ },
  { what: "no URL", words: ["runs", "--url", "localhost:7233"], environment: {}, code: 2, says: /--url is no URL/ },
  { what: "a namespace without a URL", words: ["runs", "--namespace", "a"], environment: {}, code: 2, says: /--namespace goes with --url/ },
  { what: "a server here and elsewhere", words: ["chat", "--foreground"], environment: { FORGE_URL: "http://127.0.0.1:1" }, code: 2, says: /--foreground/ },
  { what: "nobody at that address", words: ["runs"], environment: { FORGE_URL: "http://127.0.0.1:1" }, code: 5, says: /127.0.0.1:1 does not answer/ },
])("refuses $what at once, and says what to do", async ({ words, environment, code, says }) => {
  const result = await forge(words, from(elsewhere, environment));
  expect(result).toMatchObject({ code, stdout: "", stderr: expect.stringMatching(says) });
});

it("says that a token is not known there, that a namespace is not granted, and never what the token is", async () => {
  const wrong = `forge_${"x".repeat(43)}`;
  const unknown = await forge(["runs", "--url", url], from(elsewhere, { FORGE_TOKEN: wrong }));
  expect(unknown).toMatchObject({ code: 1, stderr: expect.stringContaining("this token is not known here") });
  expect(unknown.stderr).not.toContain(wrong);
  const strange = await forge(["runs", "--url", url, "--namespace", "strange"], from(elsewhere));
  expect(strange).toMatchObject({ code: 1, stderr: expect.stringContaining("namespace strange") });
});

it("gives up on a server that says nothing", async () => {
  const silent = createServer();
  await new Promise<void>((resolve) => silent.listen(0, "127.0.0.1", resolve));
  const { port } = silent.address() as { port: number };
  try {
    const result = await forge(["runs", "--url", `http://127.0.0.1:${port}`], from(elsewhere));
    expect(result).toMatchObject({ code: 5, stderr: expect.stringContaining("does not answer") });
  } finally {
    silent.close();
  }
});
