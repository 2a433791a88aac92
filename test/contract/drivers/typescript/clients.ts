import { createHash } from "node:crypto";
import { type ConnectClient, createClient, createLocalClient, type ForgeClient } from "@forge/client";
import { type ControlPlane, createControlPlane } from "@forge/engine";
import type { Store } from "@forge/engine/ports";
import type { OpenClient } from "@forge/protocol/contract";
import { createPostgresStore } from "@forge/store-postgres";
import { startJsonLines } from "../../../harness/clients.ts";
import { LEASE_TTL_MS, NAMESPACE, SUBSCRIBER_BYTES_MAX } from "../../suite/limits.ts";
import type { ImplementationName } from "./implementations.ts";
import { KeptClients } from "./kept-clients.ts";

/** A client of the implementation, as a program makes it. */
export async function openClient(implementation: ImplementationName, options: OpenClient): Promise<ForgeClient | ConnectClient> {
  const { url, token, ephemeral } = options;
  const namespace = options.namespace === "" ? undefined : options.namespace;
  if (implementation === "local") return openLocal(options);
  if (implementation === "json-lines") {
    const start = () => startJsonLines({ url, token });
    return ephemeral ? start() : kept.open(`${url} ${token}`, start);
  }
  return createClient({ url, token, namespace, transport: implementation });
}

/** Of the servers that the cases share: a process of `forge rpc` takes a third of a second to start. */
const kept = new KeptClients();

interface Replica {
  readonly store: Store;
  readonly engine: ControlPlane;
}

/** One control plane in this process for each database, however many clients it has. */
const replicas = new Map<string, Promise<Replica>>();

async function openLocal({ databaseUrl, token, namespace }: OpenClient): Promise<ConnectClient> {
  const starting = replicas.get(databaseUrl) ?? startReplica(databaseUrl);
  replicas.set(databaseUrl, starting);
  const { store, engine } = await starting;
  const principal = await store.findPrincipal(createHash("sha256").update(token).digest());
  return createLocalClient(engine, { namespace: namespace === "" ? NAMESPACE : namespace, principal: principal?.id ?? "nobody", role: principal?.role });
}

async function startReplica(connectionString: string): Promise<Replica> {
  const store = await createPostgresStore({ connectionString });
  const engine = await createControlPlane({
    store,
    leaseTtlMs: LEASE_TTL_MS,
    subscriberBytesMax: SUBSCRIBER_BYTES_MAX,
    onProblem: (error, where) => console.error(where, error),
  });
  return { store, engine };
}

/** Ends what clients share, once they are closed. */
export async function closeShared(): Promise<void> {
  await kept.close();
  for (const starting of replicas.values()) {
    const { store, engine } = await starting;
    await engine.close();
    await store.close();
  }
}
