import { type DescField, type DescMessage, fromJson, type JsonObject, type JsonValue, type MessageShape } from "@bufbuild/protobuf";

/** Reads a message as the command line writes it, with enum values that lack their prefix. */
export function fromPlainJson<S extends DescMessage>(schema: S, json: JsonObject): MessageShape<S> {
  return fromJson(schema, withPrefixes(schema, json));
}

function withPrefixes(schema: DescMessage, json: JsonValue): JsonValue {
  // Times, durations and the like are texts in JSON and have no fields there.
  if (json === null || typeof json !== "object" || Array.isArray(json)) return json;
  const fields = new Map(schema.fields.map((field) => [field.name, field]));
  return Object.fromEntries(Object.entries(json).map(([name, value]) => [name, fieldValue(fields.get(name), value)]));
}

function fieldValue(field: DescField | undefined, json: JsonValue): JsonValue {
  const type = field?.message ?? field?.enum;
  if (field === undefined || type === undefined) return json;
  const one = (value: JsonValue): JsonValue => {
    if (type.kind === "message") return withPrefixes(type, value);
    return typeof value === "string" ? `${type.sharedPrefix?.toUpperCase() ?? ""}${value}` : value;
  };
  if (field.fieldKind === "list") return (json as JsonValue[]).map(one);
  if (field.fieldKind === "map") return Object.fromEntries(Object.entries(json as JsonObject).map(([key, value]) => [key, one(value)]));
  return one(json);
}
