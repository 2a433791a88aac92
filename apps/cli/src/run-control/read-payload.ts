import { readFile, stat } from "node:fs/promises";
import { ForgeError } from "@forge/protocol";
import { ErrorCode } from "@forge/protocol/common";

/** A value's own bound in the store. */
const PAYLOAD_BYTES_MAX = 5 * 1024 * 1024;

/** The JSON text of an option: as it is, or of a file that is named with @ in front. Errors: validation; not_found of the file. */
export async function readPayload(text: string, resolve: (file: string) => string): Promise<string> {
  const json = text.startsWith("@") ? await readJsonFile(resolve(text.slice(1))) : text;
  try {
    JSON.parse(json);
  } catch (error) {
    const advice = text.startsWith("@") ? "" : `; a text has quotation marks: -d '"${text.slice(0, 40)}"'`;
    throw ForgeError.validation("data", `-d is no JSON: ${error instanceof Error ? error.message : String(error)}${advice}`);
  }
  return json;
}

async function readJsonFile(file: string): Promise<string> {
  const metadata = { file };
  try {
    const found = await stat(file);
    if (!found.isFile()) throw ForgeError.validation("data", `-d @${file}: it is no file`, { metadata });
    if (found.size > PAYLOAD_BYTES_MAX) throw ForgeError.validation("data", `-d @${file}: it is larger than ${PAYLOAD_BYTES_MAX} bytes`, { metadata });
    return new TextDecoder("utf-8", { fatal: true }).decode(await readFile(file));
  } catch (error) {
    if (error instanceof ForgeError) throw error;
    if (error instanceof TypeError) throw ForgeError.validation("data", `-d @${file}: it is not UTF-8 text`, { metadata, cause: error });
    throw new ForgeError(ErrorCode.NOT_FOUND, `-d @${file}: it can't be read (${(error as NodeJS.ErrnoException).code ?? String(error)})`, {
      reason: "FILE_NOT_FOUND",
      metadata,
      cause: error,
    });
  }
}
