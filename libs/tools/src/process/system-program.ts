import { accessSync, constants, statSync } from "node:fs";
import { delimiter, isAbsolute, join } from "node:path";

/** Where an operating system keeps its own programs. */
const SYSTEM_DIRECTORIES = ["/usr/bin", "/bin", "/usr/sbin", "/sbin", "/run/current-system/sw/bin", "/usr/local/bin", "/opt/homebrew/bin"];

/**
 * The absolute path of a program that Forge itself needs; undefined where there is none. The system's own directories come before PATH, because a PATH may begin
 * with a directory of the workspace (`npx` puts node_modules/.bin there), whose programs must not run in the place of the sandbox's.
 */
export function systemProgram(name: string): string | undefined {
  return findProgram(name, SYSTEM_DIRECTORIES) ?? findProgram(name, pathDirectories(process.env.PATH));
}

/** The first executable file of a name in these directories. */
export function findProgram(name: string, directories: readonly string[]): string | undefined {
  return directories.map((directory) => join(directory, name)).find(isProgram);
}

/** The absolute directories of a PATH; a relative one means another at every place. */
export function pathDirectories(path: string | undefined): string[] {
  return (path ?? "").split(delimiter).filter(isAbsolute);
}

/** Whether a path leads to a file that may be executed. */
export function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    // Missing, or not to be looked at: no program either way.
    return false;
  }
}
