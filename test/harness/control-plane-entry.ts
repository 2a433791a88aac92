import { startControlPlane } from "@forge/host";
import type { PostgresConnection } from "@forge/store-postgres";
import { configOf, logger, ready } from "./entry.ts";

export interface ControlPlaneConfig {
  readonly connection: PostgresConnection;
  readonly port: number;
  readonly leaseTtlMs: number;
}

const { connection, port, leaseTtlMs } = configOf<ControlPlaneConfig>();
const service = await startControlPlane({ connection, port, leaseTtlMs, logger });
ready({ url: service.url }, () => service.close());
