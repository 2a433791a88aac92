import { createHash } from "node:crypto";
import { constants } from "node:fs";
import { open, realpath, stat } from "node:fs/promises";

/** A file that a command runs, as it is now. */
export interface FileStamp {
  /** Without links. */
  readonly path: string;
  /** Of its content, or of what the file system tells of it. */
  readonly stamp: string;
}

/** Longer scripts are nobody's to read before he allows them. */
const HASHED_BYTES_MAX = 16 * 1024 * 1024;

/** The stamp of a program of the system: its place and what changes when it is replaced, which needs the rights of whoever installed it. */
export async function programStamp(path: string): Promise<FileStamp> {
  const real = await realpath(path);
  const { dev, ino, size, mtimeMs, ctimeMs } = await stat(real);
  return { path: real, stamp: [dev, ino, size, mtimeMs, ctimeMs].join(":") };
}

/** The stamp of a file by its content; undefined for what is no regular file of at most 16 MiB. */
export async function contentStamp(path: string): Promise<FileStamp | undefined> {
  const real = await realpath(path).catch(() => undefined);
  if (real === undefined) return undefined;
  // A pipe would be waited for.
  const file = await open(real, constants.O_RDONLY | constants.O_NONBLOCK).catch(() => undefined);
  if (file === undefined) return undefined;
  try {
    const { size } = await file.stat();
    if (!(await file.stat()).isFile() || size > HASHED_BYTES_MAX) return undefined;
    return {
      path: real,
      stamp: `sha256:${createHash("sha256")
        .update(await file.readFile())
        .digest("hex")}`,
    };
  } finally {
    await file.close();
  }
}
