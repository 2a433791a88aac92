import { createHash } from "node:crypto";
import { stat } from "node:fs/promises";
import { join, relative, resolve, sep } from "node:path";
import { create } from "@bufbuild/protobuf";
import { RiskLevel, type ToolPreview, ToolPreviewSchema } from "@forge/protocol/tool";
import { childEnvironment } from "../process/environment.ts";
import { contentStamp, type FileStamp, programStamp } from "../process/file-stamp.ts";
import { findProgram, isProgram, pathDirectories } from "../process/system-program.ts";
import { cutText } from "../text.ts";
import type { WorkspaceGuard } from "../workspace/workspace-guard.ts";
import { gitReadingEnvironment, hasHarmlessGitConfig } from "./shell-git.ts";
import { readingCommand } from "./shell-reading.ts";
import { workspaceScripts } from "./shell-scripts.ts";
import { literalWords } from "./shell-words.ts";

/** What a command of the shell tool will be, found out without running it. */
export interface PlannedCommand {
  /** An argument vector where it is literal words, which then need no shell; the text for sh otherwise. */
  readonly command: string | readonly string[];
  /** Without links. */
  readonly cwd: string;
  /** Added to what the command sees. */
  readonly environment: Readonly<Record<string, string>>;
  /** It is known to only read. */
  readonly reads: boolean;
  readonly preview: ToolPreview;
}

/** Where an operating system keeps programs that nobody puts there by the way. */
const SYSTEM = /^\/(?:usr\/(?:local\/)?s?bin|s?bin|usr\/(?:lib|libexec|share)|opt|nix\/store|run\/current-system)\//;
/** sh does these itself, and they do no more than the programs of their names. */
const HARMLESS_BUILTINS = new Set(["echo", "false", "printf", "pwd", "test", "true", "["]);
/** sh does these itself: nothing is looked for on the PATH. */
const BUILTINS = new Set([
  ".",
  ":",
  "alias",
  "bg",
  "break",
  "cd",
  "command",
  "continue",
  "eval",
  "exec",
  "exit",
  "export",
  "fg",
  "getopts",
  "hash",
  "jobs",
  "kill",
  "let",
  "local",
  "read",
  "readonly",
  "return",
  "set",
  "shift",
  "source",
  "times",
  "trap",
  "type",
  "ulimit",
  "umask",
  "unalias",
  "unset",
  "wait",
]);
const FACTS_BYTES_MAX = 8 * 1024;
const TITLE_LENGTH_MAX = 256;

/** Finds out what a command will be. `cwd` is relative to the workspace, and must be a directory of it. */
export async function planCommand(
  guard: WorkspaceGuard,
  { command, cwd, environment, signal }: { command: string; cwd: string; environment: Readonly<Record<string, string>>; signal: AbortSignal },
): Promise<PlannedCommand> {
  await using directory = await guard.openDirectory(cwd, { create: false });
  const place = { cwd: directory.realPath, shown: guard.relative(directory.realPath) };
  const words = literalWords(command);
  const found = words === undefined ? undefined : await findCommand(words, place.cwd, environment);
  if (words === undefined || found === undefined) return asText(command, place);
  const reading = await readingWords(guard, words, found, place.cwd, signal);
  if (reading !== undefined) {
    const preview = describe(command, place, { program: found.stamp, reads: true }, words);
    preview.risk = RiskLevel.READ;
    return { command: reading.words, cwd: place.cwd, environment: reading.environment, reads: true, preview };
  }
  const argv = found.isBuiltin ? command : [found.path, ...words.slice(1)];
  const scripts = await workspaceScripts(words, place.cwd, guard.root);
  if (scripts === "unclear") return { ...asText(command, place, found.stamp), command: argv };
  const facts = { program: found.stamp, scripts: scripts.map(({ path, stamp }) => ({ path: guard.relative(path), stamp })) };
  const preview = describe(command, place, facts, words);
  return { command: argv, cwd: place.cwd, environment: {}, reads: false, preview };
}

interface Place {
  readonly cwd: string;
  readonly shown: string;
}

/** No rule can be made of it: what it does depends on more than its words. */
function asText(command: string, { cwd, shown }: Place, program?: FileStamp): PlannedCommand {
  const facts = { command: digest(command), cwd: shown, program };
  const preview = create(ToolPreviewSchema, { title: title(command, shown), factsJson: JSON.stringify(facts) });
  return { command, cwd, environment: {}, reads: false, preview };
}

