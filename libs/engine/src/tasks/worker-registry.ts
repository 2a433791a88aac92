import { fromBinary } from "@bufbuild/protobuf";
import type { ToolSpec } from "@forge/protocol/tool";
import { CapabilitySchema } from "@forge/protocol/worker";
import type { Store, StoredWorker } from "../ports/index.ts";
import { capabilityName, routeOf } from "../stream/routes.ts";

interface Served {
  readonly workers: readonly StoredWorker[];
  /** By queue, in order of tool name. */
  readonly tools: ReadonlyMap<string, readonly ToolSpec[]>;
  readonly routes: ReadonlySet<string>;
}

const NOTHING: Served = { workers: [], tools: new Map(), routes: new Set() };

/** The routes that a worker serves. */
export function routesOf(worker: StoredWorker): readonly string[] {
  const routes = new Set<string>();
  for (const bytes of worker.capabilities) {
    const name = capabilityName(fromBinary(CapabilitySchema, bytes));
    if (name === undefined) continue;
    // A task names the model, a capability the provider: both end at the provider's route.
    for (const queue of worker.queues) routes.add(routeOf(queue, name));
  }
  return [...routes];
}

function served(workers: readonly StoredWorker[]): Served {
  const tools = new Map<string, Map<string, ToolSpec>>();
  const routes = new Set<string>();
  for (const worker of workers) {
    for (const route of routesOf(worker)) routes.add(route);
    for (const bytes of worker.capabilities) {
      const { tool } = fromBinary(CapabilitySchema, bytes);
      if (tool === undefined) continue;
      for (const queue of worker.queues) {
        const byName = tools.get(queue) ?? new Map<string, ToolSpec>();
        // Two workers with one tool: the first by name counts, so that every replica sees the same.
        if (!byName.has(tool.name)) byName.set(tool.name, tool);
        tools.set(queue, byName);
      }
    }
  }
  const sorted = new Map([...tools].map(([queue, byName]) => [queue, [...byName.values()].sort((a, b) => (a.name < b.name ? -1 : 1))]));
  return { workers, tools: sorted, routes };
}

/** Who serves what, as this replica knows it; refreshed when a worker joins here, and every few seconds. */
export class WorkerRegistry {
  readonly #store: Store;
  readonly #served = new Map<string, Served>();
  readonly #first = Promise.withResolvers<void>();

  constructor(store: Store) {
    this.#store = store;
  }

  /** Resolves once a live worker is known. */
  get firstWorker(): Promise<void> {
    return this.#first.promise;
  }

  async refresh(namespace: string): Promise<void> {
    const workers = [...(await this.#store.liveWorkers(namespace))].sort((a, b) => (a.name < b.name ? -1 : 1));
    this.#served.set(namespace, served(workers));
    if (workers.length > 0) this.#first.resolve();
  }

  /** Resolves once it is known who serves what in a namespace; at once where it was known before. */
  async know(namespace: string): Promise<void> {
    if (!this.#served.has(namespace)) await this.refresh(namespace);
  }

  /** Every live worker's session, and whether it drains. */
  sessions(): ReadonlyMap<string, boolean> {
    return new Map([...this.#served.values()].flatMap(({ workers }) => workers.map((worker) => [worker.sessionId, worker.draining] as const)));
  }

  async refreshAll(): Promise<void> {
    for (const namespace of this.#served.keys()) await this.refresh(namespace);
  }

  toolsOf(namespace: string, queue: string): readonly ToolSpec[] {
    return (this.#served.get(namespace) ?? NOTHING).tools.get(queue) ?? [];
  }

  /** Whether a live worker of the queue serves a capability, as this replica knows it. */
  isKnownToServe(namespace: string, queue: string, capability: string): boolean {
    return this.#served.get(namespace)?.routes.has(routeOf(queue, capability)) === true;
  }

  /** Whether a live worker of the queue serves a capability; asks the store again before it says no. */
  async serves(namespace: string, queue: string, capability: string): Promise<boolean> {
    const route = routeOf(queue, capability);
    if (this.#served.get(namespace)?.routes.has(route) === true) return true;
    await this.refresh(namespace);
    return this.#served.get(namespace)?.routes.has(route) === true;
  }

  /** What the queue's live workers serve with a prefix, for messages: "model:" or "function:". */
  capabilities(namespace: string, queue: string, prefix: string): readonly string[] {
    const start = `${queue} ${prefix}`;
    return [...(this.#served.get(namespace)?.routes ?? [])]
      .filter((route) => route.startsWith(start))
      .map((route) => route.slice(start.length))
      .sort();
  }

  find(namespace: string, sessionId: string): StoredWorker | undefined {
    return this.#served.get(namespace)?.workers.find((worker) => worker.sessionId === sessionId);
  }
}
