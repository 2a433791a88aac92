import type { JsonObject, JsonValue } from "@bufbuild/protobuf";

/** Keywords whose value is a schema, a list of schemas, and schemas by name. */
const ONE: ReadonlySet<string> = new Set([
  "items",
  "contains",
  "additionalProperties",
  "propertyNames",
  "unevaluatedItems",
  "unevaluatedProperties",
  "not",
  "if",
  "then",
  "else",
]);
const LIST: ReadonlySet<string> = new Set(["allOf", "anyOf", "oneOf", "prefixItems"]);
const NAMED: ReadonlySet<string> = new Set(["$defs", "definitions", "properties", "patternProperties", "dependentSchemas"]);

/** The same schema with every subschema that is a mapping replaced, from the inside out; constants and annotations stay as they are. */
export function mapSubschemas(schema: JsonValue, replace: (subschema: JsonObject) => JsonObject): JsonValue {
  if (!isJsonObject(schema)) return schema;
  const mapped = Object.entries(schema).map(([keyword, value]): [string, JsonValue] => {
    if (ONE.has(keyword)) return [keyword, mapSubschemas(value, replace)];
    if (LIST.has(keyword) && Array.isArray(value)) return [keyword, value.map((item) => mapSubschemas(item, replace))];
    if (NAMED.has(keyword) && isJsonObject(value))
      return [keyword, Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, mapSubschemas(inner, replace)]))];
    return [keyword, value];
  });
  return replace(Object.fromEntries(mapped));
}

export function isJsonObject(value: JsonValue | undefined): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
