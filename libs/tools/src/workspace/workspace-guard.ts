import { constants, existsSync, realpathSync, type Stats } from "node:fs";
import { type FileHandle, lstat, mkdir, open, readlink, realpath } from "node:fs/promises";
import { basename, dirname, isAbsolute, join, relative, resolve, sep } from "node:path";
import { ForgeError } from "@forge/protocol";
import { ErrorCode } from "@forge/protocol/common";
import { errorCode, fileError } from "./file-error.ts";
import { FORBIDDEN_DEFAULT, forbiddenPaths, type IsForbidden } from "./forbidden-paths.ts";
import { DATA_MARKER, isProtectedName } from "./protected-names.ts";

/** Longer paths are refused; the kernel's own bound for one path. */
const PATH_LENGTH_MAX = 4_096;

/** On Linux an open descriptor tells its real path, and is a directory that names can be opened in whatever happens to the path meanwhile. */
const HAS_DESCRIPTOR_PATHS = process.platform === "linux";

/** What may be different of a guard. */
export interface WorkspaceGuardOptions {
  /** Paths that tools neither read nor write, like the lines of a .gitignore; absent: FORBIDDEN_DEFAULT. */
  readonly forbidden?: readonly string[];
}

/** A directory of the workspace, held open. */
export interface WorkspaceDirectory extends AsyncDisposable {
  /** Where it was when it was opened, without links. */
  readonly realPath: string;
  /** The path of a name in it, which follows the open directory and not the path it was opened by. */
  at(name: string): string;
  /** Makes durable which names it holds. */
  sync(): Promise<void>;
}

/**
 * Keeps file access inside one directory. A path is resolved when it is used; what leaves the workspace by `..`, by an absolute path or by a symbolic link,
 * what is protected (`.git`, Forge's data) and what is forbidden (files that hold secrets), is refused with `sandbox_violation`. Links that stay inside are followed. What is opened is looked at once
 * more through its descriptor, so that a link that was swapped in after the check is caught. It guards the file tools; it is no sandbox for commands.
 */
export class WorkspaceGuard {
  /** The workspace's real path. */
  readonly root: string;
  /** What tools neither read nor write, as it was given. */
  readonly forbidden: readonly string[];
  readonly #givenRoot: string;
  readonly #isForbidden: IsForbidden;

  /** The workspace must exist. */
  constructor(workspace: string, { forbidden = FORBIDDEN_DEFAULT }: WorkspaceGuardOptions = {}) {
    this.forbidden = forbidden;
    this.#isForbidden = forbiddenPaths(forbidden);
    this.#givenRoot = resolve(workspace);
    try {
      this.root = realpathSync(this.#givenRoot);
    } catch (error) {
      throw ForgeError.validation("workspace", `the workspace ${workspace} can't be opened: ${(error as Error).message}`, { cause: error });
    }
  }

  /** The path without links, inside the workspace. What it names need not exist. */
  async resolve(path: string): Promise<string> {
    const parts = this.#parts(path);
    let current = this.root;
    for (const [index, part] of parts.entries()) {
      const next = join(current, part);
      const found = await lstat(next).catch((error: unknown) => {
        if (errorCode(error) === "ENOENT") return undefined;
        throw fileError(error, path);
      });
      if (found === undefined) {
        current = join(next, ...parts.slice(index + 1));
        break;
      }
      current = found.isSymbolicLink() ? await this.#follow(next, path) : next;
    }
    this.#check(current, path);
    return current;
  }

  /** The path as the workspace sees it; the root is ".". */
  relative(realPath: string): string {
    return relative(this.root, realPath).split(sep).join("/") || ".";
  }

  /** Whether a real path is one that tools must leave alone: git's own files, and Forge's data. */
  isProtected(realPath: string): boolean {
    return isProtectedName(this.relative(realPath)) || this.#isInData(realPath);
  }

  /** Whether a path as `relative` gives it is one that tools neither read nor write, as far as its names tell. */
  isRefusedName(path: string): boolean {
    return isProtectedName(path) || this.#isForbidden(path);
  }

  /** The path with the links of its directories followed, and not its own; undefined where the last name is no link. */
  async linkAt(path: string): Promise<string | undefined> {
    const parts = this.#parts(path);
    const name = parts.pop();
    if (name === undefined) return undefined;
    const own = join(await this.resolve(parts.join(sep) || "."), name);
    return (await lstat(own).catch(() => undefined))?.isSymbolicLink() ? own : undefined;
  }

  /** Whether a directory on the way is one of Forge's data, wherever a configuration puts it: such a one is marked. */
  #isInData(realPath: string): boolean {
    for (let directory = realPath; directory !== this.root && directory.startsWith(this.root + sep); directory = dirname(directory))
      if (existsSync(join(directory, DATA_MARKER))) return true;
    return false;
  }

  /** Opens a regular file for reading. The caller closes it. */
  async openFile(path: string): Promise<FileHandle> {
    return this.openRegularFile(await this.resolve(path), path, constants.O_RDONLY);
  }

