import { randomUUID } from "node:crypto";
import type { MessageInitShape } from "@bufbuild/protobuf";
import type { CommandHeaderSchema } from "@forge/protocol/common";

/** A header for one command; keep it to send the same command again. */
export function commandHeader(
  commandId: string = randomUUID(),
  options: { readonly expectedSeq?: bigint; readonly correlationId?: string } = {},
): MessageInitShape<typeof CommandHeaderSchema> {
  return { version: { major: 1, minor: 0 }, commandId, ...options };
}
