import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { ForgeError } from "@forge/protocol";
import { ErrorCode } from "@forge/protocol/common";

const BYTES_MAX = 1_048_576;

/** Lets a person edit a text in the editor that VISUAL or EDITOR names. `name` ends in what tells the editor the kind of text. Errors: internal, where the editor fails. */
export async function editText(text: string, name: string, environment: NodeJS.ProcessEnv): Promise<string> {
  const directory = await mkdtemp(path.join(tmpdir(), "forge-edit-"));
  try {
    const file = path.join(directory, name);
    await writeFile(file, text, { mode: 0o600 });
    const editor = environment.VISUAL || environment.EDITOR || "vi";
    // Editors are named with their options, as in `code --wait`: a shell takes that apart, and gets the file as a word of its own.
    const child = spawn("sh", ["-c", `${editor} "$1"`, "sh", file], { stdio: "inherit", env: environment });
    const [code] = (await once(child, "close")) as [number | null];
    if (code !== 0)
      throw new ForgeError(ErrorCode.INTERNAL, `the editor ${editor} ended with ${code}: nothing was edited`, { reason: "EDITOR", origin: "client" });
    const edited = await readFile(file, "utf8");
    if (edited.length > BYTES_MAX) throw ForgeError.validation("text", `the edited text has more than ${BYTES_MAX} characters`);
    return edited;
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}