  /**
   * Opens a regular file at a path that `resolve` or a directory's `at` gave; pipes, sockets, devices and directories are refused without waiting for them.
   * `shownPath` is what errors name.
   */
  async openRegularFile(realPath: string, shownPath: string, flags: number, mode?: number): Promise<FileHandle> {
    return this.#openChecked(realPath, shownPath, flags | constants.O_NOFOLLOW | constants.O_NONBLOCK, mode, async (handle) => {
      requireRegularFile(await handle.stat(), shownPath);
    });
  }

  /** Opens a directory of the workspace, made with its parents where `create` says so and it is missing. */
  async openDirectory(path: string, options: { create: boolean }): Promise<WorkspaceDirectory> {
    const real = await this.resolve(path);
    const parts = relative(this.root, real).split(sep).filter(Boolean);
    let current = await this.#openDirectory(this.root, path);
    let currentPath = this.root;
    for (const part of parts) {
      const parent = current;
      try {
        const next = join(directoryPath(parent, currentPath), part);
        if (options.create) await mkdir(next).catch((error: unknown) => ignoreExisting(error, path));
        current = await this.#openDirectory(next, path);
      } finally {
        await parent.close();
      }
      currentPath = join(currentPath, part);
    }
    const handle = current;
    const base = directoryPath(handle, currentPath);
    return {
      realPath: currentPath,
      at: (name) => (name === "" ? base : join(base, basename(name))),
      sync: () => handle.sync(),
      [Symbol.asyncDispose]: () => handle.close(),
    };
  }

  #openDirectory(realPath: string, shownPath: string): Promise<FileHandle> {
    return this.#openChecked(realPath, shownPath, constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW, undefined, async () => {});
  }

  async #openChecked(
    realPath: string,
    shownPath: string,
    flags: number,
    mode: number | undefined,
    check: (handle: FileHandle) => Promise<void>,
  ): Promise<FileHandle> {
    const handle = await open(realPath, flags, mode).catch(async (error: unknown) => {
      if ((await lstat(realPath).catch(() => undefined))?.isSymbolicLink()) throw violation(shownPath, "became a link while it was opened");
      if (errorCode(error) === "ENXIO") throw violation(shownPath, "is not a regular file");
      if (errorCode(error) === "ENOENT" && !existsSync(this.root)) throw workspaceGone();
      throw fileError(error, shownPath);
    });
    try {
      this.#check(HAS_DESCRIPTOR_PATHS ? await readlink(`/proc/self/fd/${handle.fd}`) : await realpath(realPath), shownPath);
      await check(handle);
      return handle;
    } catch (error) {
      await handle.close();
      throw error;
    }
  }

  /** The names from the root down to the path, which may be written absolutely, by the workspace's given or real path. */
  #parts(path: string): string[] {
    if (path === "" || path.length > PATH_LENGTH_MAX || path.includes("\0")) {
      throw ForgeError.validation("path", `a path has 1 to ${PATH_LENGTH_MAX} characters and no NUL`);
    }
    const base = isAbsolute(path) && !isInside(this.root, path) ? this.#givenRoot : this.root;
    const absolute = resolve(base, path);
    if (!isInside(base, absolute)) throw violation(path, "is outside of the workspace");
    return relative(base, absolute).split(sep).filter(Boolean);
  }

  async #follow(link: string, path: string): Promise<string> {
    const target = await realpath(link).catch(() => {
      throw violation(path, "goes through a link that leads nowhere");
    });
    if (!isInside(this.root, target)) throw violation(path, "goes through a link out of the workspace");
    return target;
  }

  #check(realPath: string, path: string): void {
    if (!isInside(this.root, realPath)) throw violation(path, "is outside of the workspace");
    if (this.isProtected(realPath)) throw violation(path, "is protected");
    if (this.#isForbidden(this.relative(realPath))) throw violation(path, "is forbidden: such files hold secrets");
  }
}

/** Refuses what is no regular file: reading a pipe may never end, and a device answers with effects. */
export function requireRegularFile(stat: Stats, path: string): void {
  if (stat.isDirectory()) throw ForgeError.validation("path", `${path} is a directory`, { reason: "EISDIR" });
  if (!stat.isFile()) throw violation(path, "is not a regular file");
}

/** The directory that holds a path, and the path's last name. */
export function splitPath(realPath: string): { directory: string; name: string } {
  return { directory: dirname(realPath), name: basename(realPath) };
}

function workspaceGone(): ForgeError {
  return new ForgeError(ErrorCode.NOT_FOUND, "the workspace is no longer there: it was moved or deleted", { origin: "tool", reason: "WORKSPACE_GONE" });
}

function directoryPath(handle: FileHandle, realPath: string): string {
  return HAS_DESCRIPTOR_PATHS ? `/proc/self/fd/${handle.fd}` : realPath;
}

function isInside(root: string, path: string): boolean {
  const rest = relative(root, path);
  return rest !== ".." && !rest.startsWith(`..${sep}`) && !isAbsolute(rest);
}

function ignoreExisting(error: unknown, path: string): void {
  if (errorCode(error) !== "EEXIST") throw fileError(error, path);
}

function violation(path: string, why: string): ForgeError {
  return new ForgeError(ErrorCode.SANDBOX_VIOLATION, `${path} ${why}`, { origin: "tool", metadata: { path } });
}
