import { createHash } from "node:crypto";
import type { Stats } from "node:fs";
import { lstat, open, readdir, readFile, readlink, realpath, stat } from "node:fs/promises";
import path from "node:path";
import { ForgeError } from "@forge/protocol";
import { ErrorCode } from "@forge/protocol/common";
import { parseHooks, parseMcpConfig } from "@forge/tools/configs";

/** What a file of a workspace makes run. */
export type ExecutingKind = "mcp" | "hooks" | "tests" | "config" | "tools" | "functions" | "program";

/** A file of a workspace that makes something run, or says what is run or talked to. */
export interface ExecutingFile {
  /** Relative to the root, with slashes. */
  readonly path: string;
  readonly kind: ExecutingKind;
  /** Of its content, hexadecimal; of a link that leads nowhere, of where it points. */
  readonly sha256: string;
}

/** What makes things run in a workspace. */
export interface ExecutingFiles {
  /** In order of path. */
  readonly files: readonly ExecutingFile[];
  /** The text of files that are read as configuration, by path: exactly what was looked at. */
  readonly texts: ReadonlyMap<string, string>;
}

/** Where tools and functions of a project lie, relative to its root, beside `tools` and `functions`. */
export interface CodeDirectories {
  readonly tools?: readonly string[];
  readonly functions?: readonly string[];
}

/** Single files, and what they are. */
const FILES: readonly (readonly [path: string, kind: ExecutingKind])[] = [
  [".mcp.json", "mcp"],
  [".forge/hooks.toml", "hooks"],
  [".forge/tests.toml", "tests"],
  [".env", "config"],
];
/** Configurations: the project's, and those that are laid over it. */
const CONFIG = /^runtime(\.[\w-]{1,64})?\.yaml$/;

/** Folders of packages: what is installed in them is written by package managers, changes with every install, and counts as what trusted code imports. */
const INSTALLED: ReadonlySet<string> = new Set(["node_modules", ".git", ".venv", "venv"]);

const FILES_MAX = 10_000;
const BYTES_MAX = 256 * 1024 * 1024;
const DEPTH_MAX = 32;
const TEXT_BYTES_MAX = 1024 * 1024;

/** Looks for what a workspace makes run. Errors: resource_exhausted, TRUST_TOO_LARGE, where there is more than could be looked at. */
export async function findExecutingFiles(root: string, directories: CodeDirectories = {}): Promise<ExecutingFiles> {
  const looked = new Look(root);
  for (const [file, kind] of FILES) await looked.file(file, kind, { keepText: kind !== "config" });
  for (const name of (await readdir(root)).filter((entry) => CONFIG.test(entry))) await looked.file(name, "config");
  for (const directory of new Set(["tools", ...(directories.tools ?? [])])) await looked.tree(path.posix.normalize(directory), "tools");
  for (const directory of new Set(["functions", ...(directories.functions ?? [])])) await looked.tree(path.posix.normalize(directory), "functions");
  for (const argument of looked.argumentsOfPrograms()) await looked.program(argument);
  return { files: looked.files(), texts: looked.texts };
}

class Look {
  readonly texts = new Map<string, string>();
  readonly #root: string;
  readonly #files = new Map<string, ExecutingFile>();
  readonly #directories = new Set<string>();
  #bytes = 0;

  constructor(root: string) {
    this.#root = root;
  }

