import { createHash } from "node:crypto";

/** Before the first line. */
export const CHAIN_START = "0".repeat(64);

/** SHA-256 of bytes, hexadecimal. */
export function sha256(content: string | Uint8Array): string {
  return createHash("sha256").update(content).digest("hex");
}

/** The hash that a line adds to the chain: of the hash before it and the line's own text. */
export function chained(before: string, line: string): string {
  return sha256(`${before}\n${line}`);
}
