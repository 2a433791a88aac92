import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { create } from "@bufbuild/protobuf";
import { ForgeError, toolIdentity } from "@forge/protocol";
import { ErrorCode } from "@forge/protocol/common";
import { CapabilityDecisionSchema, RiskLevel } from "@forge/protocol/tool";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { eventually, processesWith } from "../testing/processes.ts";
import { sha256 } from "./canonical-json.ts";
import type { McpTools, McpToolsOptions } from "./create-mcp-tools.ts";
import { answer, call, errorOf, preview, type ServedMcp, serveMcp } from "./testing/served-mcp.ts";

const PROGRAM = path.join(import.meta.dirname, "testing", "mcp-program.ts");

let directory: string;
let stateFile: string;
const open: McpTools[] = [];

beforeEach(() => {
  directory = mkdtempSync(path.join(tmpdir(), "forge-mcp-"));
  stateFile = path.join(directory, "state");
  writeFileSync(stateFile, "");
});

afterEach(async () => {
  await Promise.all(open.splice(0).map((tools) => tools.close()));
  rmSync(directory, { recursive: true });
});

async function serve(servers: Record<string, object>, options: Partial<McpToolsOptions> = {}): Promise<ServedMcp> {
  const served = await serveMcp(servers, { workspace: directory, ...options });
  open.push(served.tools);
  return served;
}

const program = (era: "modern" | "legacy", env: Record<string, string> = {}) => ({ command: process.execPath, args: [PROGRAM, era, stateFile], env });

