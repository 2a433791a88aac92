import { readdir, readFile, stat } from "node:fs/promises";
import { basename, dirname, join, resolve } from "node:path";
import { contentStamp, type FileStamp } from "../process/file-stamp.ts";

/** What a command runs from the workspace, or that this can't be told. */
export type Scripts = readonly FileStamp[] | "unclear";

/** More are not shown to anybody who allows them. */
const SCRIPTS_MAX = 32;

/** Programs that run nothing but themselves, whatever their words are; with the options of some that do. */
const PLAIN =
  /^(?:basename|cat|chmod|cmp|cp|cut|date|df|diff|dirname|du|echo|egrep|false|fgrep|file|grep|head|jq|ln|ls|mkdir|mv|printf|pwd|readlink|realpath|rg|rm|rmdir|seq|sleep|sort|stat|tail|tee|test|touch|tr|tree|true|uniq|wc|which)$/;
const PLAIN_RUNS: Readonly<Record<string, RegExp>> = { rg: /^--(?:p|h)|^-[a-zA-Z]*z/, sort: /^--co/, file: /^-[a-zA-Z]*[zZS]|^--/ };
/** They run the file that they are given. */
const INTERPRETER = /^(?:dash|bash|java|ksh|lua[0-9.]*|node|nodejs|perl|php|pypy[0-9.]*|python[0-9.]*|Rscript|ruby|sh|ts-node|tsx|zsh)$/;
const PACKAGE_MANAGER = /^(?:npm|pnpm|yarn)$/;
/** Another package than that of the directory, another shell, or a program of a package. */
const ELSEWHERE =
  /^(?:-C|-w|-F|-r|--prefix|--cwd|--dir|--workspaces?|--filter|--recursive|--script-shell|exec|x|dlx|init|create|explore|edit|config|pkg)(?:=|$)/;
/** Options of package managers that change nothing of what runs; behind `--` they are the script's. */
const QUIET = /^(?:-s|--silent|--if-present|--no-audit|--no-fund)$/;
const MAKE = /^(?:g?make)$/;
/** Options of make that change nothing of what runs. */
const MAKE_OPTION = /^(?:-[jknsB]+[0-9]*|--(?:silent|quiet|keep-going|dry-run|always-make))$/;
/** Lines of a makefile that lead to other files. */
const INCLUDES = /^\s*(?:-?include|sinclude|load|-load)\s/m;
/** What of git runs nothing but hooks, and what the configuration names; and options of those that do. */
const GIT =
  /^(?:add|blame|branch|cat-file|checkout|cherry-pick|clean|commit|describe|diff|fetch|init|log|ls-files|merge|mv|pull|push|remote|reset|restore|rev-parse|revert|rm|shortlog|show|stash|status|switch|tag)$/;
const GIT_RUNS = /^(?:-C|-c|-s|-u.|--exec|--git-dir|--work-tree|--config-env|--up|--rec|--st|--ex)|::/;
const MAKEFILES = ["GNUmakefile", "makefile", "Makefile"];

/**
 * The workspace's files that a command of literal words runs: the script that an interpreter is given, a package manager's scripts, a makefile, git's own
 * configuration and hooks. It is what a remembered rule is bound to beside the words, so that a script with another content is asked about anew. `unclear` is
 * said of every program, and every option of one, that is not known to run nothing else.
 */
export async function workspaceScripts(words: readonly string[], cwd: string, workspace: string): Promise<Scripts> {
  const program = words[0] ?? "";
  const name = basename(program);
  const parameters = words.slice(1);
  if (PLAIN.test(name)) return parameters.some((word) => PLAIN_RUNS[name]?.test(word)) ? "unclear" : [];
  if (INTERPRETER.test(name)) return interpreted(parameters, cwd);
  if (PACKAGE_MANAGER.test(name)) return packaged(parameters, cwd, workspace);
  if (MAKE.test(name)) return made(parameters, cwd);
  if (name === "git") return ofGit(parameters, cwd, workspace);
  // A program of the workspace is looked at by whoever runs it; what it is given may be a script.
  return program.includes("/") && upwards(dirname(resolve(cwd, program)), workspace).includes(workspace) ? stamps(given(parameters, cwd)) : "unclear";
}

/** A file, and what is for it: an option in front of it may lead to any other. */
async function interpreted(parameters: readonly string[], cwd: string): Promise<Scripts> {
  const [script = "-"] = parameters;
  // Not by that very name, the interpreter may find another one.
  if (script.startsWith("-") || (await stat(resolve(cwd, script)).catch(() => undefined))?.isFile() !== true) return "unclear";
  return stamps(given(parameters, cwd));
}

async function packaged(parameters: readonly string[], cwd: string, workspace: string): Promise<Scripts> {
  const end = parameters.indexOf("--");
  const own = end === -1 ? parameters : parameters.slice(0, end);
  if (own.some((word) => ELSEWHERE.test(word) || (word.startsWith("-") && !QUIET.test(word)))) return "unclear";
  return stamps(upwards(cwd, workspace).flatMap((at) => ["package.json", ".npmrc", ".yarnrc.yml", "package-lock.json"].map((file) => join(at, file))));
}

async function made(parameters: readonly string[], cwd: string): Promise<Scripts> {
  if (parameters.some((word) => word.includes("=") || (word.startsWith("-") && !MAKE_OPTION.test(word)))) return "unclear";
  const files = MAKEFILES.map((file) => join(cwd, file));
  for (const file of files) if (INCLUDES.test(await readFile(file, "utf8").catch(() => ""))) return "unclear";
  return stamps([...files, ...given(parameters, cwd)]);
}

async function ofGit(parameters: readonly string[], cwd: string, workspace: string): Promise<Scripts> {
  if (!GIT.test(parameters[0] ?? "") || parameters.some((word) => GIT_RUNS.test(word))) return "unclear";
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
