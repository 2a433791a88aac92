import { resolve } from "node:path";
import type { JsonObject, JsonValue } from "@bufbuild/protobuf";
import { ForgeError } from "@forge/protocol";
import { readTextFile } from "../read-text-file.ts";

/** Bytes of a file given as an input. */
export const INPUT_FILE_BYTES_MAX = 16_777_216;

const REASON = "INPUT_INVALID";
const NAME = /^[\p{L}_][\p{L}\p{N}_-]*$/u;

/**
 * The object of inputs from a command line's `-i` flags, each `name=text`, `name=@file` (the file's text exactly as it is, at most 16 MiB) or `name=json:{...}`.
 * A text that begins with `@` or `json:` is written as JSON. Throws ForgeError, validation or not_found, that names the flag and the file.
 */
export async function parseInputs(flags: readonly string[], directory: string): Promise<JsonObject> {
  const inputs: JsonObject = {};
  for (const flag of flags) {
    const equals = flag.indexOf("=");
    const name = flag.slice(0, equals);
    if (equals < 1) throw invalid(flag, "expected name=value, name=@file or name=json:<JSON>");
    if (!NAME.test(name) || name === "__proto__" || name.length > 128) throw invalid(flag, `\`${name.slice(0, 40)}\` is no valid name of an input`);
    if (Object.hasOwn(inputs, name)) throw invalid(flag, `input ${name} is given twice`);
    inputs[name] = await valueOf(flag, flag.slice(equals + 1), directory);
  }
  return inputs;
}

async function valueOf(flag: string, value: string, directory: string): Promise<JsonValue> {
  if (value.startsWith("json:")) return parseJson(flag, value.slice("json:".length));
  if (!value.startsWith("@")) return checkText(flag, value);
  if (value === "@") throw invalid(flag, "expected a file's name after @");
  return readTextFile(resolve(directory, value.slice(1)), { what: label(flag), bytesMax: INPUT_FILE_BYTES_MAX, reason: REASON });
}

function parseJson(flag: string, text: string): JsonValue {
  try {
    return JSON.parse(text) as JsonValue;
  } catch (error) {
    throw invalid(flag, `not JSON (${error instanceof Error ? error.message : String(error)})`);
  }
}

function checkText(flag: string, text: string): string {
  if (text.isWellFormed() && !text.includes("\0")) return text;
  throw invalid(flag, "the text holds a NUL or half a surrogate pair, which can't be stored");
}

function label(flag: string): string {
  return `-i ${flag.length > 120 ? `${flag.slice(0, 120)}…` : flag}`;
}

function invalid(flag: string, problem: string): ForgeError {
  return ForgeError.validation("inputs", `${label(flag)}: ${problem}`, { reason: REASON });
}
