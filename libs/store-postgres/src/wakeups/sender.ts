import type { Wakeup } from "@forge/engine/ports";
import { sql } from "kysely";
import { Database, type PostgresConnection } from "../database.ts";
import { CHANNEL, encodeHello, encodeWakeups } from "./payload.ts";
import type { Peers } from "./peers.ts";

/** Streams whose wake-ups may wait for the one that is being sent. Beyond that they are dropped, and the others are told so. */
const PENDING_MAX = 10_000;
const LOST: Wakeup = { namespace: "", streamId: "", seq: 0, routes: [] };

interface Pending {
  readonly namespace: string;
  readonly streamId: string;
  seq: number;
  readonly routes: Set<string>;
}

/** Sends wake-ups from a connection of its own; what comes while one batch is under way goes together in the next. */
export class WakeupSender {
  readonly #name: string;
  readonly #peers: Peers;
  #greets = false;
  /** Wake-ups that somebody may have waited for were not sent. */
  #lost = false;
  readonly #database: Database;
  readonly #pending = new Map<string, Pending>();
  #sending: Promise<void> | undefined;
  #closed = false;

  constructor(name: string, connection: PostgresConnection, named: boolean, peers: Peers) {
    this.#name = name;
    this.#peers = peers;
    this.#database = new Database(connection, { max: 1, named });
  }

  wake(wakeups: readonly Wakeup[]): void {
    if (this.#closed || !this.#peers.present) return;
    for (const { namespace, streamId, seq, routes } of wakeups) {
      const key = `${streamId} ${namespace}`;
      const pending = this.#pending.get(key);
      if (pending !== undefined) {
        pending.seq = Math.max(pending.seq, seq);
        for (const route of routes) pending.routes.add(route);
      } else if (this.#pending.size < PENDING_MAX) {
        this.#pending.set(key, { namespace, streamId, seq, routes: new Set(routes) });
      } else this.#lost = true;
    }
    this.#sending ??= this.#drain();
  }

  /** Tells the others that this replica listens; to those that are new to it, that it has sent no wake-ups until now. */
  hello(isNews = false): void {
    if (this.#closed) return;
    this.#greets = true;
    this.#lost ||= isNews;
    this.#sending ??= this.#drain();
  }

  async #drain(): Promise<void> {
    // The wake-ups of one turn of the event loop go together.
    await Promise.resolve();
    while (this.#pending.size > 0 || this.#greets) {
      const wakeups = [...this.#pending.values()].map(({ routes, ...wakeup }) => ({ ...wakeup, routes: [...routes] }));
      this.#pending.clear();
      if (this.#lost) wakeups.push({ ...LOST, routes: [] });
      const hadLost = this.#lost;
      this.#lost = false;
      const payloads = this.#greets ? [encodeHello(this.#name), ...encodeWakeups(this.#name, wakeups)] : encodeWakeups(this.#name, wakeups);
      this.#greets = false;
      try {
        await this.#database.run("forge_wake", sql`select pg_notify(${CHANNEL}, payload) from unnest(${payloads}::text[]) as p(payload)`);
      } catch {
        // Wake-ups are hints: whoever missed these polls, and is told so with the next that can be sent. A reconnection comes with those.
        this.#lost ||= hadLost || wakeups.length > 0;
      }
    }
    this.#sending = undefined;
  }

  async close(): Promise<void> {
    this.#closed = true;
    await this.#sending;
    await this.#database.close();
  }
}
