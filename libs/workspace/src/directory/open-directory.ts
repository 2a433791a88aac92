import { constants, existsSync } from "node:fs";
import { type FileHandle, open, realpath } from "node:fs/promises";
import { fileError } from "./file-error.ts";

/** On Linux names can be looked up in an open directory, whatever happens to the path that it was opened by. */
const HAS_DESCRIPTOR_PATHS = process.platform === "linux" && existsSync("/proc/self/fd");

const DIRECTORY = constants.O_RDONLY | constants.O_DIRECTORY;

/** A directory, held open. */
export class OpenDirectory implements AsyncDisposable {
  readonly handle: FileHandle;
  readonly #base: string;

  constructor(handle: FileHandle, realPath: string) {
    this.handle = handle;
    this.#base = HAS_DESCRIPTOR_PATHS ? `/proc/self/fd/${handle.fd}` : realPath;
  }

  /** The path of a name in it. */
  at(name: string): string {
    return `${this.#base}/${name}`;
  }

  /** Its own path, for listing it. */
  get path(): string {
    return `${this.#base}/.`;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.handle.close();
  }
}

/** A directory that somebody named; links on the way to it are followed. Errors: not_found; validation; permission_denied. */
export async function openRoot(directory: string): Promise<OpenDirectory> {
  try {
    const real = await realpath(directory);
    return new OpenDirectory(await open(real, DIRECTORY), real);
  } catch (error) {
    throw fileError(error, directory);
  }
}

/** A directory in a directory; rejects with the system's ELOOP or ENOTDIR where it is a link or something else. */
export async function openChild(parent: OpenDirectory, name: string): Promise<OpenDirectory> {
  const path = parent.at(name);
  return new OpenDirectory(await open(path, DIRECTORY | constants.O_NOFOLLOW), path);
}

/** Calls with the directory that a path of a tree is in, and the path's last name. No link is followed below the root. */
export async function inParentOf<T>(root: OpenDirectory, path: string, act: (parent: OpenDirectory, name: string) => Promise<T>): Promise<T> {
  const parts = path.split("/");
  const name = parts.pop() as string;
  let current = root;
  try {
    for (const part of parts) {
      const next = await openChild(current, part);
      if (current !== root) await current.handle.close();
      current = next;
    }
    return await act(current, name);
  } finally {
    if (current !== root) await current.handle.close();
  }
}
