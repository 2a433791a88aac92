import { open } from "node:fs/promises";
import { ForgeError } from "@forge/protocol";
import { ErrorCode } from "@forge/protocol/common";

/** How a file is named in errors, how long it may be, and the reason that errors carry. */
export interface ReadTextOptions {
  /** For example "-i issue=@report.md" or "workflow". */
  readonly what: string;
  readonly bytesMax: number;
  readonly reason: string;
}

/**
 * Reads a file as UTF-8, exactly as it is, byte order mark and line ends included. Throws ForgeError: not_found when it is missing; validation when it is a
 * directory, too large (no more than the limit is read, also of an endless device), or not text.
 */
export async function readTextFile(path: string, options: ReadTextOptions): Promise<string> {
  const bytes = await readBytes(path, options);
  const { what, reason } = options;
  if (bytes.includes(0)) throw new ForgeError(ErrorCode.VALIDATION, `${what}: ${path} is a binary file, not text`, { reason, metadata: { file: path } });
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch (cause) {
    throw new ForgeError(ErrorCode.VALIDATION, `${what}: ${path} is not UTF-8 text; convert it first`, { reason, metadata: { file: path }, cause });
  }
}

async function readBytes(path: string, { what, bytesMax, reason }: ReadTextOptions): Promise<Uint8Array> {
  try {
    await using file = await open(path, "r");
    const chunks: Buffer[] = [];
    let length = 0;
    for (;;) {
      const { bytesRead, buffer } = await file.read(Buffer.allocUnsafe(65_536));
      if (bytesRead === 0) return Buffer.concat(chunks);
      length += bytesRead;
      if (length > bytesMax) {
        throw new ForgeError(ErrorCode.VALIDATION, `${what}: ${path} is larger than ${bytesMax} bytes`, { reason, metadata: { file: path } });
      }
      chunks.push(buffer.subarray(0, bytesRead));
    }
  } catch (error) {
    if (error instanceof ForgeError) throw error;
    throw fromFileSystem(error, path, what, reason);
  }
}

function fromFileSystem(error: unknown, path: string, what: string, reason: string): ForgeError {
  const code = error instanceof Error && "code" in error ? String(error.code) : "";
  const metadata = { file: path };
  if (code === "ENOENT" || code === "ENOTDIR")
    return new ForgeError(ErrorCode.NOT_FOUND, `${what}: there is no file ${path}`, { reason, metadata, cause: error });
  if (code === "EISDIR") return new ForgeError(ErrorCode.VALIDATION, `${what}: ${path} is a directory, not a file`, { reason, metadata, cause: error });
  return new ForgeError(ErrorCode.VALIDATION, `${what}: ${path} can't be read (${code || String(error)})`, { reason, metadata, cause: error });
}
