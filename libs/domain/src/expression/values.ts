import type { JsonObject, JsonValue } from "@bufbuild/protobuf";
import type { Work } from "./work.ts";

/** The name of a value's type, as people who write expressions know it. */
export function typeName(value: JsonValue): string {
  if (value === null) return "null";
  if (Array.isArray(value)) return "list";
  return typeof value === "object" ? "mapping" : typeof value;
}

/** Whether a value is a mapping. */
export function isMapping(value: JsonValue): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Python's truth: null, false, 0, "" and what is empty are false. */
export function isTrue(value: JsonValue): boolean {
  if (Array.isArray(value)) return value.length > 0;
  if (isMapping(value)) return Object.keys(value).length > 0;
  return Boolean(value);
}

/** A number, or a boolean as Python counts it; undefined for everything else. */
export function asNumber(value: JsonValue): number | undefined {
  if (typeof value === "number") return value;
  return typeof value === "boolean" ? Number(value) : undefined;
}

/** A whole number, or fails. */
export function asInteger(value: JsonValue, what: string, work: Work): number {
  const number = asNumber(value);
  if (number === undefined || !Number.isSafeInteger(number)) work.fail(`${what} must be a whole number, not ${typeName(value)}`);
  return number;
}

/** Checks what came from the scope: JSON only, so that no function, class instance or other host object is ever worked with. */
export function checkJson(value: unknown, what: string, work: Work): JsonValue {
  if (value === null || typeof value === "boolean" || typeof value === "string") return value;
  if (typeof value === "number" && Number.isFinite(value)) return value;
  if (Array.isArray(value)) return value as JsonValue;
  if (typeof value === "object") {
    const prototype: unknown = Object.getPrototypeOf(value);
    if (prototype === Object.prototype || prototype === null) return value as JsonValue;
  }
  return work.fail(`${what} is not a JSON value`);
}
