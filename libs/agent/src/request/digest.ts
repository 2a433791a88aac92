import { createHash } from "node:crypto";
import canonicalize from "canonicalize";

/** Canonical JSON (RFC 8785). Throws where the value has none: a lone surrogate, a number that is not finite. */
export function canonicalJson(value: object): string {
  const text = canonicalize(value);
  if (text === undefined) throw new TypeError("The value has no JSON form.");
  return text;
}

/** SHA-256 of a value's canonical JSON, 64 lower-case hexadecimal digits. */
export function digestOf(value: object): string {
  return createHash("sha256").update(canonicalJson(value)).digest("hex");
}

/** SHA-256, 64 lower-case hexadecimal digits. */
export function digestOfBytes(bytes: Uint8Array): string {
  return createHash("sha256").update(bytes).digest("hex");
}
