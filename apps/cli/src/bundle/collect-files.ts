import { constants } from "node:fs";
import { lstat, open, readdir, realpath } from "node:fs/promises";
import path from "node:path";
import type { Project } from "@forge/workflow/project";
import { tooLarge } from "./bundle-error.ts";
import { leftOut } from "./left-out.ts";
import { BUNDLE_LIMITS } from "./limits.ts";
import { refuseSecrets } from "./refuse-secrets.ts";

/** A file of a bundle. */
export interface BundleFile {
  /** From the project's root, with slashes. */
  readonly path: string;
  readonly content: Buffer;
  readonly isExecutable: boolean;
}

/** What a bundle holds of a project, and what it does not. */
export interface CollectedFiles {
  /** By path, in the order of code units. */
  readonly files: readonly BundleFile[];
  readonly leftOut: readonly { readonly path: string; readonly why: string }[];
}

/** Reads what belongs into a bundle: the configuration, and the project's directories of workflows, agents, functions, tools and prompts. Nothing else is looked at. Errors: resource_exhausted. */
export async function collectFiles(project: Project): Promise<CollectedFiles> {
  const collector = new Collector(project.root, [await realOf(project.dataDir)]);
  const { workflowsDir, agentsDir, functionsDir, toolsDir, config } = project;
  const directories = [workflowsDir, agentsDir, functionsDir, toolsDir, path.resolve(project.root, config.prompts_dir)];
  await collector.add("runtime.yaml");
  for (const directory of new Set(directories)) {
    const relative = path.relative(project.root, directory);
    if (relative === "") collector.leave(".", "is the whole project: name a directory in it in runtime.yaml");
    else if (relative.startsWith("..") || path.isAbsolute(relative)) collector.leave(directory, "lies outside of the project");
    else await collector.add(relative);
  }
  return collector.result();
}

const CONFIGURATION = /^runtime(?:\.[^/]+)?\.ya?ml$/;

class Collector {
  readonly #root: string;
  readonly #never: readonly string[];
  readonly #files = new Map<string, BundleFile>();
  readonly #leftOut = new Map<string, string>();
  #bytes = 0;

  constructor(root: string, never: readonly string[]) {
    this.#root = root;
    this.#never = never;
  }

  leave(file: string, why: string): void {
    this.#leftOut.set(file, why);
  }

  result(): CollectedFiles {
    const files = Array.from(this.#files.values()).toSorted(byPath);
    return { files, leftOut: Array.from(this.#leftOut, ([file, why]) => ({ path: file, why })).toSorted(byPath) };
  }

  /** Adds a file or directory, by its path from the root; nothing where there is none. */
  async add(relative: string, depth = 0): Promise<void> {
    const absolute = path.join(this.#root, relative);
    const shown = relative.split(path.sep).join("/");
    const found = await lstat(absolute).catch(orMissing);
    if (found === undefined) return;
    const why = depth === 0 ? undefined : leftOut(path.basename(relative), found.isDirectory());
    if (why !== undefined) this.leave(shown, why);
    else if (found.isSymbolicLink()) this.leave(shown, "is a link");
    else if (found.isDirectory()) await this.#addDirectory(relative, shown, depth);
    else if (found.isFile()) await this.#addFile(absolute, shown);
    else this.leave(shown, "is no file");
  }

  async #addDirectory(relative: string, shown: string, depth: number): Promise<void> {
    const absolute = path.join(this.#root, relative);
    if (this.#never.includes(await realOf(absolute))) return this.leave(shown, "holds the project's data");
    if (depth >= BUNDLE_LIMITS.depthMax) throw tooLarge(`${shown} is nested deeper than ${BUNDLE_LIMITS.depthMax} directories`);
    const names = await readdir(absolute);
    if (names.includes(".forge-data")) return this.leave(shown, "holds a project's data");
    for (const name of names) await this.add(path.join(relative, name), depth + 1);
  }

  async #addFile(absolute: string, shown: string): Promise<void> {
    if (this.#files.has(shown)) return;
    if (this.#files.size >= BUNDLE_LIMITS.entriesMax) throw tooLarge(`the project has more than ${BUNDLE_LIMITS.entriesMax} files to export`);
    // What was put in the file's place meanwhile is not followed.
    await using handle = await open(absolute, constants.O_RDONLY | constants.O_NOFOLLOW);
    const stats = await handle.stat();
    if (!stats.isFile()) return this.leave(shown, "is no file");
    if (stats.size > BUNDLE_LIMITS.fileBytesMax) throw tooLarge(`${shown} has more than ${BUNDLE_LIMITS.fileBytesMax} bytes`);
    const content = await handle.readFile();
    this.#bytes += content.length;
    if (this.#bytes > BUNDLE_LIMITS.bytesMax) throw tooLarge(`the project's files have more than ${BUNDLE_LIMITS.bytesMax} bytes`);
    if (isPrivateKey(content)) return this.leave(shown, "holds a private key");
    if (CONFIGURATION.test(shown)) refuseSecrets(shown, content.toString("utf8"));
    this.#files.set(shown, { path: shown, content, isExecutable: (stats.mode & 0o100) !== 0 });
  }
}

/** Keys in their usual text form say so at their beginning, whatever their file is called. */
function isPrivateKey(content: Buffer): boolean {
  return /^\s*-----BEGIN [A-Z ]*PRIVATE KEY/.test(content.subarray(0, 256).toString("latin1"));
}

function byPath(a: { readonly path: string }, b: { readonly path: string }): number {
  return a.path < b.path ? -1 : 1;
}

async function realOf(file: string): Promise<string> {
  return await realpath(file).catch(() => path.resolve(file));
}

function orMissing(error: unknown): undefined {
  if (["ENOENT", "ENOTDIR"].includes((error as NodeJS.ErrnoException).code ?? "")) return undefined;
  throw error;
}
