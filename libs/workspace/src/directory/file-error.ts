import { ForgeError } from "@forge/protocol";
import { ErrorCode } from "@forge/protocol/common";

const CODES: Readonly<Record<string, { readonly code: ErrorCode; readonly what: string }>> = {
  ENOENT: { code: ErrorCode.NOT_FOUND, what: "does not exist" },
  ENOTDIR: { code: ErrorCode.VALIDATION, what: "is no directory" },
  ENAMETOOLONG: { code: ErrorCode.VALIDATION, what: "has a longer name than this file system takes" },
  EILSEQ: { code: ErrorCode.VALIDATION, what: "has a name that this file system does not take" },
  EACCES: { code: ErrorCode.PERMISSION_DENIED, what: "may not be accessed by this user" },
  EPERM: { code: ErrorCode.PERMISSION_DENIED, what: "may not be changed by this user" },
  EBUSY: { code: ErrorCode.CONFLICT, what: "is in use, for example as a mount point" },
  EROFS: { code: ErrorCode.PERMISSION_DENIED, what: "is on a read-only file system" },
  ENOSPC: { code: ErrorCode.RESOURCE_EXHAUSTED, what: "can't be written: the disk is full" },
  EDQUOT: { code: ErrorCode.RESOURCE_EXHAUSTED, what: "can't be written: the disk quota is used up" },
  EMFILE: { code: ErrorCode.RESOURCE_EXHAUSTED, what: "can't be opened: too many open files" },
};

/** An error of the file system as a ForgeError that names the path. A ForgeError stays as it is. */
export function fileError(error: unknown, path: string): ForgeError {
  if (error instanceof ForgeError) return error;
  const code = codeOf(error);
  const known = CODES[code];
  const options = { cause: error, origin: "client", reason: code, metadata: { path } };
  if (known === undefined) return new ForgeError(ErrorCode.INTERNAL, `${quoted(path)}: the file system answered ${code || String(error)}`, options);
  return new ForgeError(known.code, `${quoted(path)} ${known.what}`, { ...options, retryable: false });
}

/** The system's name of an error, for example ENOENT; empty where it has none. */
export function codeOf(error: unknown): string {
  return error instanceof Error && "code" in error && typeof error.code === "string" ? error.code : "";
}

/** A path in a message, with what could move a reader's cursor escaped. */
export function quoted(path: string): string {
  return JSON.stringify(path);
}
