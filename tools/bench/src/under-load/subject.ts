import { randomUUID } from "node:crypto";
import { type ConnectClient, commandHeader, createConnectClient, type ForgeClient } from "@forge/client";
import { StreamKind } from "@forge/protocol/common";
import type { Event } from "@forge/protocol/event";
import type pg from "pg";
import { measure } from "../load.ts";
import { type Follower, follow } from "../measurements/follow.ts";
import type { Fleet } from "../server/fleet.ts";

const WRITES_AT_ONCE = 256;
const WRITE_SECONDS_MAX = 600;

/** Something that streams can be written to and followed at by the same client: Forge, or the bare server. */
export interface Subject {
  readonly name: "forge" | "bare";
  readonly client: ConnectClient;
  /** A client with a connection of its own. */
  connect(): ConnectClient;
  /** Streams that were not there before. */
  open(count: number): Promise<string[]>;
}

/** The control plane of a fleet, and the server of handlers that do nothing in the same process. */
export function subjectsOf(fleet: Fleet): { readonly forge: Subject; readonly bare: Subject; close(): Promise<void> } {
  const subject = (name: "forge" | "bare", url: string, token: string, open: Subject["open"]): Subject => {
    const connect = () => createConnectClient({ url, token });
    return { name, client: connect(), connect, open };
  };
  const forge = subject("forge", fleet.url, fleet.clientToken, async (count) => await openSessions(fleet.client, count));
  const bare = subject("bare", fleet.bareUrl, fleet.clientToken, async (count) => Array.from({ length: count }, () => randomUUID()));
  return {
    forge,
    bare,
    close: async () => {
      await forge.client.close();
      await bare.client.close();
    },
  };
}

/** Sessions in which nothing happens. */
export async function openSessions(client: ForgeClient, count: number): Promise<string[]> {
  const opened = Array.from({ length: count }, () => client.session.createSession({ header: commandHeader(), agent: { model: "demo/echo" } }));
  return (await Promise.all(opened)).map(({ sessionId }) => sessionId);
}

/** Appends one event to a session, which leaves its state as it was. Resolves with the stream's seq. */
export async function write(client: Pick<ForgeClient, "session">, sessionId: string): Promise<number> {
  const { seq } = await client.session.updateSessionPolicy({ header: commandHeader(), sessionId, policy: {} });
  return Number(seq);
}

/** As many writes as a number, many at once: those that wait together share an append. */
export async function writeMany(client: Pick<ForgeClient, "session">, sessionId: string, count: number): Promise<void> {
  await measure(WRITES_AT_ONCE, { seconds: WRITE_SECONDS_MAX, countMax: count }, async () => void (await write(client, sessionId)));
}

export function followSession(client: ForgeClient, id: string, onEvent: (event: Event) => void, afterSeq = 0): Follower {
  return follow(client, { stream: { kind: StreamKind.SESSION, id }, afterSeq: BigInt(afterSeq) }, onEvent);
}

/** Each session was created by one event, and each acknowledged write is one more. */
export async function checkWrites(pool: pg.Pool, sessionIds: readonly string[], writes: number): Promise<void> {
  const { rows } = await pool.query<{ events: number; heads: number }>(
    `select (select count(*)::int from forge.event where stream_id = any($1::uuid[])) as events,
       (select sum(seq)::int from forge.stream where id = any($1::uuid[])) as heads`,
    [sessionIds],
  );
  const expected = sessionIds.length + writes;
  if (rows[0]?.events !== expected || rows[0].heads !== expected)
    throw new Error(`${writes} writes to ${sessionIds.length} sessions were acknowledged, and the database holds ${JSON.stringify(rows[0])}`);
}
