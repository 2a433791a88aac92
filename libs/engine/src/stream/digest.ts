import { create, type DescMessage, type MessageShape, toBinary } from "@bufbuild/protobuf";
import { type CommandHeader, CommandHeaderSchema } from "@forge/protocol/common";
import { sha256 } from "./identity.ts";

function sortMaps<S extends DescMessage>(schema: S, message: MessageShape<S>): MessageShape<S> {
  const copy = { ...message } as Record<string, unknown>;
  for (const field of schema.fields) {
    if (field.fieldKind !== "map") continue;
    const map = copy[field.localName] as Record<string, unknown>;
    copy[field.localName] = Object.fromEntries(Object.entries(map).sort(([a], [b]) => (a < b ? -1 : 1)));
  }
  return copy as MessageShape<S>;
}

/**
 * SHA-256 over a request's encoding: fields in order, maps of the request itself by key, unknown fields included, the header reduced to what
 * identifies the command. Two requests with one command id must have one digest.
 */
export function requestDigest<S extends DescMessage>(schema: S, request: MessageShape<S> & { header?: CommandHeader }): Uint8Array {
  const header = create(CommandHeaderSchema, { version: request.header?.version, commandId: request.header?.commandId ?? "" });
  return sha256(toBinary(schema, { ...sortMaps(schema, request), header } as MessageShape<S>));
}
