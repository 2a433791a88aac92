import { mkdir, mkdtemp, rm } from "node:fs/promises";
import net from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import { type ConnectClient, createConnectClient } from "@forge/client";
import type { Store } from "@forge/engine/ports";
import { grant, newToken } from "@forge/host";
import { createPostgresStore } from "@forge/store-postgres";
import type { ControlPlaneConfig } from "./control-plane-entry.ts";
import { openTestDatabase, type TestDatabase } from "./database.ts";
import { type Inspector, openInspector } from "./inspector.ts";
import { linesOf } from "./lines.ts";
import { Service } from "./service.ts";

export const NAMESPACE = "default";

/** Short, so that a lost lease is found while a test waits. */
const LEASE_TTL_MS = 3_000;

export interface ClusterOptions {
  /** Absent: 1 of each. */
  readonly controlPlanes?: number;
  /** Executor n talks to control plane n. */
  readonly executors?: number;
  readonly leaseTtlMs?: number;
  /** Bytes that may wait for one subscriber; absent: the engine's default. */
  readonly subscriberBytesMax?: number;
  /** Of control planes of other versions, by their index. */
  readonly formats?: readonly ControlPlaneConfig["formats"][];
  /** Of the executors, beside what they need. */
  readonly environment?: Readonly<Record<string, string>>;
}

/** A database, control planes and executors, each in a process of its own. */
export interface Cluster {
  readonly database: TestDatabase;
  readonly store: Store;
  readonly inspector: Inspector;
  readonly controlPlanes: readonly Service[];
  readonly executors: readonly Service[];
  readonly urls: readonly string[];
  /** One for each control plane, with a client's credential. */
  readonly clients: readonly ConnectClient[];
  /** The first client. */
  readonly client: ConnectClient;
  readonly clientToken: string;
  readonly workerToken: string;
  readonly workspace: string;
  /** How often each call had its effect. */
  effects(): Promise<ReadonlyMap<string, number>>;
  close(): Promise<void>;
}

export async function startCluster(options: ClusterOptions = {}): Promise<Cluster> {
  const cleanup = new AsyncDisposableStack();
  try {
    const directory = await mkdtemp(path.join(tmpdir(), "forge-cluster-"));
    cleanup.defer(() => rm(directory, { recursive: true, force: true }));
    const workspace = path.join(directory, "workspace");
    await mkdir(workspace);
    const effectsFile = path.join(directory, "effects");
    const database = await openTestDatabase();
    cleanup.defer(() => database.close());
    const { connection } = database;
    const store = await createPostgresStore(connection);
    cleanup.defer(() => store.close());
    const inspector = await openInspector(connection);
    cleanup.defer(() => inspector.close());
    const clientToken = newToken();
    const workerToken = newToken();
    await grant(store, clientToken, { id: "tester", role: "admin", namespaces: [NAMESPACE], queues: [] });
    await grant(store, workerToken, { id: "worker:tester", role: "worker", namespaces: [NAMESPACE], queues: [] });

    const ports = await freePorts(options.controlPlanes ?? 1);
    const leaseTtlMs = options.leaseTtlMs ?? LEASE_TTL_MS;
    const controlPlanes = ports.map((port, index) => {
      const config: ControlPlaneConfig = {
        connection,
        port,
        leaseTtlMs,
        subscriberBytesMax: options.subscriberBytesMax,
        formats: options.formats?.[index],
      };
      return new Service("control-plane-entry.ts", config);
    });
    for (const service of controlPlanes) cleanup.defer(() => service.kill());
    await Promise.all(controlPlanes.map((service) => service.start()));
    const urls = ports.map((port) => `http://127.0.0.1:${port}`);

    const executors = Array.from({ length: options.executors ?? 1 }, (_, index) => {
      const url = urls[index % urls.length];
      return new Service("executor-entry.ts", {
        url,
        token: workerToken,
        name: `executor-${index}`,
        workspace,
        effectsFile,
        environment: options.environment ?? {},
      });
    });
    for (const service of executors) cleanup.defer(() => service.kill());
    await Promise.all(executors.map((service) => service.start()));

    const clients = urls.map((url) => createConnectClient({ url, token: clientToken }));
    for (const client of clients) cleanup.defer(() => client.close());
    return {
      database,
      store,
      inspector,
      controlPlanes,
      executors,
      urls,
      clients,
      client: clients[0] as ConnectClient,
      clientToken,
      workerToken,
      workspace,
      effects: async () => {
        const counts = new Map<string, number>();
        for (const line of await linesOf(effectsFile)) counts.set(line, (counts.get(line) ?? 0) + 1);
        return counts;
      },
      close: () => cleanup.disposeAsync(),
    };
  } catch (error) {
    await cleanup.disposeAsync();
    throw error;
  }
}

/** Ports below the ephemeral range, so that no outgoing connection takes one while its server is down. */
export async function freePorts(count: number): Promise<readonly number[]> {
  const ports = new Set<number>();
  while (ports.size < count) {
    const port = 20_000 + Math.floor(Math.random() * 10_000);
    if (await isFree(port)) ports.add(port);
  }
  return [...ports];
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = net.createServer();
    server.once("error", () => resolve(false));
    server.listen(port, "127.0.0.1", () => server.close(() => resolve(true)));
  });
}
