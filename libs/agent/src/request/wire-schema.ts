import type { JSONSchema7 } from "@ai-sdk/provider";

/** What providers refuse at the top of a tool's schema, and the whole request with it. Calls are checked against the schema as it was written all the same. */
const REFUSED_AT_TOP: ReadonlySet<string> = new Set(["anyOf", "oneOf", "allOf", "not", "if", "then", "else", "$schema", "$id"]);

/** A tool's schema as every provider takes it: of an object that names its properties, without conditions at its top. */
export function toWireSchema(schema: unknown): JSONSchema7 {
  const isObject = typeof schema === "object" && schema !== null && !Array.isArray(schema);
  const kept = Object.entries(isObject ? schema : {}).filter(([key]) => !REFUSED_AT_TOP.has(key));
  return { type: "object", properties: {}, ...Object.fromEntries(kept) };
}