function describe(command: string, { shown }: Place, what: Record<string, unknown>, words: readonly string[]): ToolPreview {
  const factsJson = JSON.stringify({ command: digest(command), cwd: shown, ...what });
  const preview = create(ToolPreviewSchema, { title: title(command, shown), factsJson });
  if (Buffer.byteLength(factsJson) > FACTS_BYTES_MAX) {
    // Too much to be held against what is there at the time; asked about each time, and bound to all of it.
    preview.factsJson = JSON.stringify({ command: digest(command), cwd: shown, all: digest(factsJson) });
    return preview;
  }
  // The words, not the text: spaces between them mean nothing.
  preview.ruleKey = `shell:${digest(JSON.stringify({ cwd: shown, words, ...what }))}`;
  preview.ruleTitle = oneLine(`${words.join(" ")} in ${shown}`);
  return preview;
}

interface FoundCommand {
  /** As PATH leads to it, because programs look at the name that they are called by. */
  readonly path: string;
  readonly stamp: FileStamp;
  readonly isBuiltin: boolean;
}

/** What the first word names; undefined for what is missing, and for what a shell does itself and nobody else could. */
async function findCommand(words: readonly string[], cwd: string, environment: Readonly<Record<string, string>>): Promise<FoundCommand | undefined> {
  const [name = ""] = words;
  if (HARMLESS_BUILTINS.has(name)) return { path: name, stamp: { path: name, stamp: "sh" }, isBuiltin: true };
  if (BUILTINS.has(name)) return undefined;
  const { PATH } = childEnvironment(environment);
  const path = name.includes("/") ? resolve(cwd, name) : findProgram(name, pathDirectories(PATH));
  if (path === undefined || !isProgram(path)) return undefined;
  const stamp = await programStamp(path);
  const system = SYSTEM.test(stamp.path) ? stamp : await contentStamp(path);
  // A program that is too large to be read each time, and lies where the system has none, is bound to what the file system tells of it.
  return { path, stamp: system ?? stamp, isBuiltin: false };
}

/** The words to run of a command that only reads files of the workspace, by a program of the system. */
async function readingWords(
  guard: WorkspaceGuard,
  words: readonly string[],
  { path, stamp, isBuiltin }: FoundCommand,
  cwd: string,
  signal: AbortSignal,
): Promise<{ words: readonly string[]; environment: Record<string, string> } | undefined> {
  const reading = readingCommand(words);
  if (reading === undefined) return undefined;
  // By the program of its name, because sh would understand its words in another way.
  if (isBuiltin) {
    const program = findProgram(path, ["/usr/bin", "/bin"]);
    return program === undefined ? undefined : { words: [program, ...words.slice(1)], environment: {} };
  }
  if (!SYSTEM.test(path) || !SYSTEM.test(stamp.path) || isInside(guard.root, path) || isInside(guard.root, stamp.path)) return undefined;
  for (const file of reading.paths) {
    const inside = await guard.resolve(join(guard.relative(cwd), file)).catch(() => undefined);
    if (file.startsWith("/") || inside === undefined || !(await isReadable(inside, reading.filesOnly))) return undefined;
  }
  if (reading.gitWords === undefined) return { words: [path, ...words.slice(1)], environment: {} };
  if (!(await hasHarmlessGitConfig(path, cwd, guard.root, signal))) return undefined;
  return { words: [path, ...reading.gitWords], environment: gitReadingEnvironment(guard.root) };
}

/** No pipe and no device, which answer with effects or never. What is missing is told by the command. */
async function isReadable(path: string, filesOnly: boolean): Promise<boolean> {
  const found = await stat(path).catch(() => undefined);
  return found === undefined || found.isFile() || (found.isDirectory() && !filesOnly);
}

function title(command: string, shown: string): string {
  return oneLine(`run ${command}${shown === "." ? "" : ` in ${shown}`}`);
}

/** One line for people, with what would hide the rest of it shown. */
function oneLine(text: string): string {
  const visible = text.replaceAll(/[\p{Cc}\p{Cf}\u2028\u2029]/gu, (character) => (character === "\n" ? "⏎" : character === "\t" ? " " : "\ufffd"));
  return visible.length > TITLE_LENGTH_MAX ? `${cutText(visible, TITLE_LENGTH_MAX - 1)}…` : visible;
}

function digest(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}

function isInside(root: string, path: string): boolean {
  const rest = relative(root, path);
  return rest !== ".." && !rest.startsWith(`..${sep}`);
}
