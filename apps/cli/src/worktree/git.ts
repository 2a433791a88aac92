import { execFile } from "node:child_process";
import { stat } from "node:fs/promises";
import path from "node:path";
import { ForgeError } from "@forge/protocol";
import { ErrorCode } from "@forge/protocol/common";

const OUTPUT_BYTES_MAX = 16 * 1024 * 1024;
/** A large repository is checked out in less. */
const GIT_MS_MAX = 600_000;
/** Nothing that the repository's own configuration names is run. */
const SAFE = ["-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null", "-c", "commit.gpgsign=false", "-c", "submodule.recurse=false"];

/** The repository that a directory lies in; undefined where it lies in none. Asks no program. */
export async function gitRoot(directory: string): Promise<string | undefined> {
  for (let at = path.resolve(directory); ; at = path.dirname(at)) {
    if ((await stat(path.join(at, ".git")).catch(() => undefined)) !== undefined) return at;
    if (at === path.dirname(at)) return undefined;
  }
}

/** What git prints. Errors: conflict, GIT, with what git says. */
export async function git(directory: string, words: readonly string[], environment: NodeJS.ProcessEnv): Promise<string> {
  return new Promise((resolve, reject) => {
    const env = { ...environment, GIT_TERMINAL_PROMPT: "0", GIT_EDITOR: "true", GIT_MERGE_AUTOEDIT: "no", LC_ALL: "C" };
    execFile("git", [...SAFE, ...words], { cwd: directory, env, maxBuffer: OUTPUT_BYTES_MAX, timeout: GIT_MS_MAX }, (error, stdout, stderr) => {
      if (error === null) return resolve(stdout);
      if (error.code === "ENOENT")
        return reject(new ForgeError(ErrorCode.NOT_FOUND, "there is no git on this machine: worktrees need it", { reason: "GIT_MISSING", cause: error }));
      const said = (stderr || stdout || error.message).trim().slice(0, 2_000);
      reject(new ForgeError(ErrorCode.CONFLICT, `git ${words[0]}: ${said}`, { reason: "GIT", origin: "client", cause: error }));
    });
  });
}
