import { ForgeError } from "@forge/protocol";
import type { WorkspaceGuard } from "./workspace-guard.ts";

/** Of a file that tools read or write: as JSON it has six times its size at worst, which still fits an artifact of 16 MiB. */
export const FILE_BYTES_MAX = 2 * 1024 * 1024;

/** A text file of the workspace, exactly as it is, byte order mark included. Errors: validation, where it is too large or no UTF-8; those of the guard. */
export async function readTextFile(guard: WorkspaceGuard, path: string): Promise<{ content: string; size: number }> {
  const handle = await guard.openFile(path);
  try {
    // One byte more than allowed, so that a file that grows while it is read is noticed.
    const buffer = Buffer.alloc(Math.min((await handle.stat()).size, FILE_BYTES_MAX) + 1);
    let size = 0;
    for (;;) {
      const { bytesRead } = await handle.read(buffer, size, buffer.length - size, null);
      size += bytesRead;
      if (bytesRead === 0 || size === buffer.length) break;
    }
    if (size > FILE_BYTES_MAX)
      throw ForgeError.validation("path", `${path} is larger than ${FILE_BYTES_MAX} bytes`, { origin: "tool", reason: "FILE_TOO_LARGE" });
    return { content: decode(buffer.subarray(0, size), path), size };
  } finally {
    await handle.close();
  }
}

function decode(bytes: Uint8Array, path: string): string {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch (error) {
    throw ForgeError.validation("path", `${path} is not UTF-8 text`, { origin: "tool", reason: "NOT_TEXT", cause: error });
  }
}
