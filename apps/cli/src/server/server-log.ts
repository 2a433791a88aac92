import { mkdir, rename, stat } from "node:fs/promises";
import path from "node:path";
import type { Logger } from "pino";

/** Rotated when it is larger, at a start: one older file is kept. */
const LOG_BYTES_MAX = 8 * 1024 * 1024;

/** The file that a project's server writes its log to; made ready to be appended to. */
export async function prepareLogFile(dataDirectory: string): Promise<string> {
  await mkdir(dataDirectory, { recursive: true, mode: 0o700 });
  const file = path.join(dataDirectory, "forge.log");
  const found = await stat(file).catch(() => undefined);
  if (found !== undefined && found.size > LOG_BYTES_MAX) await rename(file, `${file}.1`);
  return file;
}

/** A logger of JSON lines, to a file or, without one, to standard error. */
export async function createLogger(options: { readonly file?: string; readonly level?: string }): Promise<Logger> {
  const { default: pino } = await import("pino");
  const level = options.level === "warning" ? "warn" : (options.level ?? "info");
  return pino({ level, base: { pid: process.pid } }, pino.destination({ dest: options.file ?? 2, sync: true, mode: 0o600 }));
}
