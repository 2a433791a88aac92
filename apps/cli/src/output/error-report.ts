import { ForgeError } from "@forge/protocol";
import { ErrorCode, ErrorCodeSchema, type ForgeError as ForgeErrorMessage, ForgeErrorSchema } from "@forge/protocol/common";
import { enumName, messageJson } from "./message-json.ts";
import type { Style } from "./style.ts";
import { safeText } from "./text.ts";

/** What the system refuses that is no bug of anybody's. */
const REFUSALS: Readonly<Record<string, string>> = {
  EACCES: "permission denied",
  EPERM: "permission denied",
  EROFS: "the file system is read-only",
  ENOSPC: "the disk is full",
  EDQUOT: "the disk quota is used up",
};

/** Anything that was thrown as the one error class; what no code foresees is a bug. */
export function toForgeError(error: unknown): ForgeError {
  if (error instanceof ForgeError) return error;
  const { code = "", path } = error instanceof Error ? (error as NodeJS.ErrnoException) : {};
  const refusal = Object.hasOwn(REFUSALS, code) ? REFUSALS[code] : undefined;
  if (refusal !== undefined && path !== undefined)
    return new ForgeError(ErrorCode.STORAGE_ERROR, `${path}: ${refusal}`, { reason: "FILE_SYSTEM", origin: "client", cause: error });
  const message = error instanceof Error ? error.message : String(error);
  return new ForgeError(ErrorCode.INTERNAL, message, { origin: "client", cause: error });
}

/** An error for people: where it is, what happened and what to do. */
export function errorLines(detail: ForgeErrorMessage, style: Style): string[] {
  const { file, line, column } = detail.metadata;
  const place = file === undefined || line === undefined ? "" : `${file}:${line}${column === undefined ? "" : `:${column}`}`;
  const message = safeText(detail.message);
  const shown = place === "" || message.includes(place) ? message : `${place}: ${message}`;
  const name = detail.reason || enumName(ErrorCodeSchema, detail.code);
  return `${style.red("error:")} ${shown} ${style.dim(`(${name})`)}`.split("\n");
}

/** An error for machines. */
export function errorJson(detail: ForgeErrorMessage): string {
  return JSON.stringify({ error: messageJson(ForgeErrorSchema, detail) });
}
