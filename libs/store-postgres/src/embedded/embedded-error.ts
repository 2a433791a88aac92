import { ForgeError } from "@forge/protocol";
import { ErrorCode } from "@forge/protocol/common";
import { systemCode } from "./system-code.ts";

/** Errors from here carry a piece of the server's log; the message as a whole may have 4,096 characters. */
const DETAIL_CHARACTERS_MAX = 2_000;

/** The embedded server can't run on this machine as this user; the message says what to do instead. */
export function unsupported(message: string): ForgeError {
  return new ForgeError(ErrorCode.UNSUPPORTED, `${message} Or set DATABASE_URL to use a PostgreSQL server of your own.`, {
    reason: "EMBEDDED_DATABASE_UNSUPPORTED",
    origin: "control-plane",
  });
}

/** What a program of PostgreSQL said when it failed, sorted by what the reader can do about it. */
export function programFailed(what: string, dataDirectory: string, output: string, cause?: unknown): ForgeError {
  const detail = output.length > DETAIL_CHARACTERS_MAX ? `…${output.slice(-DETAIL_CHARACTERS_MAX)}` : output;
  const options = { origin: "control-plane", retryable: false, metadata: { data_directory: dataDirectory }, cause };
  const message = `${what} (data directory ${dataDirectory}). ${detail === "" ? "It gave no reason." : `It said:\n${detail}`}`;
  if (/No space left on device|Disk quota exceeded/.test(output)) {
    return new ForgeError(ErrorCode.RESOURCE_EXHAUSTED, `The disk is full. ${message}`, { ...options, reason: "DISK_FULL" });
  }
  if (/Permission denied|Operation not permitted|Read-only file system/.test(output)) {
    return new ForgeError(ErrorCode.PERMISSION_DENIED, message, { ...options, reason: "DATA_DIRECTORY_NOT_WRITABLE" });
  }
  return new ForgeError(ErrorCode.STORAGE_ERROR, message, { ...options, reason: "EMBEDDED_DATABASE_FAILED" });
}

/** The one place where errors of the file system and of cancellation become ours; a ForgeError passes unchanged. */
export function toForgeError(error: unknown, dataDirectory: string, signal?: AbortSignal): ForgeError {
  if (error instanceof ForgeError) return error;
  if (signal?.aborted) {
    return new ForgeError(ErrorCode.CANCELLED, "Starting the embedded database was cancelled.", { origin: "control-plane", cause: error });
  }
  const message = error instanceof Error ? error.message : String(error);
  const options = { origin: "control-plane", retryable: false, metadata: { data_directory: dataDirectory }, cause: error };
  switch (systemCode(error)) {
    case "EACCES":
    case "EPERM":
    case "EROFS":
      return new ForgeError(ErrorCode.PERMISSION_DENIED, `The data directory ${dataDirectory} can't be written by this user (${message}).`, {
        ...options,
        reason: "DATA_DIRECTORY_NOT_WRITABLE",
      });
    case "ENOSPC":
    case "EDQUOT":
      return new ForgeError(ErrorCode.RESOURCE_EXHAUSTED, `The disk is full: the data directory ${dataDirectory} can't grow (${message}).`, {
        ...options,
        reason: "DISK_FULL",
      });
    case "ENOTDIR":
    case "EEXIST":
    case "ENAMETOOLONG":
      return ForgeError.validation("data_directory", `${dataDirectory} can't be a data directory (${message}).`, options);
    default:
      return new ForgeError(ErrorCode.STORAGE_ERROR, `The embedded database could not be started in ${dataDirectory} (${message}).`, {
        ...options,
        reason: "EMBEDDED_DATABASE_FAILED",
      });
  }
}
