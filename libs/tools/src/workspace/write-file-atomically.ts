import { randomUUID } from "node:crypto";
import { constants } from "node:fs";
import { lstat, rename, unlink } from "node:fs/promises";
import { fileError } from "./file-error.ts";
import { requireRegularFile, splitPath, type WorkspaceGuard } from "./workspace-guard.ts";

/** Of a new file, before the umask. */
const NEW_FILE_MODE = 0o666;

/**
 * Replaces a file's content in one step: whoever reads sees the old or the new content, also after a crash. Parents are made, an existing file's
 * permissions are kept. What is there and is no regular file is refused.
 */
export async function writeFileAtomically(guard: WorkspaceGuard, path: string, content: Uint8Array): Promise<void> {
  const { directory, name } = splitPath(await guard.resolve(path));
  await using parent = await guard.openDirectory(guard.relative(directory), { create: true });
  const mode = await existingMode(parent.at(name), path);
  const temporary = parent.at(`.forge-${randomUUID()}.tmp`);
  const handle = await guard.openRegularFile(temporary, path, constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL, mode ?? NEW_FILE_MODE);
  try {
    try {
      // The umask applies when a file is created, but is no reason to change the mode of one that exists.
      if (mode !== undefined) await handle.chmod(mode);
      await handle.writeFile(content);
      await handle.sync();
    } finally {
      await handle.close();
    }
    await rename(temporary, parent.at(name));
  } catch (error) {
    await unlink(temporary).catch(() => {});
    throw fileError(error, path);
  }
}

async function existingMode(realPath: string, path: string): Promise<number | undefined> {
  const found = await lstat(realPath).catch(() => undefined);
  if (found === undefined) return undefined;
  requireRegularFile(found, path);
  return found.mode & 0o7777;
}
