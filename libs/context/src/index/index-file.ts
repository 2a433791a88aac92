import { createHash, randomUUID } from "node:crypto";
import { closeSync, fsyncSync, openSync, readFileSync, renameSync, rmSync, writeSync } from "node:fs";
import { deserialize, serialize } from "node:v8";

const MAGIC = Buffer.from("forge context 1\n");
const DIGEST_BYTES = 32;

/** How a file that is being written is called, until it is whole. */
export const TEMPORARY = ".tmp";

/**
 * Writes a value so that a reader finds the file as it was or as it is now, and never a part of it; two writers leave the later one's. What it takes is what
 * `structuredClone` takes.
 */
export function writeIndexFile(path: string, value: unknown): void {
  const content = serialize(value);
  const temporary = `${path}.${randomUUID()}${TEMPORARY}`;
  try {
    const descriptor = openSync(temporary, "wx", 0o600);
    try {
      writeAll(descriptor, Buffer.concat([MAGIC, createHash("sha256").update(content).digest()]));
      writeAll(descriptor, content);
      fsyncSync(descriptor);
    } finally {
      closeSync(descriptor);
    }
    renameSync(temporary, path);
  } catch (error) {
    rmSync(temporary, { force: true });
    throw error;
  }
}

/** What was written; undefined where there is no such file, and `damaged` where it is another than the one that was written. */
export function readIndexFile(path: string): { value: unknown } | "damaged" | undefined {
  let bytes: Buffer;
  try {
    bytes = readFileSync(path);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "ENOENT" ? undefined : "damaged";
  }
  const digest = bytes.subarray(MAGIC.length, MAGIC.length + DIGEST_BYTES);
  const content = bytes.subarray(MAGIC.length + DIGEST_BYTES);
  if (!bytes.subarray(0, MAGIC.length).equals(MAGIC) || !createHash("sha256").update(content).digest().equals(digest)) return "damaged";
  try {
    return { value: deserialize(content) };
  } catch {
    // Whole, and of a version of Node that wrote it otherwise.
    return "damaged";
  }
}

function writeAll(descriptor: number, bytes: Uint8Array): void {
  for (let written = 0; written < bytes.length; ) written += writeSync(descriptor, bytes, written);
}
