import { startProjectServer } from "@forge/host";
import { configOf, logger, ready } from "./entry.ts";

export interface ProjectConfig {
  readonly root: string;
  readonly functionsDirectory: string;
  readonly leaseTtlMs: number;
  readonly databaseUrl?: string;
}

const { root, functionsDirectory, leaseTtlMs, databaseUrl } = configOf<ProjectConfig>();
const server = await startProjectServer({ root, functionsDirectory, leaseTtlMs, databaseUrl, environment: {}, logger });
ready({ url: server.url, token: server.token, queue: server.queue, dataDirectory: server.dataDirectory }, () => server.close(5_000));
