import { ForgeError } from "@forge/protocol";
import { ErrorCode } from "@forge/protocol/common";

/** The SQLSTATE of an error of the server; undefined for one of the connection or of the driver. */
export function sqlState(error: unknown): string | undefined {
  const code = error instanceof Error && "code" in error ? error.code : undefined;
  return typeof code === "string" && /^[0-9A-Z]{5}$/.test(code) && "severity" in (error as Error) ? code : undefined;
}

/** The given data was refused: class 22 (data exception), 23 (integrity constraint violation) or 54 (a limit of the server, such as an index row's size). */
export function isDataError(error: unknown): boolean {
  const state = sqlState(error);
  return state !== undefined && /^(22|23|54)/.test(state);
}

/** The statement was rolled back because of others, and may simply be run again: a serialization failure or a deadlock. */
export function isTransient(error: unknown): boolean {
  const state = sqlState(error);
  return state === "40001" || state === "40P01";
}

/** The connection can't be used any more, or nobody knows whether it can. */
export function isConnectionLost(error: unknown): boolean {
  const state = sqlState(error);
  return state === undefined || state.startsWith("08") || state.startsWith("57P") || state.startsWith("XX");
}

/** Any error of pg as the one error class: refused data is validation, a statement the server does not understand is a bug, all else is storage_error. */
export function toForgeError(error: unknown): ForgeError {
  if (error instanceof ForgeError) return error;
  const message = error instanceof Error ? error.message : String(error);
  const state = sqlState(error);
  const metadata: Record<string, string> = state === undefined ? {} : { sqlstate: state };
  if (isDataError(error))
    return new ForgeError(ErrorCode.VALIDATION, `The database refused the data: ${message}`, { reason: "DATA_REFUSED", metadata, cause: error });
  if (state?.startsWith("42")) return new ForgeError(ErrorCode.INTERNAL, `The database refused a statement: ${message}`, { metadata, cause: error });
  return new ForgeError(ErrorCode.STORAGE_ERROR, `The database could not answer: ${message}`, { metadata, cause: error });
}
