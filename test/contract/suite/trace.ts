import { type DescMessage, type MessageShape, toBinary, toJson } from "@bufbuild/protobuf";
import type { ForgeError } from "@forge/protocol";
import { ErrorCodeSchema } from "@forge/protocol/common";
import { type SubscribeEventsResponse, SubscribeEventsResponseSchema } from "@forge/protocol/event";

const LINES_MAX = 120;
const LINE_CHARACTERS_MAX = 200;
/** Larger messages are told by their size. */
const MESSAGE_BYTES_MAX = 2_000;

/** What the clients of one case did last, for its failure to show. */
export class Trace {
  readonly #lines: string[] = [];

  add(line: string): void {
    this.#lines.push(line.length > LINE_CHARACTERS_MAX ? `${line.slice(0, LINE_CHARACTERS_MAX)}...` : line);
    if (this.#lines.length > LINES_MAX) this.#lines.shift();
  }

  toString(): string {
    return this.#lines.join("\n");
  }
}

/** A message in a line; an event as its seq and kind. */
export function messageLine<M extends DescMessage>(schema: M, message: MessageShape<M>): string {
  if (schema.typeName === SubscribeEventsResponseSchema.typeName) {
    const { kind } = message as unknown as SubscribeEventsResponse;
    if (kind.case === "event") return `${kind.value.seq} ${kind.value.kind}`;
    if (kind.case === "position") return `position ${kind.value.seq}`;
    if (kind.case === "caughtUp") return `caught up at ${kind.value.positions.map(({ seq }) => seq).join(", ")}`;
  }
  const bytes = toBinary(schema, message).length;
  return bytes > MESSAGE_BYTES_MAX ? `${bytes} bytes` : JSON.stringify(toJson(schema, message));
}

export function errorLine({ code, reason, message }: ForgeError): string {
  return `${ErrorCodeSchema.value[code]?.localName ?? code} ${reason} ${message}`;
}
