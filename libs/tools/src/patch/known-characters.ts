import type { Encoding } from "../workspace/text-content.ts";
import { patchError, quotedLine } from "./patch-error.ts";

/**
 * Of a file that is no UTF-8 nobody knows for sure which letters its upper bytes are: such bytes can be kept and moved, and no new ones are made up. Throws
 * where what is put in has other non-ASCII characters than what it takes the place of.
 */
export function requireKnownCharacters(encoding: Encoding, from: string, to: string, where: string): void {
  if (encoding === "utf-8") return;
  const unknown = Array.from(to).find((character) => (character.codePointAt(0) ?? 0) > 0x7f && !from.includes(character));
  if (unknown === undefined) return;
  throw patchError(
    "MISMATCH",
    where,
    `the file is not UTF-8, so that ${quotedLine(unknown)} can't be written into it: only ASCII text and what the replaced lines have can`,
  );
}
