import { ForgeError } from "./forge-error.ts";
import type { ArtifactRef } from "./gen/forge/common/v1/common_pb.ts";

const HASH = /^[0-9a-f]{64}$/;
const DEPTH_MAX = 64;

/**
 * Walks every text of a message or a part of it. A lone surrogate has no UTF-8: encoders put another character in its place without a word.
 * `path` is how messages name the value. Errors: validation, naming the field.
 */
export function checkText(value: unknown, path = "", depth = 0): void {
  if (typeof value === "string") {
    if (!value.isWellFormed()) throw ForgeError.validation(path, `${path} holds a lone surrogate, which is no text: send whole characters`);
    return;
  }
  if (value === null || typeof value !== "object" || value instanceof Uint8Array) return;
  if (depth > DEPTH_MAX) throw ForgeError.validation(path, `${path} is nested deeper than ${DEPTH_MAX} levels`);
  if (Array.isArray(value)) {
    for (const [index, item] of value.entries()) checkText(item, `${path}[${index}]`, depth + 1);
    return;
  }
  if ("$typeName" in value && value.$typeName === "forge.common.v1.ArtifactRef" && !HASH.test((value as ArtifactRef).sha256)) {
    throw ForgeError.validation(`${path}.sha256`, `${path}.sha256 must be 64 lower-case hexadecimal digits`);
  }
  for (const [key, item] of Object.entries(value)) {
    // What the library adds to every message; any other name with a dollar sign is a key of a map.
    if (key === "$typeName" || key === "$unknown") continue;
    if (!key.isWellFormed()) throw ForgeError.validation(path, `${path} has a key with a lone surrogate`);
    checkText(item, path === "" ? key : `${path}.${key}`, depth + 1);
  }
}
