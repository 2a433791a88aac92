import { closeSync, constants, existsSync, fstatSync, lstatSync, openSync, readlinkSync, readSync, realpathSync, type Stats, statSync } from "node:fs";
import { dirname, isAbsolute, join, relative, resolve, sep } from "node:path";
import { ForgeError } from "@forge/protocol";
import { ErrorCode } from "@forge/protocol/common";
import { fileError } from "./file-error.ts";
import { quoted } from "./problem.ts";

/** Longer paths are refused; the kernel's own bound for one path. */
const PATH_LENGTH_MAX = 4_096;
/** On Linux an open descriptor tells where it really is, whatever happened to the path meanwhile. */
const HAS_DESCRIPTOR_PATHS = process.platform === "linux" && existsSync("/proc/self/fd");
/** In every directory of Forge's data. */
export const DATA_MARKER = ".forge-data";

/** What was read of a file. */
export interface FileBytes {
  /** Relative to the root, without links. */
  readonly path: string;
  /** At most as many as were asked for. */
  readonly bytes: Buffer;
  /** Of the whole file. */
  readonly size: number;
}

/**
 * Reads files inside one directory, and none outside of it: what leaves it by `..`, by an absolute path or by a link is refused with `sandbox_violation`, and so
 * are git's own files and Forge's data. Links that stay inside are followed. What is opened is looked at once more through its descriptor, so that a link that
 * was swapped in after the check is caught. It calls the file system synchronously: what it reads is small and bounded, and it serves a thread as well.
 */
export class ContainedFiles {
  /** The directory's real path. */
  readonly root: string;
  readonly #givenRoot: string;

  /** Errors: validation, where there is no such directory. */
  constructor(directory: string) {
    this.#givenRoot = resolve(directory);
    try {
      this.root = realpathSync(this.#givenRoot);
      if (!statSync(this.root).isDirectory()) throw new Error("it is no directory");
    } catch (error) {
      throw ForgeError.validation("root", `${quoted(directory)} can't be opened: ${(error as Error).message}`, { cause: error });
    }
  }

  /** The path as the directory sees it; the directory itself is ".". */
  relative(realPath: string): string {
    return relative(this.root, realPath).split(sep).join("/") || ".";
  }

  /** What is at a path, links inside followed. Errors: not_found; sandbox_violation; validation; permission_denied. */
  stat(path: string): { path: string; stat: Stats } {
    const real = this.resolve(path);
    try {
      return { path: this.relative(real), stat: lstatSync(real) };
    } catch (error) {
      throw fileError(error, path);
    }
  }

  /** The real path, inside. Errors: as `stat`. */
  resolve(path: string): string {
    return this.#resolve(path, false);
  }

  #resolve(path: string, isProtectedRead: boolean): string {
    let current = this.root;
    for (const part of this.#parts(path)) {
      const next = join(current, part);
      let found: Stats;
      try {
        found = lstatSync(next);
      } catch (error) {
        throw fileError(error, path);
      }
      current = found.isSymbolicLink() ? this.#follow(next, path) : next;
    }
    this.#check(current, path, isProtectedRead);
    return current;
  }

  /** The first bytes of a regular file. Errors: as `stat`, and sandbox_violation for pipes, sockets and devices, which are never waited for. */
  read(path: string, bytesMax: number): FileBytes {
    return this.#read(path, bytesMax, false);
  }

  /** The same for a file of this program's choice among those that are left alone otherwise. */
  readProtected(path: string, bytesMax: number): FileBytes {
    return this.#read(path, bytesMax, true);
  }

  #read(path: string, bytesMax: number, isProtectedRead: boolean): FileBytes {
    const real = this.#resolve(path, isProtectedRead);
    let descriptor: number;
    try {
      descriptor = openSync(real, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
    } catch (error) {
      const code = (error as NodeJS.ErrnoException).code;
      if (code === "ELOOP" || code === "ENXIO") throw violation(path, "is a link or no regular file");
      throw fileError(error, path);
    }
    try {
      this.#check(HAS_DESCRIPTOR_PATHS ? readlinkSync(`/proc/self/fd/${descriptor}`) : realpathSync(real), path, isProtectedRead);
      const stat = fstatSync(descriptor);
      if (stat.isDirectory()) throw ForgeError.validation("path", `${quoted(path)} is a directory`, { reason: "EISDIR" });
      if (!stat.isFile()) throw violation(path, "is not a regular file");
      return { path: this.relative(real), bytes: readUpTo(descriptor, Math.min(stat.size, bytesMax)), size: stat.size };
    } catch (error) {
      throw fileError(error, path);
    } finally {
      closeSync(descriptor);
    }
  }

  /** Whether a real path is one to leave alone: git's own files, and Forge's data. */
  isProtected(realPath: string): boolean {
    // In lower case, because some file systems find `.GIT` as well.
    const parts = relative(this.root, realPath).toLowerCase().split(sep);
    if (parts.some((part, index) => part === ".git" || (part === "data" && parts[index - 1] === ".forge"))) return true;
    for (let directory = realPath; directory !== this.root && directory.startsWith(this.root + sep); directory = dirname(directory))
      if (existsSync(join(directory, DATA_MARKER))) return true;
    return false;
  }

  /** The names from the root down to the path, which may be written absolutely, by the given or the real path. */
  #parts(path: string): string[] {
    if (path === "" || path.length > PATH_LENGTH_MAX || path.includes("\0"))
      throw ForgeError.validation("path", `a path has 1 to ${PATH_LENGTH_MAX} characters and no NUL`);
    const base = isAbsolute(path) && !isInside(this.root, path) ? this.#givenRoot : this.root;
    const absolute = resolve(base, path);
    if (!isInside(base, absolute)) throw violation(path, "is outside of the workspace");
    return relative(base, absolute).split(sep).filter(Boolean);
  }

  #follow(link: string, path: string): string {
    let target: string;
    try {
      target = realpathSync(link);
    } catch {
      // Whatever the reason: nothing can be read through it.
      throw violation(path, "goes through a link that leads nowhere");
    }
    if (!isInside(this.root, target)) throw violation(path, "goes through a link out of the workspace");
    return target;
  }

  #check(realPath: string, path: string, isProtectedRead: boolean): void {
    if (!isInside(this.root, realPath)) throw violation(path, "is outside of the workspace");
    if (!isProtectedRead && this.isProtected(realPath)) throw violation(path, "is protected");
  }
}

/** Whether a path is the root or below it; both absolute. */
export function isInside(root: string, path: string): boolean {
  const rest = relative(root, path);
  return rest !== ".." && !rest.startsWith(`..${sep}`) && !isAbsolute(rest);
}

function readUpTo(descriptor: number, bytesMax: number): Buffer {
  const buffer = Buffer.alloc(bytesMax);
  let size = 0;
  while (size < bytesMax) {
    const count = readSync(descriptor, buffer, size, bytesMax - size, null);
    if (count === 0) break;
    size += count;
  }
  return buffer.subarray(0, size);
}

function violation(path: string, why: string): ForgeError {
  return new ForgeError(ErrorCode.SANDBOX_VIOLATION, `${quoted(path)} ${why}`, { origin: "client", metadata: { path } });
}
