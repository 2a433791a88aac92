import { mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { ErrorCode } from "@forge/protocol/common";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { McpToolsOptions } from "./create-mcp-tools.ts";
import { loginMcpServer } from "./mcp-login.ts";
import { McpTokens } from "./mcp-tokens.ts";
import { type McpHttp, startMcpHttp } from "./testing/mcp-http.ts";
import { answer, call, errorOf, type ServedMcp, serveMcp } from "./testing/served-mcp.ts";

let directory: string;
const closing: (() => Promise<void>)[] = [];

beforeEach(() => {
  directory = mkdtempSync(path.join(tmpdir(), "forge-mcp-"));
});

afterEach(async () => {
  for (const close of closing.splice(0).toReversed()) await close();
  rmSync(directory, { recursive: true });
});

async function http(options: Parameters<typeof startMcpHttp>[0] = {}): Promise<McpHttp> {
  const server = await startMcpHttp(options);
  closing.push(() => server.close());
  return server;
}

async function serve(servers: Record<string, object>, options: Partial<McpToolsOptions> = {}): Promise<ServedMcp> {
  const served = await serveMcp(servers, { workspace: directory, ...options });
  closing.push(() => served.tools.close());
  return served;
}

/** A browser that does what it is told. */
async function browse(url: URL): Promise<void> {
  await fetch(url);
}

describe("an MCP server over HTTP", () => {
  it("is called with the headers of the configuration, secrets resolved", async () => {
    const server = await http({ isProtected: true });
    server.tokens.add("s3cret-value");
    const { tools, handler } = await serve({ web: { type: "http", url: server.url, headers: { Authorization: "Bearer secret://known" } } });
    expect(tools.problems()).toEqual([]);
    expect(await answer(handler("mcp.web.echo"), { text: "it is s3cret-value" })).toEqual({ content: [{ type: "text", text: "it is [secret]" }] });
    expect(handler("mcp.web.echo").capability.tool?.sourceDigest).toMatch(/^[0-9a-f]{64}$/);
  });

  it("asks a person in a call, which goes on though everything here was started anew", async () => {
    const server = await http();
    const one = await serve({ web: { url: server.url } });
    const { outcome } = await call(one.handler("mcp.web.ask"));
    if (outcome.case !== "inputRequired") throw new Error(`it ended as ${outcome.case}`);
    const { resumeJson } = outcome.value;
    await one.tools.close();
    const two = await serve({ web: { url: server.url } });
    const said = await answer(two.handler("mcp.web.ask"), {}, { providedInputs: ["3"], resumeJson });
    expect(said).toMatchObject({ content: [{ text: '{"action":"accept","content":{"size":3}} state-1' }] });
  });

  it("asks several things one after the other, and does not go round for ever", async () => {
    const server = await http();
    const { handler } = await serve({ web: { url: server.url } });
    const first = await call(handler("mcp.web.ask_twice"));
    if (first.outcome.case !== "inputRequired") throw new Error(`it ended as ${first.outcome.case}`);
    expect(first.outcome.value.question).toContain("Which size?");
    const second = await call(handler("mcp.web.ask_twice"), {}, { providedInputs: ["5"], resumeJson: first.outcome.value.resumeJson });
    if (second.outcome.case !== "inputRequired") throw new Error(`it ended as ${second.outcome.case}`);
    expect(second.outcome.value.question).toContain("Sure?");
    const said = await answer(handler("mcp.web.ask_twice"), {}, { providedInputs: ["5", "no"], resumeJson: second.outcome.value.resumeJson });
    expect(said).toMatchObject({ content: [{ text: '{"action":"accept","content":{"size":5}} {"action":"decline"}' }] });
    expect(errorOf((await call(handler("mcp.web.go_round"))).outcome)).toMatchObject({ reason: "MCP_ROUNDS", unknown: true });
  });

  it("says that its tools are others, and a call of the old ones is refused", async () => {
    const server = await http();
    const { handler } = await serve({ web: { url: server.url } });
    const old = handler("mcp.web.echo");
    server.setState("changed");
    server.announce();
    await vi.waitFor(() => expect(handler("mcp.web.echo").capability.tool?.description).toContain("mails it"), { timeout: 5000 });
    expect(errorOf((await call(old, { text: "x" })).outcome).reason).toBe("TOOL_CHANGED");
  });

  it("is called again once it is there again", async () => {
    const server = await startMcpHttp();
    const port = Number(new URL(server.url).port);
    const { handler } = await serve({ web: { url: server.url } });
    expect(await answer(handler("mcp.web.echo"), { text: "a" })).toMatchObject({ content: [{ text: "a" }] });
    await server.close();
    const failed = errorOf((await call(handler("mcp.web.echo"), { text: "b" })).outcome);
    expect(failed).toMatchObject({ reason: "MCP_SERVER_UNAVAILABLE", unknown: false });
    await http({ port });
    expect(await answer(handler("mcp.web.echo"), { text: "c" })).toMatchObject({ content: [{ text: "c" }] });
  });

  it("that wants a login says how, without registering anything, and is served once somebody has logged in", async () => {
    const server = await http({ isProtected: true });
    const tokens = new McpTokens(path.join(directory, "data"));
    const config = { web: { url: server.url } };
    const { tools, handler } = await serve(config, { tokens });
    expect(tools.problems()).toMatchObject([{ server: "web", reason: "MCP_LOGIN_REQUIRED", message: expect.stringContaining("forge mcp login web") }]);
    expect(server.registrations).toBe(0);

    await loginMcpServer({ server: "web", url: new URL(server.url), tokens, open: browse });
    expect(server.grants[0]?.get("grant_type")).toBe("authorization_code");
    expect(statSync(path.join(directory, "data", "mcp-logins.json")).mode & 0o777).toBe(0o600);
    await vi.waitFor(() => expect(tools.problems()).toEqual([]), { timeout: 10_000 });
    expect(await answer(handler("mcp.web.echo"), { text: "in" })).toMatchObject({ content: [{ text: "in" }] });

    // The token is refused from now on: it is renewed, and nobody is asked.
    server.tokens.clear();
    expect(await answer(handler("mcp.web.echo"), { text: "still in" })).toMatchObject({ content: [{ text: "still in" }] });
    expect(server.grants.at(-1)?.get("grant_type")).toBe("refresh_token");
    expect((await tokens.find(new URL(server.url)))?.tokens.access_token).toBe([...server.tokens][0]);
    expect(await tokens.forget(new URL(server.url))).toBe(true);
    expect(await tokens.find(new URL(server.url))).toBeUndefined();
  });

  it("lets nobody else finish a login, and waits for a person only so long", async () => {
    const server = await http({ isProtected: true });
    const tokens = new McpTokens(directory);
    const login = loginMcpServer({
      server: "web",
      url: new URL(server.url),
      tokens,
      timeoutMs: 500,
      open: async (url) => {
        const callback = new URL(url.searchParams.get("redirect_uri") as string);
        callback.searchParams.set("code", "of-somebody-else");
        callback.searchParams.set("state", "guessed");
        expect((await fetch(callback)).status).toBe(404);
      },
    });
    await expect(login).rejects.toMatchObject({ code: ErrorCode.DEADLINE_EXCEEDED, reason: "MCP_LOGIN_FAILED" });
    expect(await tokens.find(new URL(server.url))).toBeUndefined();
  });

  it("that refuses a login is told with what it said", async () => {
    const server = await http({ isProtected: true });
    const login = loginMcpServer({
      server: "web",
      url: new URL(server.url),
      tokens: new McpTokens(directory),
      open: async (url) => {
        const callback = new URL(url.searchParams.get("redirect_uri") as string);
        callback.searchParams.set("error", "access_denied");
        callback.searchParams.set("error_description", "not you");
        callback.searchParams.set("state", url.searchParams.get("state") as string);
        await fetch(callback);
      },
    });
    await expect(login).rejects.toMatchObject({ code: ErrorCode.UNAUTHENTICATED, message: expect.stringContaining("not you") });
  });
});