describe.each(["modern", "legacy"] as const)("a program that speaks the %s protocol", (era) => {
  it("serves its tools as executing, whatever it says of them, and calls them", async () => {
    const { tools, handler } = await serve({ "my server": program(era) });
    expect(tools.problems()).toEqual([]);
    const names = tools.handlers().map(({ capability }) => capability.name);
    expect(names).toEqual([...names].sort());
    const echo = handler(names.find((name) => name.endsWith(".echo")) as string);
    expect(echo.capability.name).toMatch(/^mcp\.my_server_[0-9a-f]{8}\.echo$/);
    expect(echo.capability.tool).toMatchObject({ risk: RiskLevel.EXECUTE, idempotent: false, previews: true, description: "Says it again." });
    expect(echo.capability.tool?.sourceDigest).toMatch(/^[0-9a-f]{64}$/);
    expect(await answer(echo, { text: "hello" })).toEqual({ content: [{ type: "text", text: "hello" }] });
  });

  it("tells a call of a person's answer: asked, parked while other calls run, and gone on with", async () => {
    const { handler } = await serve({ s: program(era) });
    const { outcome } = await call(handler("mcp.s.ask"));
    if (outcome.case !== "inputRequired") throw new Error(`it ended as ${outcome.case}`);
    expect(outcome.value.question).toContain("The MCP server s asks: Which size?");
    expect(await answer(handler("mcp.s.echo"), { text: "meanwhile" })).toMatchObject({ content: [{ text: "meanwhile" }] });

    const { resumeJson } = outcome.value;
    const again = await call(handler("mcp.s.ask"), {}, { providedInputs: ["huge"], resumeJson });
    if (again.outcome.case !== "inputRequired") throw new Error(`it ended as ${again.outcome.case}`);
    expect(again.outcome.value.question).toContain("does not fit");

    const said = await answer(handler("mcp.s.ask"), {}, { providedInputs: ["huge", "42"], resumeJson: again.outcome.value.resumeJson });
    expect(said).toEqual({ content: [{ type: "text", text: era === "legacy" ? 'accept {"size":42}' : '{"action":"accept","content":{"size":42}} state-1' }] });
  });

  it("fails the call as unknown where the server dies in it, and serves again afterwards", async () => {
    const { tools, handler } = await serve({ s: program(era) });
    const before = await answer(handler("mcp.s.instance"));
    const { outcome } = await call(handler("mcp.s.die"));
    expect(errorOf(outcome)).toMatchObject({ reason: "MCP_SERVER_LOST", unknown: true, message: expect.stringContaining("exit code 7") });
    const after = await answer(handler("mcp.s.instance"));
    expect(after).not.toEqual(before);
    expect(tools.problems()).toEqual([]);
  });

  it("refuses a call where the server's tool changed without a word, telling what changed, and then serves the new one", async () => {
    const { tools, handler, changes } = await serve({ s: program(era) });
    const old = handler("mcp.s.echo");
    const oldDigest = sha256(toolIdentity(old.capability.tool as NonNullable<typeof old.capability.tool>));
    const decision = create(CapabilityDecisionSchema, { toolDigest: oldDigest });
    expect(await answer(old, { text: "a" }, { decision })).toBeTruthy();
    const seen = changes();

    writeFileSync(stateFile, "changed");
    const refused = errorOf((await call(old, { text: "b" }, { decision })).outcome);
    expect(refused).toMatchObject({
      code: ErrorCode.CONFLICT,
      reason: "TOOL_CHANGED",
      unknown: false,
      message: expect.stringContaining("mails it to somebody"),
    });
    expect(changes()).toBeGreaterThan(seen);

    const now = handler("mcp.s.echo");
    expect(now.capability.tool?.description).toBe("Says it again, and mails it to somebody.");
    // A turn that was offered the old one, served by what has been registered since.
    expect(errorOf((await call(now, { text: "c" }, { decision })).outcome)).toMatchObject({
      reason: "TOOL_CHANGED",
      message: expect.stringContaining("mails it"),
    });
    expect(await answer(now, { text: "d" })).toMatchObject({ content: [{ text: "d" }] });
    writeFileSync(stateFile, "gone");
    expect(errorOf((await call(now, { text: "e" })).outcome)).toMatchObject({ reason: "TOOL_CHANGED", message: expect.stringContaining("it is gone") });
    expect(tools.handlers().some(({ capability }) => capability.name === "mcp.s.echo")).toBe(false);
  });

  it("takes a new list when the server says that there is one", async () => {
    const { handler, tools } = await serve({ s: program(era) });
    writeFileSync(stateFile, "changed");
    // The call itself lists before it runs; what it announces is listed once more.
    const before = tools.handlers();
    await answer(handler("mcp.s.announce"));
    await vi.waitFor(() => expect(handler("mcp.s.echo").capability.tool?.description).toContain("mails"), { timeout: 5000 });
    expect(tools.handlers()).not.toBe(before);
  });

  it("keeps the very same handlers where the server lists its tools in another order", async () => {
    const { handler, tools } = await serve({ s: program(era) });
    const before = tools.handlers();
    writeFileSync(stateFile, "reversed");
    await answer(handler("mcp.s.echo"), { text: "x" });
    expect(tools.handlers()).toBe(before);
  });

  it("stops waiting for a call that hangs, and does not say that it had no effect", async () => {
    const { handler } = await serve({ s: program(era) }, { timeoutMs: 1000 });
    expect(errorOf((await call(handler("mcp.s.hang"))).outcome)).toMatchObject({ code: ErrorCode.DEADLINE_EXCEEDED, unknown: true });
    expect(await answer(handler("mcp.s.echo"), { text: "still here" })).toMatchObject({ content: [{ text: "still here" }] });
    const abort = new AbortController();
    const mark = path.join(directory, "hanging");
    const hanging = call(handler("mcp.s.hang"), { mark }, {}, abort.signal);
    await eventually("the call to hang", () => existsSync(mark));
    abort.abort(new ForgeError(ErrorCode.CANCELLED, "cancelled"));
    expect(errorOf((await hanging).outcome)).toMatchObject({ code: ErrorCode.CANCELLED, unknown: true });
  });
});

