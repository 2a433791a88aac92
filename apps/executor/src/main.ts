#!/usr/bin/env node
import { readFile } from "node:fs/promises";
import path from "node:path";
import { startRemoteExecutor, VERSION } from "@forge/host";
import { pino } from "pino";
import { readConfig } from "./config.ts";
import { serveHealth } from "./health.ts";

// A worker for model calls, built-in tools and the functions of one project, for a control plane in another process.

const config = readConfig(process.env);
const logger = pino({ level: config.FORGE_LOG_LEVEL });
const executor = await startRemoteExecutor({
  url: config.FORGE_URL,
  token: (await readFile(config.FORGE_TOKEN_FILE, "utf8")).trim(),
  name: config.FORGE_NAME,
  queues: config.FORGE_QUEUES,
  serves: config.FORGE_SERVES,
  workspace: path.resolve(config.FORGE_WORKSPACE),
  functionsDirectory: config.FORGE_FUNCTIONS_DIR === undefined ? undefined : path.resolve(config.FORGE_FUNCTIONS_DIR),
  slots: config.FORGE_SLOTS,
  environment: process.env,
  logger,
});
for (const { file, message } of executor.functionErrors) logger.warn({ file, message }, "a file of functions is not served");
const health = config.FORGE_HEALTH_PORT === undefined ? undefined : await serveHealth(config.FORGE_HEALTH_PORT);
logger.info({ url: config.FORGE_URL, queues: config.FORGE_QUEUES, version: VERSION }, "the executor is ready");

let isEnding = false;
for (const signal of ["SIGINT", "SIGTERM"] as const) {
  process.on(signal, () => {
    if (isEnding) process.exit(1);
    isEnding = true;
    health?.drain();
    executor
      .drain(config.FORGE_DRAIN_SECONDS * 1_000)
      .then(() => executor.stop())
      .then(() => health?.close())
      .catch((error: unknown) => {
        logger.error({ err: error }, "the executor did not end in order");
        process.exitCode = 1;
      });
  });
}
