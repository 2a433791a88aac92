import { readFile } from "node:fs/promises";
import path from "node:path";
import { parseEnv } from "node:util";
import { ForgeError } from "@forge/protocol";

/** Variables are few and short; what is larger is no file of them. */
const FILE_BYTES_MAX = 262_144;

/** The variables of a project's `.env`: of its own code, and keys of providers; none where there is no such file. Errors: validation, CONFIG_VALIDATION. */
export async function readProjectEnvironment(root: string): Promise<Record<string, string>> {
  const file = path.join(root, ".env");
  let text: string;
  try {
    text = await readFile(file, "utf8");
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    // A directory of that name is somebody's environment of Python.
    if (code === "ENOENT" || code === "EISDIR") return {};
    throw ForgeError.validation(".env", `${file} can't be read: ${message}`, { reason: "CONFIG_VALIDATION", metadata: { file }, cause: error });
  }
  if (text.length > FILE_BYTES_MAX) {
    throw ForgeError.validation(".env", `${file} has more than ${FILE_BYTES_MAX} bytes`, { reason: "CONFIG_VALIDATION", metadata: { file } });
  }
  return Object.fromEntries(Object.entries(parseEnv(text)).filter((entry): entry is [string, string] => entry[1] !== undefined));
}
