import type { JsonValue } from "../tools/tool-definition.ts";

/** Every text in a value, scrubbed. */
export function scrubJson(value: JsonValue, scrub: (text: string) => string): JsonValue {
  if (typeof value === "string") return scrub(value);
  if (Array.isArray(value)) return value.map((item) => scrubJson(item, scrub));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [scrub(key), scrubJson(item, scrub)]));
}
