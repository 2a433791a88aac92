import type { JsonValue } from "@bufbuild/protobuf";

/**
 * JSON with one text for each value, as RFC 8785 writes it: no white space, keys in the order of their UTF-16 code units, numbers and strings as
 * ECMAScript prints them. Values are nested at most as deep as `parseJson` allows.
 */
export function canonicalJson(value: JsonValue): string {
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(",")}]`;
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  const members = Object.keys(value)
    .sort()
    .map((key) => `${JSON.stringify(key)}:${canonicalJson(value[key] as JsonValue)}`);
  return `{${members.join(",")}}`;
}
