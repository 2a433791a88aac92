import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { type ConnectClient, createConnectClient } from "@forge/client";
import { newToken } from "@forge/host";
import type { PostgresConnection } from "@forge/store-postgres";
import { Child } from "../../harness/child.ts";
import { freePorts, startCluster } from "../../harness/cluster.ts";
import { linesOf } from "../../harness/lines.ts";
import type { OneProcessConfig } from "../../harness/one-process-entry.ts";
import { LEASE_TTL_MS, NAMESPACE, SUBSCRIBER_BYTES_MAX } from "./limits.ts";

const STOP_MS_MAX = 20_000;

/** Servers that run, for every case of the matrix. */
export interface RunningTopology {
  readonly urls: readonly string[];
  readonly token: string;
  readonly workerToken: string;
  /** For a client that brings its own control plane. */
  readonly databaseUrl: string;
  /** Of the last server, so that what a client did at the first one is seen from another replica where there is one. */
  readonly reference: ConnectClient;
  /** What the servers have written of late. */
  log(): readonly string[];
  /** How often each tool call had its effect. */
  effects(): Promise<ReadonlyMap<string, number>>;
  /** kill -9 of every control plane and executor, and their start on the same ports. */
  restart(): Promise<void>;
  close(): Promise<void>;
}

/** A way to run the servers. */
export interface Topology {
  readonly name: string;
  start(): Promise<RunningTopology>;
}

export const TOPOLOGIES: readonly Topology[] = [
  { name: "one process on the embedded database", start: startOneProcess },
  { name: "two control planes on PostgreSQL", start: startTwoControlPlanes },
];

async function startOneProcess(): Promise<RunningTopology> {
  const directory = await mkdtemp(path.join(tmpdir(), "forge-contract-"));
  const workspace = path.join(directory, "workspace");
  await mkdir(workspace);
  const [port] = (await freePorts(1)) as [number];
  const [token, workerToken] = [newToken(), newToken()];
  const effectsFile = path.join(directory, "effects");
  const config: OneProcessConfig = {
    dataDirectory: path.join(directory, "data"),
    port,
    leaseTtlMs: LEASE_TTL_MS,
    subscriberBytesMax: SUBSCRIBER_BYTES_MAX,
    namespace: NAMESPACE,
    token,
    workerToken,
    workspace,
    effectsFile,
  };
  const start = () => Child.start<{ readonly connection: PostgresConnection }>("one-process-entry.ts", config);
  let running = await start();
  const url = `http://127.0.0.1:${port}`;
  const reference = createConnectClient({ url, token });
  return {
    urls: [url],
    token,
    workerToken,
    databaseUrl: urlOf(running.ready.connection),
    reference,
    log: () => running.child.log,
    effects: () => effectsIn(effectsFile),
    restart: async () => {
      await running.child.kill();
      running = await start();
    },
    close: async () => {
      await reference.close();
      // In peace, so that the database has ended with it and its files can go.
      const { child } = running;
      const late = setTimeout(() => child.signal("SIGKILL"), STOP_MS_MAX);
      await child.stop();
      clearTimeout(late);
      await rm(directory, { recursive: true, force: true });
    },
  };
}

async function startTwoControlPlanes(): Promise<RunningTopology> {
  const cluster = await startCluster({ controlPlanes: 2, executors: 2, leaseTtlMs: LEASE_TTL_MS, subscriberBytesMax: SUBSCRIBER_BYTES_MAX });
  const services = [cluster.controlPlanes, cluster.executors];
  return {
    urls: cluster.urls,
    token: cluster.clientToken,
    workerToken: cluster.workerToken,
    databaseUrl: urlOf(cluster.database.connection),
    reference: cluster.clients.at(-1) as ConnectClient,
    log: () => services.flat().flatMap((service) => service.log),
    effects: () => cluster.effects(),
    restart: async () => {
      await Promise.all(services.flat().map((service) => service.kill()));
      for (const group of services) await Promise.all(group.map((service) => service.start()));
    },
    close: () => cluster.close(),
  };
}

async function effectsIn(file: string): Promise<ReadonlyMap<string, number>> {
  const counts = new Map<string, number>();
  for (const line of await linesOf(file)) counts.set(line, (counts.get(line) ?? 0) + 1);
  return counts;
}

/** The connection as a driver is told of it. */
function urlOf({ connectionString, host = "", port, user = "", database = "" }: PostgresConnection): string {
  if (connectionString !== undefined) return connectionString;
  return `postgresql://${user}@localhost:${port}/${database}?host=${encodeURIComponent(host)}`;
}
