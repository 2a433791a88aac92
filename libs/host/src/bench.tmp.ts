import { startEmbedded } from "../../store-postgres/src/embedded/start-embedded.ts";
import { createPostgresStore, migrate } from "@forge/store-postgres";
import { createControlPlane } from "@forge/engine";
import { createLocalClient, commandHeader } from "@forge/client";
import { startExecutor } from "./executor.ts";
import { pino } from "pino";
const logger = pino({ level: "warn" });
const server = await startEmbedded({ dataDirectory: "/tmp/smoke/data" });
await migrate(server.connection);
const store = await createPostgresStore(server.connection);
const apis = await createControlPlane({ store, onProblem: (e, w) => logger.error({ err: e, w }) });
const port = createLocalClient(apis, { namespace: "default", principal: "worker:x" });
const ex = await startExecutor({ port, name: "ex", queues: ["default"], workspace: "/tmp", environment: process.env, logger });
const client = createLocalClient(apis, { namespace: "default", principal: "cli" });
async function measure(name: string, n: number, conc: number, f: (i: number) => Promise<unknown>) {
  let i = 0; const lat: number[] = []; const t = performance.now(); const cpu = process.cpuUsage();
  await Promise.all(Array.from({ length: conc }, async () => { while (i < n) { const k = i++; const a = performance.now(); await f(k); lat.push(performance.now() - a); } }));
  const s = (performance.now() - t) / 1000; lat.sort((a, b) => a - b); const c = process.cpuUsage(cpu);
  console.log(name, (n / s).toFixed(0) + "/s", "p50", lat[n >> 1]!.toFixed(2), "p99", lat[Math.floor(n * .99)]!.toFixed(2), "cpu us/op", ((c.user + c.system) / n).toFixed(0));
}
await measure("createSession", 20000, 32, () => client.session.createSession({ header: commandHeader(), agent: { model: "demo/echo" } }));
const ss = await Promise.all(Array.from({ length: 64 }, () => client.session.createSession({ header: commandHeader(), agent: { model: "demo/echo" } })));
async function turn(id: string) {
  const stop = new AbortController();
  const { session } = await client.session.getSessionSnapshot({ sessionId: id });
  const sub = (async () => { for await (const r of client.event.subscribeEvents({ streams: [{ stream: { kind: 1, id }, afterSeq: session!.seq }] }, { signal: stop.signal })) if (r.kind.case === "event" && r.kind.value.kind.startsWith("turn.completed")) { stop.abort(); return; } })();
  await client.session.startTurn({ header: commandHeader(), sessionId: id, input: [{ kind: { case: "text", value: { text: "hi" } } }] });
  await sub;
}


await ex.stop(); await apis.close(); await store.close(); await server.stop();
