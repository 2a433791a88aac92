import { ForgeError } from "@forge/protocol";
import { ErrorCode } from "@forge/protocol/common";

const CODES: Readonly<Record<string, { code: ErrorCode; what: string }>> = {
  ENOENT: { code: ErrorCode.NOT_FOUND, what: "does not exist" },
  ENOTDIR: { code: ErrorCode.VALIDATION, what: "is not a directory, or is below something that is none" },
  EISDIR: { code: ErrorCode.VALIDATION, what: "is a directory" },
  ENAMETOOLONG: { code: ErrorCode.VALIDATION, what: "has too long a name" },
  ELOOP: { code: ErrorCode.SANDBOX_VIOLATION, what: "goes through a link" },
  EACCES: { code: ErrorCode.PERMISSION_DENIED, what: "may not be accessed by the user that Forge runs as" },
  EPERM: { code: ErrorCode.PERMISSION_DENIED, what: "may not be changed by the user that Forge runs as" },
  EROFS: { code: ErrorCode.PERMISSION_DENIED, what: "is on a read-only file system" },
  ENOSPC: { code: ErrorCode.RESOURCE_EXHAUSTED, what: "can't be written: the disk is full" },
  EMFILE: { code: ErrorCode.RESOURCE_EXHAUSTED, what: "can't be opened: too many open files" },
};

/**
 * An error of the file system as a ForgeError that names the path as the caller wrote it, never the path of this machine. A ForgeError stays as it is.
 */
export function fileError(error: unknown, path: string): ForgeError {
  if (error instanceof ForgeError) return error;
  const code = errorCode(error);
  const known = CODES[code];
  const options = { cause: error, origin: "tool", reason: code, metadata: { path } };
  if (known === undefined) return new ForgeError(ErrorCode.INTERNAL, `${path}: the file system answered ${code || String(error)}`, options);
  return new ForgeError(known.code, `${path} ${known.what}`, options);
}

/** A file that is larger than tools read or write; `what` says which, and how large. */
export function fileTooLarge(path: string, what: string): ForgeError {
  return new ForgeError(ErrorCode.SANDBOX_VIOLATION, `${path} ${what}`, { origin: "tool", reason: "FILE_TOO_LARGE", metadata: { path } });
}

/** The system's name of an error, for example ENOENT; empty where it has none. */
export function errorCode(error: unknown): string {
  return error instanceof Error && "code" in error && typeof error.code === "string" ? error.code : "";
}
