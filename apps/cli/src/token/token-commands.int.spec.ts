import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { type CliResult, forge, until } from "../testing/cli.ts";
import { createTestProject, type TestProject } from "../testing/project.ts";

const TEXT = /^forge_[A-Za-z0-9_-]{43}\n$/;

let project: TestProject;
let elsewhere: string;
let url: string;

beforeAll(async () => {
  project = await createTestProject();
  elsewhere = await mkdtemp(path.join(tmpdir(), "forge-elsewhere-"));
  url = (await forge(["up", "--detach", "--json"], { directory: project.root })).json()[0]?.url as unknown as string;
});

afterAll(async () => {
  await project[Symbol.asyncDispose]();
  await rm(elsewhere, { recursive: true });
});

const run = (...words: string[]): Promise<CliResult> => forge(words, { directory: project.root });
const withToken = (token: string, ...words: string[]): Promise<CliResult> =>
  forge(words, { directory: elsewhere, environment: { FORGE_URL: url, FORGE_TOKEN: token.trim() } });

async function tokens(): Promise<readonly { grant: { name: string; role: string; expires_at?: string; queues?: string[] }; created_by: string }[]> {
  const { stdout } = await run("token", "list", "--json");
  return stdout
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line) as Awaited<ReturnType<typeof tokens>>[number]);
}

it("makes a token, prints it once on standard output alone, and lets its holder do what its role says", async () => {
  const added = await run("token", "add", "reader", "--role", "viewer", "--expires", "30d");
  expect(added).toMatchObject({ code: 0, stdout: expect.stringMatching(TEXT), stderr: expect.stringContaining("reader is a viewer of default until ") });
  expect(added.stderr).not.toContain(added.stdout.trim());
  expect(await withToken(added.stdout, "sessions", "--json")).toMatchObject({ code: 0, stderr: "" });
  const refused = await forge(["chat"], { directory: elsewhere, input: "hello\n", environment: { FORGE_URL: url, FORGE_TOKEN: added.stdout.trim() } });
  expect(refused).toMatchObject({ code: 1, stderr: expect.stringContaining("needs the role operator or admin; this credential's role is viewer") });
  const listed = await tokens();
  expect(listed.find(({ grant }) => grant.name === "reader")).toMatchObject({ grant: { role: "VIEWER" }, created_by: "cli" });
  const expiresAt = Date.parse(listed.find(({ grant }) => grant.name === "reader")?.grant.expires_at ?? "");
  expect(Math.abs(expiresAt - Date.now() - 30 * 86_400_000)).toBeLessThan(60_000);
  expect((await run("token", "list")).stdout).toMatch(/^reader +viewer +default +- +\d{4}-/m);
});

it("says nothing but the token with --quiet, and everything as JSON", async () => {
  expect(await run("token", "add", "silent", "--role", "worker", "--queue", "gpu", "--queue", "default", "--quiet")).toMatchObject({
    stdout: expect.stringMatching(TEXT),
    stderr: "",
  });
  expect((await tokens()).find(({ grant }) => grant.name === "silent")?.grant.queues).toEqual(["gpu", "default"]);
  const { stdout } = await run("token", "add", "machine", "--role", "admin", "--json");
  const added = JSON.parse(stdout) as { text: string; token: { grant: { name: string } } };
  expect(`${added.text}\n`).toMatch(TEXT);
  expect(added.token.grant).toMatchObject({ name: "machine", role: "ADMIN", namespaces: ["default"] });
});

it("withdraws a token, and calls with it are refused soon", async () => {
  const { stdout: text } = await run("token", "add", "gone", "--role", "operator");
  expect((await withToken(text, "runs")).code).toBe(0);
  expect(await run("token", "revoke", "gone")).toMatchObject({ code: 0, stdout: expect.stringContaining("Revoked gone") });
  await until(async () => (await withToken(text, "runs")).stderr.includes("this token is not known here"), "the token's end");
  expect((await run("token", "revoke", "gone")).code).toBe(3);
});

it("lets nobody but an admin at tokens, and nobody withdraw his own", async () => {
  const { stdout: operator } = await run("token", "add", "operator", "--role", "operator");
  expect(await withToken(operator, "token", "list")).toMatchObject({ code: 1, stderr: expect.stringContaining("needs the role admin") });
  const { stdout: admin } = await run("token", "add", "second", "--role", "admin");
  expect(await withToken(admin, "token", "revoke", "second")).toMatchObject({ code: 4, stderr: expect.stringContaining("revoke it with another one") });
  expect(await withToken(admin, "token", "add", "wide", "--role", "viewer", "--namespace", "elsewhere")).toMatchObject({
    code: 1,
    stderr: expect.stringContaining("namespace elsewhere"),
  });
});

it.each<[string[], number, RegExp]>([
  [["add", "x"], 2, /--role/],
  [["add", "x", "--role", "king"], 2, /viewer, operator, approver, admin, worker/],
  [["add", "a b", "--role", "viewer"], 2, /letters, digits/],
  [["add", "x", "--role", "viewer", "--expires", "never"], 2, /30d/],
  [["add", "x", "--role", "viewer", "--queue", "gpu"], 2, /for the role worker/],
  [["add", "cli", "--role", "viewer"], 4, /there is a token cli/],
  [["revoke", "nobody"], 3, /there is no token nobody/],
])("refuses token %j", async (words, code, says) => {
  expect(await run("token", ...words)).toMatchObject({ code, stdout: "", stderr: expect.stringMatching(says) });
});

it("refuses wrong words as JSON to machines", async () => {
  const { code, stderr } = await run("token", "add", "x", "--json");
  expect({ code, error: (JSON.parse(stderr) as { error: object }).error }).toMatchObject({ code: 2, error: { reason: "COMMAND_LINE" } });
});
