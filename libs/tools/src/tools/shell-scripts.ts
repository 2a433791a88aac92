import { readdir, readFile, stat } from "node:fs/promises";
import { basename, dirname, join, resolve } from "node:path";
import { contentStamp, type FileStamp } from "../process/file-stamp.ts";

/** What a command runs from the workspace, or that this can't be told. */
export type Scripts = readonly FileStamp[] | "unclear";

/** More are not shown to anybody who allows them. */
const SCRIPTS_MAX = 32;

const RUN_ANOTHER =
  /^(?:ant|bundle|busybox|chroot|chrt|command|composer|direnv|doas|docker|entr|env|eval|exec|find|flock|gdb|gradle|gradlew|hatch|invoke|ionice|just|lldb|mvn|mvnw|nice|nohup|nox|npx|parallel|pdm|pipenv|podman|poetry|rake|runuser|script|setarch|setpriv|setsid|ssh|stdbuf|strace|su|sudo|task|taskset|time|timeout|tox|toybox|unshare|uv|uvx|bunx|watch|xargs)$/;
const INTERPRETER =
  /^(?:awk|bun|dash|bash|deno|gawk|java|ksh|lua[0-9.]*|mawk|node|nodejs|perl|php|pypy[0-9.]*|python[0-9.]*|Rscript|ruby|sed|sh|ts-node|tsx|zsh)$/;
const PACKAGE_MANAGER = /^(?:npm|pnpm|yarn)$/;
/** Another package than that of the directory, another shell, or a program of a package. */
const ELSEWHERE = /^(?:-C|-w|-F|-r|--prefix|--cwd|--dir|--workspaces?|--filter|--recursive|--script-shell|exec|x|dlx|init|create)(?:=|$)/;
/** Code among the words, which may lead to any file. */
const INLINE = /^(?:-[a-zA-Z]*[cep]|--eval|--print|--command|eval|task)$/;
const MAKE = /^(?:g?make)$/;
const MAKEFILES = ["GNUmakefile", "makefile", "Makefile"];

/**
 * The workspace's files that a command of literal words runs: the script that an interpreter is given, a package manager's scripts, a makefile, git's own
 * configuration and hooks. It is what a remembered rule is bound to beside the words, so that a script with another content is asked about anew. `unclear` is
 * said of programs that run others which their words name.
 */
export async function workspaceScripts(words: readonly string[], cwd: string, workspace: string): Promise<Scripts> {
  const name = basename(words[0] ?? "");
  const parameters = words.slice(1);
  if (RUN_ANOTHER.test(name)) return "unclear";
  if (INTERPRETER.test(name)) return interpreted(name, parameters, cwd);
  if (PACKAGE_MANAGER.test(name) && parameters.some((word) => ELSEWHERE.test(word))) return "unclear";
  if (PACKAGE_MANAGER.test(name))
    return stamps(upwards(cwd, workspace).flatMap((at) => ["package.json", ".npmrc", ".yarnrc.yml", "package-lock.json"].map((file) => join(at, file))));
  if (MAKE.test(name)) {
    if (parameters.some((word) => /^(?:-C|--directory|-I|--include-dir|--eval)/.test(word))) return "unclear";
    return stamps([...MAKEFILES.map((file) => join(cwd, file)), ...given(parameters, cwd)]);
  }
  if (name === "git") return ofGit(parameters, cwd, workspace);
  return [];
}

async function interpreted(name: string, parameters: readonly string[], cwd: string): Promise<Scripts> {
  const module = /^(?:python|pypy)/.test(name) ? parameters[parameters.indexOf("-m") + 1] : undefined;
  if (parameters.includes("-m") && module !== undefined) {
    const [first = ""] = module.split(".");
    // A package of the workspace is many files.
    if ((await exists(join(cwd, first))) || (await exists(join(cwd, `${first}.py`)))) return "unclear";
  }
  if (!/^[gm]?awk$|^sed$/.test(name) && parameters.some((word) => INLINE.test(word))) return "unclear";
  if (name === "bun" && /^(?:run|test|x|install|add)$/.test(parameters[0] ?? "")) return "unclear";
  for (const path of given(parameters, cwd)) if ((await stat(path).catch(() => undefined))?.isDirectory()) return "unclear";
  return stamps(given(parameters, cwd));
}

async function ofGit(parameters: readonly string[], cwd: string, workspace: string): Promise<Scripts> {
  if (parameters.some((word) => /^(?:-C|-c|--exec-path|--git-dir|--work-tree|--config-env)/.test(word))) return "unclear";
  const directory = await gitDirectory(cwd, workspace);
  if (directory === undefined) return [];
  const config = await readFile(join(directory, "config"), "utf8").catch(() => undefined);
  // What leads to files that are not looked at here.
  if (config === undefined || /hookspath|include|worktreeconfig/i.test(config)) return "unclear";
  const hooks = (await readdir(join(directory, "hooks")).catch(() => [])).filter((file) => !file.endsWith(".sample"));
  return stamps([join(directory, "config"), ...hooks.map((file) => join(directory, "hooks", file))]);
}

/** Of a linked worktree, the one of its repository. */
async function gitDirectory(cwd: string, workspace: string): Promise<string | undefined> {
  for (const at of upwards(cwd, workspace)) {
    const path = join(at, ".git");
    const found = await stat(path).catch(() => undefined);
    if (found === undefined) continue;
    if (found.isDirectory()) return path;
    const [, target] = /^gitdir: (.+)\n?$/.exec(await readFile(path, "utf8")) ?? [];
    return target === undefined ? path : dirname(dirname(resolve(at, target)));
  }
  return undefined;
}

/** What the words may name of files, also behind a `=`. */
function given(parameters: readonly string[], cwd: string): string[] {
  return parameters.flatMap((word) => [word, ...(word.includes("=") ? [word.slice(word.indexOf("=") + 1)] : [])]).map((word) => resolve(cwd, word));
}

/** A directory and those above it, up to the workspace. */
function upwards(cwd: string, workspace: string): string[] {
  const directories = [cwd];
  for (let at = cwd; at !== workspace && at !== dirname(at); ) {
    at = dirname(at);
    directories.push(at);
  }
  return directories;
}

/** Of the files that there are. */
async function stamps(paths: readonly string[]): Promise<Scripts> {
  if (paths.length > 16 * SCRIPTS_MAX) return "unclear";
  const found: FileStamp[] = [];
  for (const path of paths) {
    const stamp = await contentStamp(path);
    if (stamp !== undefined) found.push(stamp);
    else if ((await stat(path).catch(() => undefined))?.isFile()) return "unclear";
  }
  return found.length > SCRIPTS_MAX ? "unclear" : found;
}

async function exists(path: string): Promise<boolean> {
  return (await stat(path).catch(() => undefined)) !== undefined;
}
