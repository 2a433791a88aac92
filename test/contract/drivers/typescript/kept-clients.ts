import type { ForgeClient } from "@forge/client";
import type { CallOptions } from "@forge/protocol";
import { methodsOf } from "./services.ts";

type Unary = (request: object, options?: CallOptions) => Promise<unknown>;
type Streaming = (request: object, options?: CallOptions) => AsyncIterable<unknown>;

interface Counted {
  readonly client: ForgeClient;
  /** Calls and streams that have not ended. */
  underWay(): number;
}

/**
 * Clients over lines of JSON, which are dear to start, as each is a process: one that is closed with nothing under way serves whoever opens the next one of the same
 * key. One that is closed amid a call or a stream is closed indeed.
 */
export class KeptClients {
  readonly #idle = new Map<string, Counted[]>();

  /** A client that was kept under the key, or a new one. */
  async open(key: string, start: () => Promise<ForgeClient>): Promise<ForgeClient> {
    const idle = this.#idle.get(key) ?? [];
    this.#idle.set(key, idle);
    const counted = idle.pop() ?? count(await start());
    const end = async (): Promise<void> => {
      if (counted.underWay() > 0) await counted.client.close();
      else idle.push(counted);
    };
    let ended: Promise<void> | undefined;
    return { ...counted.client, close: () => (ended ??= end()) };
  }

  /** Closes all that wait for someone. */
  async close(): Promise<void> {
    const kept = [...this.#idle.values()].flat();
    this.#idle.clear();
    await Promise.all(kept.map(({ client }) => client.close()));
  }
}

/** The client, with a count of what it does. */
function count(client: ForgeClient): Counted {
  let underWay = 0;
  const services: Record<string, Record<string, Unary | Streaming>> = {};
  for (const { property, method } of methodsOf("json-lines").values()) {
    const service = (services[property] ??= {});
    const call = (client[property as "session"] as unknown as Record<string, Unary | Streaming>)[method.localName];
    const unary: Unary = async (...asked) => {
      underWay++;
      try {
        return await (call as Unary)(...asked);
      } finally {
        underWay--;
      }
    };
    const streaming: Streaming = async function* (...asked) {
      underWay++;
      try {
        yield* (call as Streaming)(...asked);
      } finally {
        underWay--;
      }
    };
    service[method.localName] = method.methodKind === "unary" ? unary : streaming;
  }
  return { client: { ...services, close: () => client.close() } as unknown as ForgeClient, underWay: () => underWay };
}
