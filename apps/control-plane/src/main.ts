#!/usr/bin/env node
import { mkdir } from "node:fs/promises";
import path from "node:path";
import { grant, openDatabase, principalOf, startControlPlane, tokenIn, VERSION } from "@forge/host";
import { pino } from "pino";
import { readConfig } from "./config.ts";

// The control plane by itself, on a PostgreSQL of one's own: commands, streams, subscriptions and the workers' protocol on one port.

const config = readConfig(process.env);
const logger = pino({ level: config.FORGE_LOG_LEVEL });
const dataDirectory = path.dirname(path.resolve(config.FORGE_TOKEN_FILE));
const database = await openDatabase({
  dataDirectory,
  databaseUrl: config.DATABASE_URL,
  databaseDirectUrl: config.DATABASE_DIRECT_URL,
  shared: true,
  logger,
});
const service = await startControlPlane({
  connection: database.connection,
  host: config.FORGE_HOST,
  port: config.FORGE_PORT,
  origins: config.FORGE_ORIGINS,
  hosts: config.FORGE_HOSTS,
  retention: config.FORGE_ARCHIVE_AFTER === undefined ? undefined : { archiveAfterMs: config.FORGE_ARCHIVE_AFTER },
  logger,
});
for (const [name, role, file, queues] of [
  ["cli", "admin", config.FORGE_TOKEN_FILE, []],
  ["worker", "worker", config.FORGE_WORKER_TOKEN_FILE, config.FORGE_WORKER_QUEUES],
] as const) {
  const token = await tokenOf(file);
  await grant(service.store, token, { id: principalOf(name, token), role, namespaces: ["default"], queues });
}
logger.info({ url: service.url, version: VERSION }, "the control plane is ready");

let isEnding = false;
for (const signal of ["SIGINT", "SIGTERM"] as const) {
  process.on(signal, () => {
    if (isEnding) process.exit(1);
    isEnding = true;
    service
      .close()
      .then(() => database.close())
      .catch((error: unknown) => {
        logger.error({ err: error }, "the control plane did not end in order");
        process.exitCode = 1;
      });
  });
}

async function tokenOf(file: string): Promise<string> {
  const absolute = path.resolve(file);
  await mkdir(path.dirname(absolute), { recursive: true, mode: 0o700 });
  return tokenIn(path.dirname(absolute), path.basename(absolute));
}
