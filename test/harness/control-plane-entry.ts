import { startControlPlane } from "@forge/host";
import type { PostgresConnection } from "@forge/store-postgres";
import { configOf, logger, ready } from "./entry.ts";

export interface ControlPlaneConfig {
  readonly connection: PostgresConnection;
  readonly port: number;
  readonly leaseTtlMs: number;
  /** Bytes that may wait for one subscriber; absent: the engine's default. */
  readonly subscriberBytesMax?: number;
  /** Another version: the newest event format that it reads, and the kinds that came with later ones. Absent: this version. */
  readonly formats?: { readonly reads: number; readonly kinds: Readonly<Record<string, number>> };
  /** Absent: nothing is archived by itself. */
  readonly retention?: { readonly archiveAfterMs: number };
}

const { connection, port, leaseTtlMs, subscriberBytesMax, formats: given, retention } = configOf<ControlPlaneConfig>();
const formats = given === undefined ? undefined : { reads: given.reads, kinds: new Map(Object.entries(given.kinds)) };
const service = await startControlPlane({ connection, port, leaseTtlMs, subscriberBytesMax, formats, retention, logger });
ready({ url: service.url }, () => service.close());
