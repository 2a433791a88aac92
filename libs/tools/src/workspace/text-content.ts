import { isUtf8 } from "node:buffer";
import { ForgeError } from "@forge/protocol";

/** How a text is written as bytes. LATIN_1 stands for any single-byte encoding that has ASCII in its lower half: every byte is one character, and stays it. */
export type Encoding = "utf-8" | "latin-1";

/** A file's text, and what is needed to write it again with not one byte more changed than was meant. */
export interface TextContent {
  /** Without the byte order mark. */
  readonly text: string;
  readonly encoding: Encoding;
  /** Whether the file begins with UTF-8's byte order mark. */
  readonly hasMark: boolean;
}

const MARK = Buffer.from([0xef, 0xbb, 0xbf]);

/** Control characters that no text has: all but tab, line feed, form feed, carriage return, backspace, bell and escape. */
// oxlint-disable-next-line no-control-regex -- they are what is looked for
const NOT_OF_TEXT = /[\x00-\x06\x0e-\x1a\x1c-\x1f]/;
/** Bytes that Latin-1 has no letters for; a file with such a one has another encoding, in which a byte may be half of a character. The last one is no letter that is ever written. */
const NOT_OF_LATIN_1 = /[\x80-\x9f\xff]/;

/** Errors: validation, NOT_TEXT, of what is binary or of an encoding that is not known; it says what was found. */
export function decodeText(bytes: Uint8Array, path: string): TextContent {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (isUtf16(buffer)) throw notText(path, "is UTF-16 text, which the file tools don't work on");
  if (buffer.includes(0)) throw notText(path, `is not text: it has a NUL byte at ${buffer.indexOf(0)}`);
  if (isUtf8(buffer)) {
    const hasMark = buffer.subarray(0, MARK.length).equals(MARK);
    return { text: buffer.toString("utf8", hasMark ? MARK.length : 0), encoding: "utf-8", hasMark };
  }
  const text = buffer.toString("latin1");
  if (NOT_OF_TEXT.test(text) || NOT_OF_LATIN_1.test(text)) throw notText(path, "is neither UTF-8 nor Latin-1 text");
  return { text, encoding: "latin-1", hasMark: false };
}

/** The bytes of a changed text in the encoding and with the mark of the file that it comes from. Errors: validation, of half a character. */
export function encodeText(text: string, { encoding, hasMark }: Pick<TextContent, "encoding" | "hasMark">, path: string): Buffer {
  if (encoding === "latin-1") return Buffer.from(text, "latin1");
  // Half of a surrogate pair has no UTF-8; writing U+FFFD instead would silently change what was asked for.
  if (!text.isWellFormed()) throw ForgeError.validation("arguments", `what is to be written to ${path} holds half of a character`, { origin: "tool" });
  const bytes = Buffer.from(text, "utf8");
  return hasMark ? Buffer.concat([MARK, bytes]) : bytes;
}

function isUtf16(bytes: Buffer): boolean {
  return bytes.length >= 2 && ((bytes[0] === 0xff && bytes[1] === 0xfe) || (bytes[0] === 0xfe && bytes[1] === 0xff));
}

function notText(path: string, what: string): ForgeError {
  return ForgeError.validation("path", `${path} ${what}`, { origin: "tool", reason: "NOT_TEXT" });
}
