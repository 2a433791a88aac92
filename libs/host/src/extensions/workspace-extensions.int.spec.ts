import { existsSync } from "node:fs";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { commandHeader, createLocalClient, followEvents } from "@forge/client";
import { StreamKind } from "@forge/protocol/common";
import type { Event } from "@forge/protocol/event";
import { HookAt, type HookSpec } from "@forge/protocol/session";
import { Decision } from "@forge/protocol/tool";
import { createSecretSource } from "@forge/tools";
import { type ControlPlanePort, startWorker } from "@forge/worker";
import pino from "pino";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { type ProjectServer, startProjectServer } from "../project-server.ts";
import { makeDirectory, removeDirectory } from "../testing/directory.ts";
import { workspaceTrust } from "../trust/workspace-trust.ts";
import { watchEnds } from "./watch-ends.ts";
import { configDirectoryOf, readWorkspaceCode, sessionHooks } from "./workspace-code.ts";
import { startWorkspaceExtensions, type WorkspaceExtensions } from "./workspace-extensions.ts";

const REPOSITORY = path.resolve(import.meta.dirname, "../../../..");
const PROGRAM = path.join(REPOSITORY, "libs/tools/src/mcp/testing/mcp-program.ts");
const PATIENCE_MS = 20_000;
const ENDS = new Set(["turnCompleted", "turnFailed", "turnCancelled", "turnAbandoned"]);

const HOOKS = `[[hook]]
name = "no-secrets"
at = ["before_tool"]
tools = ["mcp.*"]
command = ["sh", "-c", "if grep -q 'the secret'; then echo no secrets >&2; exit 2; fi"]

[[hook]]
name = "polite"
at = ["on_user_message"]
command = ["sh", "-c", "if grep -q rudely; then echo be polite >&2; exit 2; fi"]

[[hook]]
name = "note"
at = ["on_turn_end"]
command = ["sh", "-c", "cat >> ended.jsonl; echo >> ended.jsonl"]
`;

const logger = pino({ level: "silent" });
const cleanup = new AsyncDisposableStack();
let root: string;
let state: string;
let server: ProjectServer;
let extensions: WorkspaceExtensions;
let hooks: HookSpec[];
const problems: unknown[] = [];
const closed: string[] = [];

beforeAll(async () => {
  root = await makeDirectory();
  cleanup.defer(() => removeDirectory(root));
  const settings = await makeDirectory();
  cleanup.defer(() => removeDirectory(settings));
  state = path.join(root, "state");
  await writeFile(state, "");
  await mkdir(path.join(root, ".forge"), { recursive: true });
  await writeFile(path.join(root, ".forge/hooks.toml"), HOOKS);
  await writeFile(path.join(root, ".mcp.json"), JSON.stringify({ mcpServers: { test: { command: process.execPath, args: [PROGRAM, "modern", state] } } }));

  server = await startProjectServer({ root, environment: {}, logger });
  cleanup.defer(() => server.close(0));
  const trust = workspaceTrust(path.join(settings, "state"));
  const before = await readWorkspaceCode(await trust.readTrust(root), settings);
  expect(before).toEqual({ mcp: undefined, hooks: undefined, userHooks: undefined });
  await trust.trust(root, (await trust.readTrust(root)).digest);
  const code = await readWorkspaceCode(await trust.readTrust(root), settings);
  hooks = sessionHooks(code);

  const port: ControlPlanePort & { close(): Promise<void> } = createLocalClient(server.service.apis, {
    namespace: "default",
    principal: "worker:test",
    role: "worker",
  });
  cleanup.defer(() => port.close());
  const onProblem = (error: unknown): void => void problems.push(error);
  const secrets = createSecretSource({ environment: {} });
  extensions = startWorkspaceExtensions({
    code,
    workspace: root,
    dataDirectory: server.dataDirectory,
    port,
    name: "mcp",
    queues: [server.queue],
    secrets,
    onProblem,
  });
  cleanup.defer(() => extensions.stop());
  const worker = await startWorker({ port, name: "hooks", queues: [server.queue], handlers: extensions.hookHandlers, slots: 4, onProblem });
  cleanup.defer(() => worker.stop());
  const ends = watchEnds({
    client: server.client,
    queue: server.queue,
    onTurnEnd: (end) => void extensions.turnEnded(end),
    onSessionEnd: (sessionId) => closed.push(sessionId),
    onProblem,
  });
  cleanup.defer(() => ends.stop());
  await extensions.ready;
}, 60_000);

