import { DialectParser } from "./dialect-parser.ts";
import type { Expression } from "./expression.ts";
import { EXPRESSION_BYTES_MAX } from "./limits.ts";
import { lower } from "./lower.ts";
import { type Result, TextFailure, toResult } from "./result.ts";

/**
 * Parses an expression of the branch dialect: Python's operators and truth over JSON values; names, attributes, subscripts, list literals, `len`, `min`,
 * `max`, `abs` and string methods. At most 4 KiB, 500 nodes, depth 50. Never throws; an error has the offset at which it was noticed.
 */
export function parseExpression(text: string): Result<Expression> {
  return toResult(() => {
    if (text.length > EXPRESSION_BYTES_MAX || utf8Length(text) > EXPRESSION_BYTES_MAX) throw new TextFailure(`longer than ${EXPRESSION_BYTES_MAX} bytes`, 0);
    if (text.trim() === "") throw new TextFailure("expected an expression, found nothing", 0);
    const parser = new DialectParser(text);
    return { text, root: lower(parseRaw(parser), parser) };
  });
}

function parseRaw(parser: DialectParser): ReturnType<DialectParser["parseWhole"]> {
  try {
    return parser.parseWhole();
  } catch (error) {
    // jsep's own errors carry the offset and, apart from it, the description.
    if (!(error instanceof Error && "description" in error && "index" in error)) throw error;
    const description = String(error.description);
    if (/^(?:Unexpected|Unclosed \[)/.test(description)) parser.unexpected();
    // An escape at the very end takes jsep one past it.
    throw new TextFailure(description, Math.min(Number(error.index), parser.expr.length));
  }
}

/** Bytes of a text in UTF-8; counted here because the domain has no encoder to ask. */
function utf8Length(text: string): number {
  let bytes = 0;
  for (const character of text) {
    const code = character.codePointAt(0) as number;
    bytes += code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
  }
  return bytes;
}
