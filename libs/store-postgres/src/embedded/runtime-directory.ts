import { createHash } from "node:crypto";
import { chmod, chown, lstat, mkdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { ForgeError } from "@forge/protocol";
import { ErrorCode } from "@forge/protocol/common";
import type { Launcher } from "./launcher.ts";
import { PORT } from "./settings.ts";
import { systemCode } from "./system-code.ts";

/** A socket's path has at most 107 bytes on Linux and 103 on macOS. */
const SOCKET_PATH_BYTES_MAX = 103;

/**
 * An empty directory for the server's socket, short whatever the data directory's path, and entered by its owner only: that is what guards the database,
 * for the server trusts whoever reaches the socket. Its name is derived from the data directory, so a start after a crash finds and replaces the last one's.
 *
 * The system's temporary directory comes first: XDG_RUNTIME_DIR is emptied at logout, which a server in the background outlives. A name that somebody
 * else has taken is left alone, and the next place tried.
 */
export async function makeRuntimeDirectory(dataDirectory: string, launcher: Launcher): Promise<string> {
  const uid = process.getuid?.() ?? 0;
  const name = `forge-${uid}-${createHash("sha256").update(dataDirectory).digest("hex").slice(0, 12)}`;
  const parents = [tmpdir(), "/tmp", process.env.XDG_RUNTIME_DIR ?? ""].filter((parent) => path.isAbsolute(parent));
  const refused: string[] = [];
  for (const parent of new Set(parents)) {
    const directory = path.join(parent, name);
    if (Buffer.byteLength(path.join(directory, `.s.PGSQL.${PORT}`)) > SOCKET_PATH_BYTES_MAX) refused.push(`${directory}: too long`);
    else {
      const refusal = await occupy(directory, uid, launcher);
      if (refusal === undefined) return directory;
      refused.push(refusal);
    }
  }
  throw new ForgeError(
    ErrorCode.STORAGE_ERROR,
    `There is no place for the database's socket. Set TMPDIR to a short, writable directory. Tried: ${refused.join("; ")}.`,
    {
      reason: "NO_RUNTIME_DIRECTORY",
      origin: "control-plane",
      retryable: false,
    },
  );
}

/** Makes the directory; answers why not when it can't be ours. */
async function occupy(directory: string, uid: number, launcher: Launcher): Promise<string | undefined> {
  try {
    const found = await lstat(directory).catch((error: unknown) => {
      if (systemCode(error) === "ENOENT") return undefined;
      throw error;
    });
    if (found !== undefined) {
      if (!found.isDirectory() || (found.uid !== uid && found.uid !== launcher.uid)) return `${directory}: belongs to somebody else`;
      await rm(directory, { recursive: true, force: true });
    }
    await mkdir(directory, { mode: 0o700 });
    await chmod(directory, 0o700);
    if (launcher.uid !== uid) await chown(directory, launcher.uid, launcher.gid);
    return undefined;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}