afterAll(() => cleanup.disposeAsync());

/** Starts a turn of the script, and follows it to its end. `onEvent` may answer what is asked. */
async function turn(
  script: unknown[][],
  options: { on?: ProjectServer; tools?: string[]; text?: string; decision?: Decision; onEvent?: (event: Event, sessionId: string) => Promise<void> } = {},
): Promise<Event[]> {
  const { on = server, tools = ["mcp.test.echo", "mcp.test.ask"] } = options;
  const { client } = on;
  const agent = { model: "demo/script", tools, hooks };
  const policy = { defaultDecision: options.decision ?? Decision.ALLOW };
  const { sessionId } = await client.session.createSession({ header: commandHeader(), agent, policy, queue: on.queue });
  const text = `${options.text ?? ""}${JSON.stringify(script)}`;
  await client.session.startTurn({ header: commandHeader(), sessionId, input: [{ kind: { case: "text", value: { text } } }] });
  const events: Event[] = [];
  for await (const followed of followEvents(client, {
    streams: [{ stream: { kind: StreamKind.SESSION, id: sessionId } }],
    signal: AbortSignal.timeout(PATIENCE_MS),
  })) {
    if (followed.kind !== "event") continue;
    events.push(followed.event);
    await options.onEvent?.(followed.event, sessionId);
    if (ENDS.has(followed.event.payload.case ?? "")) break;
  }
  return events;
}

function payloadsOf<Case extends Event["payload"]["case"]>(events: readonly Event[], wanted: Case) {
  return events.flatMap(({ payload }) => (payload.case === wanted ? [payload.value as Extract<Event["payload"], { case: Case }>["value"]] : []));
}

const echo = (text: string) => [[{ call: "mcp.test.echo", arguments: { text } }], [{ text: "done" }]];

