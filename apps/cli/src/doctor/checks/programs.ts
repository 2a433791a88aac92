import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { type Found, ok, warning } from "../finding.ts";
import type { Subject } from "../subject.ts";

const run = promisify(execFile);

const PYTHON_MINOR_MIN = 10;
const PYTHON_CHECK = "import importlib.util, sys; print(*sys.version_info[:3], sep='.'); print(importlib.util.find_spec('forge_client') is not None)";

/** Python, for whoever writes tools in it; everything else works without. */
export async function checkPython({ environment }: Subject, signal: AbortSignal): Promise<Found> {
  const python = environment.FORGE_PYTHON || "python3";
  const output = await outputOf(python, ["-c", PYTHON_CHECK], environment, signal);
  if (output instanceof Error)
    return warning(`${python} can't be run (${output.message})`, "only workers in Python need it: install Python 3.10 or newer, or name it with FORGE_PYTHON");
  const [version = "", hasClient] = output.trim().split("\n");
  const [major, minor] = version.split(".").map(Number);
  if (major !== 3 || !(Number(minor) >= PYTHON_MINOR_MIN))
    return warning(`${python} is Python ${version}, and workers need 3.${PYTHON_MINOR_MIN} or newer`, "name a newer one with FORGE_PYTHON");
  if (hasClient !== "True")
    return warning(`Python ${version} has no package forge-client`, `only workers in Python need it: ${python} -m pip install ./libs/client-python`);
  return ok(`Python ${version} with forge-client`);
}

/** git, which nothing here needs and whoever lets agents change files is glad of. */
export async function checkGit({ environment }: Subject, signal: AbortSignal): Promise<Found> {
  const output = await outputOf("git", ["--version"], environment, signal);
  if (output instanceof Error)
    return warning(`git can't be run (${output.message})`, "install it: what an agent has changed is easiest seen and undone with git");
  return ok(output.trim());
}

async function outputOf(program: string, words: readonly string[], env: NodeJS.ProcessEnv, signal: AbortSignal): Promise<string | Error> {
  try {
    return (await run(program, [...words], { env, signal, killSignal: "SIGKILL" })).stdout;
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    return new Error(code === "ENOENT" ? "there is none" : (message.split("\n")[0] ?? message), { cause: error });
  }
}
