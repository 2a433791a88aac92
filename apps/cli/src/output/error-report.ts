import { ForgeError } from "@forge/protocol";
import { ErrorCode, ErrorCodeSchema, type ForgeError as ForgeErrorMessage, ForgeErrorSchema } from "@forge/protocol/common";
import { CommanderError } from "commander";
import { EXIT } from "../exit-code.ts";
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
  if (error instanceof CommanderError) return new ForgeError(ErrorCode.VALIDATION, error.message, { reason: "COMMAND_LINE", origin: "client" });
  const { code = "", path } = error instanceof Error ? (error as NodeJS.ErrnoException) : {};
  const refusal = Object.hasOwn(REFUSALS, code) ? REFUSALS[code] : undefined;
  if (refusal !== undefined && path !== undefined)
    return new ForgeError(ErrorCode.STORAGE_ERROR, `${path}: ${refusal}`, { reason: "FILE_SYSTEM", origin: "client", cause: error });
  const message = error instanceof Error ? error.message : String(error);
  return new ForgeError(ErrorCode.INTERNAL, message, { origin: "client", cause: error });
}

/** What no code foresees. */
export function isBug({ code }: ForgeError): boolean {
  return code === ErrorCode.INTERNAL;
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

/** The exit code for an error that ended a command. */
export function exitCodeOf(code: ErrorCode): number {
  switch (code) {
    case ErrorCode.VALIDATION:
      return EXIT.USAGE;
    case ErrorCode.NOT_FOUND:
      return EXIT.NOT_FOUND;
    case ErrorCode.CONFLICT:
      return EXIT.CONFLICT;
    case ErrorCode.STORAGE_ERROR:
      return EXIT.UNREACHABLE;
    case ErrorCode.CANCELLED:
      return EXIT.CANCELLED;
    default:
      return EXIT.FAILED;
  }
}
