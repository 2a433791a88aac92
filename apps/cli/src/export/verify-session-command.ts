import path from "node:path";
import { ForgeError } from "@forge/protocol";
import type { CommonOptions, Context } from "../context.ts";
import { EXIT } from "../exit-code.ts";
import { safeText } from "../output/text.ts";
import { type Finding, readArchive } from "./read-archive.ts";
import { verifyArchive } from "./verify-archive.ts";
import { recordedFiles, workspaceDrift } from "./workspace-drift.ts";

export interface VerifyOptions extends CommonOptions {
  readonly head?: string;
  readonly workspace?: string;
}

/** `forge session verify`: whether an exported session is as it was written, and the workspace as the session left it. Asks no server. */
export async function verifySessionCommand({ terminal, directory }: Context, target: string, options: VerifyOptions): Promise<number> {
  const findings: Finding[] = [];
  const file = path.resolve(directory, target);
  const files = await readArchive(file, findings).catch((error: unknown) => {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") throw ForgeError.validation("file", `there is no ${file}`);
    throw error;
  });
  const { manifest, events } = verifyArchive(files, options.head, findings);
  if (options.workspace !== undefined) await workspaceDrift(path.resolve(directory, options.workspace), recordedFiles(events), findings);
  if (options.json === true)
    terminal.print(JSON.stringify({ verified: findings.length === 0, session_id: manifest?.session_id ?? null, head: manifest?.head ?? null, findings }));
  else {
    for (const { file: name, problem } of findings) terminal.print(`${terminal.style.red("✖")} ${safeText(name)} ${safeText(problem)}`);
    if (findings.length === 0)
      terminal.print(
        `${terminal.style.green("✔")} ${manifest?.events ?? 0} events and ${manifest?.artifacts.length ?? 0} artifacts are as they were written; the chain ends with ${manifest?.head ?? ""}`,
      );
  }
  return findings.length === 0 ? EXIT.OK : EXIT.FAILED;
}
