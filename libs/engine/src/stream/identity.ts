import { hash, randomFillSync } from "node:crypto";
import { uuidV7, uuidV8 } from "@forge/protocol";

const POOL = new Uint8Array(4096);
let used = POOL.length;

/** Random bytes from a pool that is filled 4 KiB at a time: one system call for many ids. */
function randomBytes(count: number): Uint8Array {
  if (used + count > POOL.length) {
    randomFillSync(POOL);
    used = 0;
  }
  used += count;
  return POOL.slice(used - count, used);
}

/** A fresh UUID (version 7). */
export function newId(nowMs: number): string {
  return uuidV7(nowMs, randomBytes(10));
}

/** 16 random bytes that prove a lease. */
export function newLeaseToken(): Uint8Array {
  return randomBytes(16);
}

/** A UUID (version 8) that derives from the namespace and the parts, none of which holds a NUL. */
export function deriveId(namespace: string, ...parts: readonly string[]): string {
  return uuidV8(sha256([namespace, ...parts].join("\0")));
}

export function sha256(data: string | Uint8Array): Uint8Array {
  return hash("sha256", data, "buffer");
}

export function sha256Hex(data: string | Uint8Array): string {
  return hash("sha256", data, "hex");
}

/** A stream by one text. */
export function streamKey(namespace: string, streamId: string): string {
  return `${namespace}\n${streamId}`;
}
