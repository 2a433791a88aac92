import { mkdtemp, rm } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import { Child } from "../server/child.ts";
import { peerProgram } from "./install.ts";
import type { RecoverablePeer } from "./peer.ts";

const READY_MS_MAX = 60_000;
const HOST = "127.0.0.1";

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, HOST, resolve));
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  if (address === null || typeof address === "string") throw new Error("no port was given");
  return address.port;
}

/** Resolves once the call succeeds. Throws its last error after a minute. */
async function untilSucceeds(call: () => Promise<void>): Promise<void> {
  const deadline = performance.now() + READY_MS_MAX;
  for (;;) {
    try {
      return await call();
    } catch (error) {
      if (performance.now() > deadline) throw error;
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }
}

async function post(url: string, body: object): Promise<unknown> {
  const headers = { "content-type": "application/json", accept: "application/json" };
  const response = await fetch(url, { method: "POST", headers, body: JSON.stringify(body), signal: AbortSignal.timeout(READY_MS_MAX) });
  if (!response.ok) throw new Error(`${url} answered ${response.status}: ${await response.text()}`);
  return await response.json();
}

/** Its server with its own defaults, which flush its log to the disk before they answer; a service; and a client, each in a process of its own. */
export async function openRestate(log?: string): Promise<RecoverablePeer> {
  const cleanup = new AsyncDisposableStack();
  try {
    const directory = await mkdtemp(path.join(tmpdir(), "forge-bench-restate-"));
    cleanup.defer(() => rm(directory, { recursive: true, force: true, maxRetries: 5 }));
    const [ingress, admin, node, port] = await Promise.all([freePort(), freePort(), freePort(), freePort()]);
    const adminUrl = `http://${HOST}:${admin}`;
    const settings = {
      RESTATE_INGRESS__BIND_ADDRESS: `${HOST}:${ingress}`,
      RESTATE_ADMIN__BIND_ADDRESS: `${HOST}:${admin}`,
      RESTATE_BIND_ADDRESS: `${HOST}:${node}`,
      RESTATE_NODE_NAME: "bench",
      RESTATE_BASE_DIR: path.join(directory, "data"),
      RESTATE_DISABLE_TELEMETRY: "true",
      // Whether there is a newer release is nothing to complain about where there is no network.
      RESTATE_LOG_FILTER: "error,octocrab=off",
    };
    const openServer = () => Child.start<{ readonly type: "ready"; readonly pid: number }>(peerProgram("restate-server"), {}, settings);
    const openService = () => Child.start(peerProgram("restate-service"), { port, log });
    let server = await openServer();
    cleanup.defer(() => killServer());
    let service = await openService();
    cleanup.defer(() => service.stop());
    const client = await Child.start(peerProgram("restate-client"), { ingressUrl: `http://${HOST}:${ingress}` });
    cleanup.defer(() => client.stop());

    const killServer = async (): Promise<void> => {
      const { pid } = server.ready;
      try {
        process.kill(pid, "SIGKILL");
      } catch {
        // It has ended.
      }
      await server.exited();
    };
    const query = async (text: string): Promise<number> => {
      const { rows } = (await post(`${adminUrl}/query`, { query: text })) as { readonly rows: readonly { readonly count: number }[] };
      return rows[0]?.count ?? Number.NaN;
    };
    const completed = () => query("select count(*) as count from sys_invocation where status = 'completed' and completion_result = 'success'");
    const steps = () => query("select count(*) as count from sys_journal where name like 'step_%'");
    await untilSucceeds(async () => void (await completed()));
    await untilSucceeds(async () => void (await post(`${adminUrl}/deployments`, { uri: `http://${HOST}:${port}` })));

    return {
      name: "Restate",
      round: async (load) => {
        const before = { runs: await completed(), steps: await steps() };
        const { round } = await client.ask({ type: "round", ...load });
        const held = { runs: (await completed()) - before.runs, steps: (await steps()) - before.steps };
        if (held.runs !== round.count || held.steps !== round.count * load.steps)
          throw new Error(`${round.count} runs of ${load.steps} steps were counted, and the server holds ${JSON.stringify(held)}`);
        return round;
      },
      start: async (ids, count) => void (await client.ask({ type: "start", ids, steps: count })),
      kill: async () => {
        await Promise.all([killServer(), service.kill()]);
      },
      restart: async () => {
        [server, service] = await Promise.all([openServer(), openService()]);
      },
      completed,
      close: () => cleanup.disposeAsync(),
    };
  } catch (error) {
    await cleanup.disposeAsync();
    throw error;
  }
}