  files(): ExecutingFile[] {
    return [...this.#files.values()].sort((a, b) => (a.path < b.path ? -1 : 1));
  }

  /** What the programs of MCP servers and hooks are started with: scripts of the workspace may be among it. */
  argumentsOfPrograms(): Set<string> {
    const mcp = this.texts.get(".mcp.json");
    const hooks = this.texts.get(".forge/hooks.toml");
    const servers = mcp === undefined ? [] : parseMcpConfig(mcp, ".mcp.json").servers;
    return new Set([
      ...servers.flatMap((server) => (server.kind === "stdio" ? [server.command, ...server.args] : [])),
      ...(hooks === undefined ? [] : parseHooks(hooks, ".forge/hooks.toml").hooks.flatMap(({ command }) => command)),
    ]);
  }

  /** An argument that is the name of a file in the workspace. */
  async program(argument: string): Promise<void> {
    if (argument === "" || argument.includes("\0")) return;
    const relative = path.relative(this.#root, path.resolve(this.#root, argument));
    if (relative === "" || relative.startsWith("..") || path.isAbsolute(relative)) return;
    const found = await stat(path.join(this.#root, relative)).catch(notThere);
    if (found?.isFile() === true) await this.file(relative, "program");
  }

  async tree(relative: string, kind: ExecutingKind, depth = 0): Promise<void> {
    const absolute = path.join(this.#root, relative);
    const found = await lstat(absolute).catch(notThere);
    if (found === undefined) return;
    const target = found.isSymbolicLink() ? await stat(absolute).catch(notThere) : found;
    if (target?.isDirectory() !== true) {
      await this.file(relative, kind);
      return;
    }
    if (found.isSymbolicLink()) this.#add(relative, kind, digestOf(await readlink(absolute)), 0);
    const real = await realpath(absolute);
    // A circle of links, or a second way to what was looked at.
    if (this.#directories.has(real)) return;
    this.#directories.add(real);
    if (depth >= DEPTH_MAX) throw tooLarge(relative);
    for (const name of (await readdir(absolute)).sort()) if (!INSTALLED.has(name)) await this.tree(path.posix.join(relative, name), kind, depth + 1);
  }

  async file(relative: string, kind: ExecutingKind, { keepText = false } = {}): Promise<void> {
    const file = relative.split(path.sep).join("/");
    if (this.#files.has(file)) return;
    const absolute = path.join(this.#root, relative);
    const found = await stat(absolute).catch(notThere);
    if (found === undefined) {
      const link = await readlink(absolute).catch(notThere);
      if (link !== undefined) this.#add(file, kind, digestOf(link), 0);
      return;
    }
    if (!found.isFile() || (await isCheckedCache(absolute, found))) return;
    if (keepText && found.size <= TEXT_BYTES_MAX) {
      const content = await readFile(absolute);
      this.texts.set(file, content.toString("utf8"));
      this.#add(file, kind, digestOf(content), content.length);
      return;
    }
    if (this.#bytes + found.size > BYTES_MAX) throw tooLarge(file);
    this.#add(file, kind, await digestOfFile(absolute), found.size);
  }

  #add(file: string, kind: ExecutingKind, sha256: string, bytes: number): void {
    this.#bytes += bytes;
    this.#files.set(file, { path: file, kind, sha256 });
    if (this.#files.size > FILES_MAX || this.#bytes > BYTES_MAX) throw tooLarge(file);
  }
}

/**
 * What Python compiled for itself. It is made by every run, and checked by Python against the source's time and size, unless its header says that it is not to
 * be: that one counts like code.
 */
async function isCheckedCache(absolute: string, { size }: Stats): Promise<boolean> {
  if (!absolute.endsWith(".pyc") || path.basename(path.dirname(absolute)) !== "__pycache__" || size < 16) return false;
  const handle = await open(absolute);
  try {
    const { buffer } = await handle.read(Buffer.alloc(8), 0, 8, 0);
    return buffer.readUInt32LE(4) === 0;
  } finally {
    await handle.close();
  }
}

async function digestOfFile(absolute: string): Promise<string> {
  const handle = await open(absolute);
  try {
    const hash = createHash("sha256");
    for await (const chunk of handle.createReadStream()) hash.update(chunk as Buffer);
    return hash.digest("hex");
  } finally {
    await handle.close();
  }
}

function digestOf(content: string | Uint8Array): string {
  return createHash("sha256").update(content).digest("hex");
}

/** What vanished, or never was, makes nothing run. Anything else that can't be looked at is an error: it might. */
function notThere(error: unknown): undefined {
  const { code } = error as NodeJS.ErrnoException;
  if (code === "ENOENT" || code === "ENOTDIR" || code === "EINVAL") return undefined;
  throw error;
}

function tooLarge(file: string): ForgeError {
  return new ForgeError(
    ErrorCode.RESOURCE_EXHAUSTED,
    `the workspace has more code of its own than can be looked at (${FILES_MAX} files, ${BYTES_MAX} bytes, ${DEPTH_MAX} directories deep): ${file}. It is not trusted.`,
    { reason: "TRUST_TOO_LARGE", retryable: false, origin: "client", metadata: { file } },
  );
}
