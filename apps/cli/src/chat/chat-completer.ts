import { readdir } from "node:fs/promises";
import path from "node:path";
import type { Completer } from "./read-line.ts";
import { SLASH_COMMANDS } from "./slash-command.ts";

const MODES = ["plan", "act", "bypass"];
const NAMES_MAX = 200;

/** Completes slash commands, modes, and paths of the workspace behind an `@`. */
export function chatCompleter(root: string): Completer {
  return async (line) => {
    const command = /^\/(\w*)$/.exec(line);
    if (command !== null) return [SLASH_COMMANDS.map(({ name }) => `/${name}`).filter((name) => name.startsWith(line)), line];
    const mode = /^\/mode\s+(\w*)$/.exec(line)?.[1];
    if (mode !== undefined) return [MODES.filter((name) => name.startsWith(mode)), mode];
    const reference = /(?:^|\s)@([^\s@]*)$/.exec(line)?.[1];
    return reference === undefined ? [[], line] : [await pathsFor(root, reference), reference];
  };
}

/** Paths that begin with what was typed, relative to the workspace; none that lead out of it. */
async function pathsFor(root: string, typed: string): Promise<string[]> {
  const slash = typed.lastIndexOf("/");
  const parent = typed.slice(0, slash + 1);
  const begin = typed.slice(slash + 1);
  const directory = path.resolve(root, parent);
  if (directory !== root && !directory.startsWith(`${root}${path.sep}`)) return [];
  const entries = await readdir(directory, { withFileTypes: true });
  return entries
    .filter(({ name }) => name.startsWith(begin) && (begin !== "" || !name.startsWith(".")) && name !== "node_modules" && !/\s/.test(name))
    .slice(0, NAMES_MAX)
    .map((entry) => `${parent}${entry.name}${entry.isDirectory() ? "/" : ""}`)
    .sort();
}
