import { execFile } from "node:child_process";
import { dirname } from "node:path";
import { fileURLToPath } from "node:url";

const PYTHON_CHECK_MS_MAX = 10_000;
/** Prints its version where that is new enough. */
const PYTHON_CHECK = "import sys; sys.exit(0 if sys.version_info >= (3, 10) else 'Python %d.%d' % sys.version_info[:2])";
/** The program's own directory is looked into while it is imported, and no longer; the project's root takes its place. */
const PYTHON_BOOT = "import sys; sys.path[0] = sys.argv[1]; from forge_project.child import main; main(sys.argv[2])";

/** Answers requests about functions in JavaScript. */
export function nodeCommand(heapMibMax: number): string[] {
  const entry = fileURLToPath(new URL("./function-child.ts", import.meta.url));
  // A project need not say that it is made of modules.
  return [process.execPath, `--max-old-space-size=${heapMibMax}`, "--disable-warning=MODULE_TYPELESS_PACKAGE_JSON", entry];
}

/** Answers requests about functions and tools in Python. `root` is the project's. */
export function pythonCommand(python: string, root: string): string[] {
  const program = fileURLToPath(new URL("../../../client-python/src/forge_project/", import.meta.url));
  // Unbuffered: what a call prints belongs to that call, and is shown while it runs. With a trace of what killed it.
  return [python, "-u", "-X", "faulthandler", "-c", PYTHON_BOOT, dirname(program), root];
}

/** Why an interpreter can't run a project's Python; undefined where it can. */
export function pythonProblem(python: string, environment: Readonly<Record<string, string>>): Promise<string | undefined> {
  return new Promise((resolve) => {
    execFile(python, ["-c", PYTHON_CHECK], { env: environment, timeout: PYTHON_CHECK_MS_MAX }, (error, _, stderr) => {
      const how = "install Python 3.10 or newer, or name it with FORGE_PYTHON";
      if (error === null) resolve(undefined);
      else resolve(`${python} can't run it (${stderr.trim().split("\n").at(-1) || error.message}): ${how}`);
    });
  });
}
