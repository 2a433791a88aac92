import type { JsonValue } from "@bufbuild/protobuf";

/** What JSON leaves as it is and some readers of lines take for the end of one. */
const OTHER_LINE_ENDS = /[\u0085\u2028\u2029]/g;

/** JSON on one line, whoever reads it. */
export function toLine(json: JsonValue): string {
  return JSON.stringify(json).replaceAll(OTHER_LINE_ENDS, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`);
}
