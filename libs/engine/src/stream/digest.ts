import { create, type DescMessage, type MessageShape, toBinary } from "@bufbuild/protobuf";
import { type CommandHeader, CommandHeaderSchema } from "@forge/protocol/common";
import { sha256 } from "./identity.ts";

type Fields = Record<string, unknown>;

/** The same message with its maps in order of their keys, at every depth: encoders may write them in any. */
function sortMaps(schema: DescMessage, message: Fields): Fields {
  const copy = { ...message };
  for (const field of schema.fields) {
    const inOneof = field.oneof === undefined ? undefined : (copy[field.oneof.localName] as { case?: string; value?: unknown });
    if (inOneof !== undefined) {
      if (inOneof.case === field.localName && field.message !== undefined)
        copy[field.oneof?.localName ?? ""] = { ...inOneof, value: sortMaps(field.message, inOneof.value as Fields) };
      continue;
    }
    const value = copy[field.localName];
    if (value === undefined) continue;
    const { message: inner } = field;
    const sorted = (item: unknown) => (inner === undefined ? item : sortMaps(inner, item as Fields));
    if (field.fieldKind === "message") copy[field.localName] = sorted(value);
    else if (field.fieldKind === "list" && inner !== undefined) copy[field.localName] = (value as unknown[]).map(sorted);
    else if (field.fieldKind === "map") {
      const entries = Object.entries(value as Fields).sort(([a], [b]) => (a < b ? -1 : 1));
      copy[field.localName] = Object.fromEntries(entries.map(([key, item]) => [key, sorted(item)]));
    }
  }
  return copy;
}

/**
 * SHA-256 over a request's encoding: fields in order, maps by key, unknown fields included, the header reduced to what
 * identifies the command. Two requests with one command id must have one digest.
 */
export function requestDigest<S extends DescMessage>(schema: S, request: MessageShape<S> & { header?: CommandHeader }): Uint8Array {
  const header = create(CommandHeaderSchema, { version: request.header?.version, commandId: request.header?.commandId ?? "" });
  return sha256(toBinary(schema, { ...sortMaps(schema, request as Fields), header } as unknown as MessageShape<S>));
}
