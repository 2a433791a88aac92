import { ForgeError } from "@forge/protocol";
import { ErrorCode } from "@forge/protocol/common";
import { quoted } from "./problem.ts";

const CODES: Readonly<Record<string, { readonly code: ErrorCode; readonly what: string }>> = {
  ENOENT: { code: ErrorCode.NOT_FOUND, what: "does not exist" },
  ENOTDIR: { code: ErrorCode.NOT_FOUND, what: "does not exist: a part of it is no directory" },
  ENAMETOOLONG: { code: ErrorCode.VALIDATION, what: "has a longer name than this file system takes" },
  EACCES: { code: ErrorCode.PERMISSION_DENIED, what: "may not be read by this user" },
  EPERM: { code: ErrorCode.PERMISSION_DENIED, what: "may not be read by this user" },
  EMFILE: { code: ErrorCode.RESOURCE_EXHAUSTED, what: "can't be opened: too many open files" },
};

/** An error of the file system as a ForgeError that names the path. A ForgeError stays as it is. */
export function fileError(error: unknown, path: string): ForgeError {
  if (error instanceof ForgeError) return error;
  const code = (error as NodeJS.ErrnoException).code ?? "";
  const known = CODES[code];
  const options = { cause: error, origin: "client", reason: code, metadata: { path } };
  if (known === undefined) return new ForgeError(ErrorCode.INTERNAL, `${quoted(path)}: the file system answered ${code || String(error)}`, options);
  return new ForgeError(known.code, `${quoted(path)} ${known.what}`, { ...options, retryable: false });
}
