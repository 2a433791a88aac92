import { setTimeout as delay } from "node:timers/promises";
import type { Wakeup } from "@forge/engine/ports";
import pg from "pg";
import { clientConfig, type PostgresConnection } from "../database.ts";
import { CHANNEL, decodeWakeups } from "./payload.ts";

const PAUSE_MS_MIN = 50;
const PAUSE_MS_MAX = 5_000;
/** A connection whose other end has vanished without a word is found by asking. */
const PROBE_INTERVAL_MS = 30_000;

interface Listener {
  readonly connection: PostgresConnection;
  /** The name whose own wake-ups are passed over. */
  readonly name: string;
  readonly onWakeups: (wakeups: readonly Wakeup[]) => void;
  /** Told when it begins and when it ceases to hear others. */
  readonly onHearing: (hears: boolean) => void;
  /** Another store of this database said something. */
  readonly onPeer: () => void;
  /** Listening for the first time. */
  readonly onListening: () => void;
  /** Listening again: what was sent in between is lost. */
  readonly onReconnect: () => void;
}

/** Listens on a connection of its own until the signal aborts; a lost one is replaced, with a pause that grows. */
export async function listen(listener: Listener, signal: AbortSignal): Promise<void> {
  let pauseMs = PAUSE_MS_MIN;
  let onReady = listener.onListening;
  while (!signal.aborted) {
    const client = new pg.Client({ ...clientConfig(listener.connection), application_name: "forge listener" });
    const lost = new AbortController();
    client.on("error", () => lost.abort());
    client.on("end", () => lost.abort());
    client.on("notification", ({ payload }) => {
      const wakeups = decodeWakeups(listener.name, payload ?? "");
      if (wakeups === undefined) return;
      listener.onPeer();
      if (wakeups.length > 0) listener.onWakeups(wakeups);
    });
    try {
      await client.connect();
      await client.query(`listen ${CHANNEL}`);
      pauseMs = PAUSE_MS_MIN;
    } catch {
      // The same as losing it later: the next attempt comes after a pause, for as long as somebody wants to listen.
      lost.abort();
    }
    if (!signal.aborted && !lost.signal.aborted) {
      listener.onHearing(true);
      onReady();
      onReady = listener.onReconnect;
      await untilAborted(client, AbortSignal.any([signal, lost.signal]), () => lost.abort());
    }
    listener.onHearing(false);
    // Ending a connection that is lost already has nothing to tell.
    await client.end().catch(() => undefined);
    // An abort ends the pause by rejecting; the loop looks at the signal itself.
    if (lost.signal.aborted) await delay(pauseMs, undefined, { signal }).catch(() => undefined);
    pauseMs = Math.min(pauseMs * 2, PAUSE_MS_MAX);
  }
}

async function untilAborted(client: pg.Client, signal: AbortSignal, onLost: () => void): Promise<void> {
  const probe = setInterval(() => void client.query("select 1").catch(onLost), PROBE_INTERVAL_MS);
  await new Promise<void>((resolve) => {
    if (signal.aborted) resolve();
    signal.addEventListener("abort", () => resolve(), { once: true });
  });
  clearInterval(probe);
}
