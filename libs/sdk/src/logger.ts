import { inspect } from "node:util";
import type { Logger } from "./context.ts";

/** One line, its fields behind it. */
export function logLine(message: string, fields: Readonly<Record<string, unknown>> = {}): string {
  const shown = Object.entries(fields).map(
    ([name, value]) => `${name}=${typeof value === "string" ? value : inspect(value, { breakLength: Number.POSITIVE_INFINITY })}`,
  );
  return [message, ...shown].join(" ");
}

/** Writes to standard error. */
export const consoleLogger: Logger = {
  debug: (message, fields) => console.error(`debug: ${logLine(message, fields)}`),
  info: (message, fields) => console.error(logLine(message, fields)),
  warn: (message, fields) => console.error(`warning: ${logLine(message, fields)}`),
  error: (message, fields) => console.error(`error: ${logLine(message, fields)}`),
};
