import { constants } from "node:fs";
import { ForgeError } from "@forge/protocol";
import { fileError } from "./file-error.ts";
import { FILE_BYTES_MAX } from "./read-text-file.ts";
import { splitPath, type WorkspaceGuard } from "./workspace-guard.ts";

/** Adds to the end of a file, which is made with its parents where missing; resolves to its size in bytes afterwards. */
export async function appendFile(guard: WorkspaceGuard, path: string, content: Uint8Array): Promise<number> {
  const { directory, name } = splitPath(await guard.resolve(path));
  await using parent = await guard.openDirectory(guard.relative(directory), { create: true });
  const handle = await guard.openRegularFile(parent.at(name), path, constants.O_WRONLY | constants.O_APPEND | constants.O_CREAT, 0o666);
  try {
    const size = (await handle.stat()).size + content.length;
    if (size > FILE_BYTES_MAX) {
      throw ForgeError.validation("arguments.content", `${path} would have ${size} bytes, more than ${FILE_BYTES_MAX}`, {
        origin: "tool",
        reason: "FILE_TOO_LARGE",
      });
    }
    await handle.writeFile(content);
    await handle.sync();
    return (await handle.stat()).size;
  } catch (error) {
    throw fileError(error, path);
  } finally {
    await handle.close();
  }
}
