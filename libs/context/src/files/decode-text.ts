import { ForgeError } from "@forge/protocol";
import { quoted } from "./problem.ts";

/**
 * The bytes as text, without a byte order mark; `isCut` says that the file goes on after them, perhaps in the middle of a character, which is left out then.
 * Errors: validation, NOT_TEXT, where they are no UTF-8 or hold a NUL.
 */
export function decodeText(bytes: Uint8Array, path: string, isCut: boolean): string {
  // A NUL is in no text that somebody wrote, and a database's text can't hold one.
  if (bytes.includes(0)) throw notText(path, "is a binary file");
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes, { stream: isCut });
  } catch (error) {
    throw notText(path, "is not UTF-8 text", error);
  }
}

function notText(path: string, what: string, cause?: unknown): ForgeError {
  return ForgeError.validation("path", `${quoted(path)} ${what}`, { origin: "client", reason: "NOT_TEXT", cause });
}
