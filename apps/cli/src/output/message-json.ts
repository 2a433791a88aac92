import { type DescEnum, type DescField, type DescMessage, type JsonObject, type JsonValue, type MessageShape, toJson } from "@bufbuild/protobuf";

/** Protobuf JSON as the command line writes it: fields as in the proto files, enum values without their prefix (RUNNING). */
export function messageJson<S extends DescMessage>(schema: S, message: MessageShape<S>): JsonObject {
  return withPlainEnums(schema, toJson(schema, message, { useProtoFieldName: true })) as JsonObject;
}

/** The same on one line. */
export function messageLine<S extends DescMessage>(schema: S, message: MessageShape<S>): string {
  return JSON.stringify(messageJson(schema, message));
}

/** The name of an enum's value, without prefix: RUNNING. */
export function enumName(schema: DescEnum, value: number): string {
  const name = schema.value[value]?.name;
  return name === undefined ? String(value) : withoutPrefix(schema, name);
}

function withoutPrefix({ sharedPrefix }: DescEnum, name: string): string {
  const prefix = sharedPrefix?.toUpperCase() ?? "";
  return name.startsWith(prefix) ? name.slice(prefix.length) : name;
}

function withPlainEnums(schema: DescMessage, json: JsonValue): JsonValue {
  // Times, durations and the like are texts in JSON and have no fields there.
  if (json === null || typeof json !== "object" || Array.isArray(json)) return json;
  const fields = new Map(schema.fields.map((field) => [field.name, field]));
  return Object.fromEntries(Object.entries(json).map(([name, value]) => [name, fieldValue(fields.get(name), value)]));
}

function fieldValue(field: DescField | undefined, json: JsonValue): JsonValue {
  if (field === undefined) return json;
  const type = field.message ?? field.enum;
  if (type === undefined) return json;
  const one = (value: JsonValue): JsonValue => {
    if (type.kind === "message") return withPlainEnums(type, value);
    return typeof value === "string" ? withoutPrefix(type, value) : value;
  };
  if (field.fieldKind === "list") return (json as JsonValue[]).map(one);
  if (field.fieldKind === "map") return Object.fromEntries(Object.entries(json as JsonObject).map(([key, value]) => [key, one(value)]));
  return one(json);
}