describe("hooks and MCP servers of a trusted workspace", () => {
  it("serve calls, and are told when the turn has ended", async () => {
    expect(problems).toEqual([]);
    const events = await turn(echo("hello"));
    expect(payloadsOf(events, "toolCompleted").map(({ output }) => output?.kind.value)).toEqual(['{"content":[{"type":"text","text":"hello"}]}']);
    const file = path.join(root, "ended.jsonl");
    await vi.waitFor(async () => {
      expect(existsSync(file)).toBe(true);
      expect(JSON.parse((await readFile(file, "utf8")).trim().split("\n").at(-1) as string)).toMatchObject({
        event: "on_turn_end",
        outcome: "completed",
        turn_outcome: "task_completed",
        text: "done",
        session_id: events[0]?.stream?.id,
      });
    }, PATIENCE_MS);
    expect((await readFile(file, "utf8")).trim().split("\n")).toHaveLength(1);
    const sessionId = events[0]?.stream?.id ?? "";
    await server.client.session.closeSession({ header: commandHeader(), sessionId });
    await vi.waitFor(() => expect(closed).toEqual([sessionId]), PATIENCE_MS);
  });

  it("deny a call, which the model is told, and go on", async () => {
    const events = await turn(echo("the secret"));
    expect(payloadsOf(events, "toolFailed")).toMatchObject([{ error: { reason: "HOOK_DENIED", message: expect.stringContaining("no secrets") } }]);
    expect(events.at(-1)?.payload.case).toBe("turnCompleted");
  });

  it("block a turn before any model is called", async () => {
    const events = await turn(echo("x"), { text: "rudely " });
    expect(payloadsOf(events, "hookCompleted")).toMatchObject([
      { hook: "project.polite", at: HookAt.USER_MESSAGE, edits: [{ kind: { case: "block", value: "be polite" } }] },
    ]);
    expect(payloadsOf(events, "modelRequested")).toEqual([]);
  });

  it("let a server's question wait for the person's answer", async () => {
    const events = await turn([[{ call: "mcp.test.ask", arguments: {} }], [{ text: "done" }]], {
      async onEvent({ payload, turnId }, sessionId) {
        if (payload.case !== "turnInputRequested") return;
        expect(payload.value.question).toContain("The MCP server test asks: Which size?");
        await server.client.session.provideInput({ header: commandHeader(), sessionId, turnId, inputId: payload.value.inputId, text: "7" });
      },
    });
    expect(payloadsOf(events, "toolCompleted").map(({ output }) => output?.kind.value)).toEqual([
      JSON.stringify({ content: [{ type: "text", text: '{"action":"accept","content":{"size":7}} state-1' }] }),
    ]);
  });

  it("refuse a call whose tool changed while a person was asked, and offer the next turn the new one", async () => {
    const events = await turn(echo("hello"), {
      decision: Decision.ASK,
      async onEvent({ payload, turnId }, sessionId) {
        if (payload.case !== "toolApprovalRequired") return;
        await writeFile(state, "changed");
        const { approvalId } = payload.value;
        await server.client.approval.resolveApproval({
          header: commandHeader(),
          stream: { kind: StreamKind.SESSION, id: sessionId },
          approvalId,
          decision: Decision.ALLOW,
        });
        expect(turnId).not.toBe("");
      },
    });
    expect(payloadsOf(events, "toolPreviewed").map(({ preview }) => preview?.title)).toEqual(['test: echo {"text":"hello"}']);
    expect(payloadsOf(events, "toolFailed")).toMatchObject([{ error: { reason: "TOOL_CHANGED", message: expect.stringContaining("mails it to somebody") } }]);
    await vi.waitFor(async () => {
      const offered = payloadsOf(await turn([[{ text: "nothing" }]]), "turnStarted")[0]?.tools.find(({ name }) => name === "mcp.test.echo");
      expect(offered?.description).toContain("mails it to somebody");
    }, PATIENCE_MS);
    const again = await turn(echo("hello"));
    expect(payloadsOf(again, "toolCompleted")).toHaveLength(1);
  });
});

describe("a project's server", () => {
  it("has them where the workspace is trusted: around built-in tools and those of its servers", async () => {
    const mcp = JSON.stringify({ mcpServers: { test: { command: process.execPath, args: [PROGRAM, "modern"] } } });
    const code = { mcp, hooks: HOOKS.replace('tools = ["mcp.*"]', 'tools = ["mcp.*", "tools.echo"]') };
    const other = await makeDirectory();
    cleanup.defer(() => removeDirectory(other));
    await mkdir(path.join(other, "functions"));
    const whole = await startProjectServer({
      root: other,
      environment: process.env,
      logger,
      isTrusted: true,
      // The server program of the test is none of the workspace, and a sandbox shows no other clone below /tmp.
      tools: { sandbox: { readable: [REPOSITORY] } },
      code,
      functionsDirectory: path.join(other, "functions"),
    });
    try {
      for (const [tool, argument] of [
        ["tools.echo", "message"],
        ["mcp.test.echo", "text"],
      ] as const) {
        const script = (text: string) => [[{ call: tool, arguments: { [argument]: text } }], [{ text: "done" }]];
        const told = await turn(script("hello"), { on: whole, tools: [tool] });
        expect(payloadsOf(told, "toolCompleted").map(({ output }) => output?.kind.value)).toEqual([expect.stringContaining("hello")]);
        const denied = await turn(script("the secret"), { on: whole, tools: [tool] });
        expect(payloadsOf(denied, "toolFailed")).toMatchObject([{ error: { reason: "HOOK_DENIED" } }]);
      }
      await vi.waitFor(async () => expect((await readFile(path.join(other, "ended.jsonl"), "utf8")).trim().split("\n")).toHaveLength(4), PATIENCE_MS);
    } finally {
      await whole.close(0);
    }
  }, 60_000);
});

it("a person's own settings are where the desktop's rules say", () => {
  expect(configDirectoryOf({ XDG_CONFIG_HOME: "/config" }, "/home/me")).toBe("/config/forge");
  expect(configDirectoryOf({}, "/home/me")).toBe("/home/me/.config/forge");
});
