import { equal, match, notEqual } from "node:assert/strict";
import { type ConnectClient, commandHeader, createConnectClient, followEvents, withRetry } from "@forge/client";
import { StreamKind } from "@forge/protocol/common";
import type { Compose } from "./compose.ts";

const SERVICES = ["postgres", "control-plane", "executor"] as const;
const FORGE_UID = "10001";
const TURN_MS_MAX = 60_000;

/** Checks what docker-compose.yml promises of services that have just been started, which a client reaches at `url`. Errors: the first promise that is broken. */
export async function checkServices(compose: Compose, url: string): Promise<void> {
  for (const service of SERVICES) await compose.healthy(service);
  say("all are healthy");

  for (const service of ["control-plane", "executor"]) {
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
  equal(await compose.inside("executor", "sh", "-c", ask), "", "the executor can see the administrator's token");
  const client = createConnectClient({ url, token });
  try {
    const sessionId = await createSession(client);
    await takeTurn(client, sessionId, "before");
    say("a turn ends");
    await compose.kill("executor");
    await compose.healthy("executor");
    await takeTurn(client, sessionId, "after the executor was killed");
    for (const service of SERVICES) await compose.kill(service);
    for (const service of SERVICES) await compose.healthy(service);
    await takeTurn(client, sessionId, "after all were killed");
    const { messages } = await withRetry(() => client.session.readConversation({ sessionId }));
    equal(messages.length, 6, "messages in the conversation");
    say("nothing is lost when they are killed");
  } finally {
    await client.close();
  }
}

async function createSession(client: ConnectClient): Promise<string> {
  const header = commandHeader();
  return (await withRetry(() => client.session.createSession({ header, agent: { model: "demo/echo" } }))).sessionId;
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
