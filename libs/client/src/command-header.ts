import type { MessageInitShape } from "@bufbuild/protobuf";
import { uuidV7 } from "@forge/protocol";
import type { CommandHeaderSchema } from "@forge/protocol/common";

/** A header for one command; keep it to send the same command again. */
export function commandHeader(
  commandId: string = newCommandId(),
  options: { readonly expectedSeq?: bigint; readonly correlationId?: string } = {},
): MessageInitShape<typeof CommandHeaderSchema> {
  return { version: { major: 1, minor: 0 }, commandId, ...options };
}

/** Not `crypto.randomUUID`, which a browser has for pages of https and loopback only. */
function newCommandId(): string {
  return uuidV7(Date.now(), crypto.getRandomValues(new Uint8Array(10)));
}
