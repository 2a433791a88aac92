import { randomUUID } from "node:crypto";
import type { Event } from "@event-driven-io/emmett";
import { getPostgreSQLEventStore } from "@event-driven-io/emmett-postgresql";
import pg from "pg";
import { EVENT_BYTES, EVENT_KIND, IN_FLIGHT, STREAMS } from "../../src/append/contents.ts";
import { config, servePeer } from "./serve-peer.mts";

// An event store: a run is one append of one event to a stream at the version that is expected there. The library runs in the application's process.

type Added = Event<typeof EVENT_KIND, { readonly text: string }>;

/** Fills an event's data up to its size. */
const TEXT = "x".repeat(EVENT_BYTES - JSON.stringify({ text: "" }).length);

const pool = new pg.Pool({ connectionString: config.databaseUrl, max: IN_FLIGHT, idleTimeoutMillis: 0 });
const store = getPostgreSQLEventStore(config.databaseUrl ?? "", { connectionOptions: { pool } });
await store.schema.migrate();
const streams = Array.from({ length: STREAMS }, () => ({ name: `bench-${randomUUID()}`, version: 0n }));

servePeer({
  run: async () => {
    // There are more streams than appends at once; the one that waited longest comes first.
    const stream = streams.shift();
    if (stream === undefined) throw new Error("more appends at once than streams");
    const { nextExpectedStreamVersion } = await store.appendToStream<Added>(stream.name, [{ type: EVENT_KIND, data: { text: TEXT } }], {
      expectedStreamVersion: stream.version,
    });
    stream.version = nextExpectedStreamVersion;
    streams.push(stream);
    return `${stream.name}/${nextExpectedStreamVersion}`;
  },
  stop: async () => {
    await store.close();
    await pool.end();
  },
});
