import { equal, match, notEqual, ok } from "node:assert/strict";
import { type ConnectClient, commandHeader, createConnectClient, followEvents, withRetry } from "@forge/client";
import { StreamKind } from "@forge/protocol/common";
import { Decision } from "@forge/protocol/tool";
import type { Compose } from "./compose.ts";

const SERVICES = ["postgres", "control-plane", "executor", "models"] as const;
/** Those whose images are Forge's. */
const OWN = ["control-plane", "executor", "models"] as const;
const FORGE_UID = "10001";
const TURN_MS_MAX = 60_000;
const ECHO = { agent: { model: "demo/echo" } };
/** Its model does what its message says. */
const WITH_TOOLS = { agent: { model: "demo/script", tools: ["tools.file", "tools.shell"] }, policy: { defaultDecision: Decision.ALLOW } };

/**
 * Checks what docker-compose.yml promises of services that have just been started, which a client reaches at `url`; `modelKey` is a key of a model's provider that the
 * service of models was given. Errors: the first promise that is broken.
 */
export async function checkServices(compose: Compose, url: string, modelKey: string): Promise<void> {
  for (const service of SERVICES) await compose.healthy(service);
  say("all are healthy");

  for (const service of OWN) {
    equal(await compose.inside(service, "id", "-u"), FORGE_UID, `${service} must not run as root`);
    equal(
      await compose.inside(service, "sh", "-c", "touch /opt/forge/x 2>/dev/null || echo refused"),
      "refused",
      `${service} can write to its root file system`,
    );
    match(await compose.inside(service, "grep", "CapEff", "/proc/1/status"), /0000000000000000$/, `${service} has capabilities`);
  }
  say("neither root nor capabilities, and nothing can be written but volumes");

  for (const service of SERVICES) {
    const ports = await compose.inspect(
      service,
      "{{range $port, $bound := .NetworkSettings.Ports}}{{range $bound}}{{.HostIp}}:{{.HostPort}}->{{$port}} {{end}}{{end}}",
    );
    equal(ports.trim(), service === "control-plane" ? `${new URL(url).host}->7233/tcp` : "", `ports of ${service}`);
  }
  say("one port, for this machine only");

  const token = await compose.inside("control-plane", "cat", "/var/lib/forge/tokens/admin");
  notEqual(token, await compose.inside("executor", "cat", "/var/lib/forge/worker-token/token"));
  const ask = "ls /var/lib/forge/tokens 2>/dev/null || true";
  for (const service of ["executor", "models"] as const)
    equal(await compose.inside(service, "sh", "-c", ask), "", `${service} can see the administrator's token`);
  const client = createConnectClient({ url, token });
  try {
    const sessionId = await createSession(client, ECHO);
    await takeTurn(client, sessionId, "before");
    say("a turn ends");
    await checkTools(compose, client, modelKey);
    say("tools work in the workspace, and see no key of a model's provider");
    await compose.kill("models");
    await compose.healthy("models");
    await takeTurn(client, sessionId, "after the service of models was killed");
    for (const service of SERVICES) await compose.kill(service);
    for (const service of SERVICES) await compose.healthy(service);
    await takeTurn(client, sessionId, "after all were killed");
    const { messages } = await withRetry(() => client.session.readConversation({ sessionId }));
    equal(messages.length, 6, "messages in the conversation");
    await checkTools(compose, client, modelKey);
    say("nothing is lost when they are killed");
  } finally {
    await client.close();
  }
}

async function createSession(client: ConnectClient, options: typeof ECHO | typeof WITH_TOOLS): Promise<string> {
  const header = commandHeader();
  return (await withRetry(() => client.session.createSession({ header, ...options }))).sessionId;
}

/** A turn that writes a file and runs a command, which prints the file, who it is, and all that its environment says. */
async function checkTools(compose: Compose, client: ConnectClient, modelKey: string): Promise<void> {
  const sessionId = await createSession(client, WITH_TOOLS);
  const write = { call: "tools.file", arguments: { operation: "write", path: "compose-check.txt", content: "written by a tool" } };
  const run = { call: "tools.shell", arguments: { command: "cat compose-check.txt && echo && id -u && env && cat /proc/*/environ 2>/dev/null; exit 0" } };
  await takeTurn(client, sessionId, JSON.stringify([[write], [run], [{ text: "done" }]]));
  equal(await compose.inside("executor", "cat", "/workspace/compose-check.txt"), "written by a tool");
  const { messages } = await withRetry(() => client.session.readConversation({ sessionId }));
  const said = JSON.stringify(messages, (_, value: unknown) => (typeof value === "bigint" ? String(value) : value));
  ok(said.includes(`written by a tool\\\\n${FORGE_UID}`), `the command did not run as it should: ${said}`);
  ok(!said.includes(modelKey), "a command sees the key of a model's provider");
}

/** Says something, and waits for the end of the turn. */
async function takeTurn(client: ConnectClient, sessionId: string, text: string): Promise<void> {
  const header = commandHeader();
  const input = [{ kind: { case: "text" as const, value: { text } } }];
  const { turnId } = await withRetry(() => client.session.startTurn({ header, sessionId, input }));
  const streams = [{ stream: { kind: StreamKind.SESSION, id: sessionId } }];
  for await (const followed of followEvents(client, { streams, signal: AbortSignal.timeout(TURN_MS_MAX) })) {
    if (followed.kind !== "event" || followed.event.turnId !== turnId) continue;
    if (followed.event.kind === "turn.completed") return;
    if (/^turn\.(failed|cancelled|abandoned)$/.test(followed.event.kind)) break;
  }
  throw new Error(`the turn "${text}" did not complete`);
}

function say(line: string): void {
  console.log(`ok: ${line}`);
}
