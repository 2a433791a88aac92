import { commandHeader } from "@forge/client";
import type { CommandOptions } from "./command-options.ts";

/** The header that they stand for; to be sent again, it is kept. */
export function headerOf({ commandId, expectedSeq }: CommandOptions): ReturnType<typeof commandHeader> {
  return commandHeader(commandId, expectedSeq === undefined ? {} : { expectedSeq: BigInt(expectedSeq) });
}