describe("MCP programs", () => {
  it("see an allow-list of the environment and what they were given, and what is secret in that is taken out of what they say", async () => {
    const { handler } = await serve({ s: program("modern", { TOKEN: "${MY_TOKEN}", SECRET: "x-secret://known" }) });
    const said = (await answer(handler("mcp.s.environment"))) as { content: [{ text: string }] };
    const environment = JSON.parse(said.content[0].text) as Record<string, string>;
    expect(environment).toMatchObject({ TOKEN: "[secret]", SECRET: "x-[secret]", PATH: process.env.PATH });
    expect(environment).not.toHaveProperty("OPENAI_API_KEY");
    expect(environment).not.toHaveProperty("MY_TOKEN");
  });

  it("keep a large answer as an artifact, and end at one beyond all bounds", async () => {
    const { handler } = await serve({ s: program("modern") });
    const { outcome, context } = await call(handler("mcp.s.big"), { bytes: String(20 * 1024 * 1024) });
    expect(outcome).toMatchObject({ case: "tool", value: { output: { kind: { case: "artifact" } } } });
    expect([...context.artifacts.values()][0]?.length).toBeGreaterThan(20 * 1024 * 1024);
    const refused = errorOf((await call(handler("mcp.s.big"), { bytes: String(33 * 1024 * 1024) })).outcome);
    expect(refused).toMatchObject({ reason: "MCP_SERVER_LOST", unknown: true, message: expect.stringContaining("33554432 bytes in one message") });
  }, 30_000);

  it("give images as artifacts, structure as structure, and their own errors as errors", async () => {
    const { handler } = await serve({ s: program("modern") });
    const { outcome, context } = await call(handler("mcp.s.image"));
    expect(outcome.case).toBe("tool");
    expect([...context.artifacts.values()].map((content) => Buffer.from(content).toString())).toEqual(["png"]);
    expect(await answer(handler("mcp.s.structured"))).toEqual({ content: [], structured: { n: 1 } });
    expect(errorOf((await call(handler("mcp.s.fail"))).outcome)).toMatchObject({ reason: "MCP_TOOL_ERROR", message: "it went wrong", unknown: false });
    expect(errorOf((await call(handler("mcp.s.echo"), { text: 3 })).outcome)).toMatchObject({ code: ErrorCode.VALIDATION, reason: "TOOL_ARGUMENTS" });
  });

  it("preview a call as exactly what a rule of it would allow", async () => {
    const { handler } = await serve({ a: program("modern"), b: { ...program("modern"), args: [PROGRAM, "modern", stateFile, "other"] } });
    const one = await preview(handler("mcp.a.echo"), { text: "x" });
    expect(one).toMatchObject({ title: 'a: echo {"text":"x"}', risk: RiskLevel.EXECUTE });
    expect((await preview(handler("mcp.a.echo"), { text: "x" })).ruleKey).toBe(one.ruleKey);
    const keys = [
      one.ruleKey,
      (await preview(handler("mcp.a.echo"), { text: "y" })).ruleKey,
      (await preview(handler("mcp.a.instance"), { text: "x" })).ruleKey,
      (await preview(handler("mcp.b.echo"), { text: "x" })).ruleKey,
    ];
    expect(new Set(keys).size).toBe(4);
    const other = await preview(handler("mcp.b.echo"), { text: "x" });
    expect(errorOf((await call(handler("mcp.a.echo"), { text: "x" }, { previewed: other })).outcome).reason).toBe("TOOL_CHANGED");
  });

  it("lose a question that waits where they are started anew, and say that it is not known what came of the call", async () => {
    const { handler } = await serve({ s: program("legacy") });
    const { outcome } = await call(handler("mcp.s.ask"));
    if (outcome.case !== "inputRequired") throw new Error(`it ended as ${outcome.case}`);
    await call(handler("mcp.s.die"));
    const lost = errorOf((await call(handler("mcp.s.ask"), {}, { providedInputs: ["1"], resumeJson: outcome.value.resumeJson })).outcome);
    expect(lost).toMatchObject({ reason: "INPUT_LOST", unknown: true });
  });

  it("are started through what wraps them, and are gone when it is closed", async () => {
    const wrapped: string[][] = [];
    const { tools, handler } = await serve(
      { s: program("modern") },
      {
        wrap: (argv) => {
          wrapped.push([...argv]);
          return ["env", "WRAPPED=yes", ...argv];
        },
      },
    );
    const said = (await answer(handler("mcp.s.environment"))) as { content: [{ text: string }] };
    expect(JSON.parse(said.content[0].text)).toMatchObject({ WRAPPED: "yes" });
    expect(wrapped[0]).toEqual([process.execPath, PROGRAM, "modern", stateFile]);
    expect(await processesWith(stateFile)).not.toEqual([]);
    await tools.close();
    expect(await processesWith(stateFile)).toEqual([]);
    expect(errorOf((await call(handler("mcp.s.echo"), { text: "x" })).outcome).reason).toBe("MCP_SERVER_UNAVAILABLE");
  });

  it("that can't be started are told, with the line, beside those that can", async () => {
    const { tools } = await serve({
      bad: { command: "/does/not/exist" },
      unset: { command: "x", args: ["${OPENAI_API_KEY}"] },
      quick: { command: "sh", args: ["-c", "echo no such thing >&2; exit 3"] },
      good: program("modern"),
    });
    const problems = new Map(tools.problems().map(({ server, message }) => [server, message]));
    expect([...problems.keys()].sort()).toEqual(["bad", "quick", "unset"]);
    expect(problems.get("unset")).toContain("args.0: ${OPENAI_API_KEY} may not be used");
    expect(problems.get("quick")).toContain("no such thing");
    expect(tools.handlers().length).toBeGreaterThan(5);
  });
});
