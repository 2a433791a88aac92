import { closeSync, openSync } from "node:fs";
import { copyFile, open, stat, truncate } from "node:fs/promises";
import path from "node:path";

export interface ServerLog {
  /** A descriptor that appends to the file. */
  readonly fd: number;
  /** What was written since the log was opened, at most the last 4 KiB. */
  tail(): Promise<string>;
  /** Stops minding the file's size and closes it. */
  close(): void;
}

/** A start and a stop are ten lines, and otherwise there is only trouble: this is weeks of it. */
const LOG_BYTES_MAX = 4 * 1024 * 1024;
const SIZE_CHECK_INTERVAL_MS = 60_000;
const TAIL_BYTES_MAX = 4 * 1024;

/**
 * Opens `postgres.log` for appending. Past 4 MiB it becomes `postgres.log.1`, replacing the last one, so the two never hold much more than twice that.
 * The file is copied and emptied, not renamed: the server keeps its descriptor, and appending goes on at the new end.
 */
export async function openServerLog(dataDirectory: string): Promise<ServerLog> {
  const file = path.join(dataDirectory, "postgres.log");
  const fd = openSync(file, "a", 0o600);
  try {
    await rotateWhenFull(file);
  } catch (error) {
    closeSync(fd);
    throw error;
  }
  let start = (await stat(file)).size;
  const timer = setInterval(() => {
    rotateWhenFull(file).then(
      (rotated) => {
        if (rotated) start = 0;
      },
      // The log is a convenience: a full disk or a removed file must not end the process, and is tried again in a minute.
      () => {},
    );
  }, SIZE_CHECK_INTERVAL_MS);
  timer.unref();
  let closed = false;
  return {
    fd,
    tail: () => readTail(file, start),
    close() {
      if (closed) return;
      closed = true;
      clearInterval(timer);
      closeSync(fd);
    },
  };
}

async function rotateWhenFull(file: string): Promise<boolean> {
  if ((await stat(file)).size <= LOG_BYTES_MAX) return false;
  await copyFile(file, `${file}.1`);
  await truncate(file);
  return true;
}

async function readTail(file: string, start: number): Promise<string> {
  const handle = await open(file, "r");
  try {
    const { size } = await handle.stat();
    const from = Math.max(start, size - TAIL_BYTES_MAX);
    const { bytesRead, buffer } = await handle.read({ buffer: Buffer.alloc(Math.max(0, size - from)), position: from });
    return buffer.subarray(0, bytesRead).toString("utf8").trim();
  } finally {
    await handle.close();
  }
}
