import { isUtf8 } from "node:buffer";
import type { Stats } from "node:fs";
import { type FileHandle, lstat, readdir, readlink } from "node:fs/promises";
import { create, type MessageInitShape } from "@bufbuild/protobuf";
import { ForgeError } from "@forge/protocol";
import { ErrorCode } from "@forge/protocol/common";
import { compareUtf8, type Entry, EntrySchema, EntryType, MANIFEST_ENTRIES_MAX } from "@forge/protocol/workspace";
import { Slots } from "../slots.ts";
import { stopIfAborted } from "../stop.ts";
import { DATA_MARKER, type IsExcluded, isOnlyForOwn } from "./exclusion.ts";
import { codeOf, fileError, quoted } from "./file-error.ts";
import { type OpenDirectory, openChild } from "./open-directory.ts";
import { modeOf, openFile, readFile } from "./read-file.ts";

export interface ScanOptions {
  readonly isExcluded: IsExcluded;
  /** Whether a file is to be read; one that is not has an empty hash. Throws where a file of this size is refused. */
  readonly isRead: (path: string, size: bigint) => boolean;
  readonly onFile: (size: bigint) => void;
  readonly signal?: AbortSignal;
}

export interface Scanned {
  /** In order of their paths. */
  readonly entries: readonly Entry[];
  /** What a revision can't keep, in order of their paths. */
  readonly others: readonly Other[];
}

/** Something that is neither a file nor a directory nor a link. */
export interface Other {
  readonly path: string;
  /** For people, for example "socket". */
  readonly kind: string;
}

/** Files that are read at once. */
const READING_MAX = 8;
/** How often something that changes its type, or a directory that changes its names, is looked at. */
const ATTEMPTS_MAX = 5;

/** What it was when its directory was listed is no longer what is there. */
const MOVED: ReadonlySet<string> = new Set(["ENOENT", "ELOOP", "ENOTDIR", "EMLINK", "ENXIO", "EINVAL"]);

/**
 * Everything in a directory. Links are named and never followed, also where one is put in the place of something else meanwhile. What goes away while it is
 * looked for is left out. Errors: validation, of a name that is not UTF-8, and of too many entries; permission_denied; conflict, FILE_CHANGING.
 */
export async function scan(root: OpenDirectory, options: ScanOptions): Promise<Scanned> {
  const scanner = new Scanner(options);
  try {
    const names = await namesIn(root, "");
    if (names.includes(DATA_MARKER))
      throw ForgeError.validation("directory", "this is a data directory of Forge's, with its tokens: it is not to be kept as a workspace");
    await scanner.children(root, names, "");
  } finally {
    // What still reads closes its file before anybody goes on.
    await scanner.reading.whenIdle();
  }
  scanner.reading.throwFailure();
  const byPath = (one: { readonly path: string }, other: { readonly path: string }): number => compareUtf8(one.path, other.path);
  return { entries: scanner.entries.toSorted(byPath), others: scanner.others.toSorted(byPath) };
}

class Scanner {
  readonly entries: Entry[] = [];
  readonly others: Other[] = [];
  readonly reading = new Slots(READING_MAX);
  readonly #options: ScanOptions;

  constructor(options: ScanOptions) {
    this.#options = options;
  }

  async children(directory: OpenDirectory, names: readonly string[], path: string): Promise<void> {
    const prefix = path === "" ? "" : `${path}/`;
    for (const name of names) {
      stopIfAborted(this.#options.signal);
      this.reading.throwFailure();
      const child = prefix + name;
      if (!this.#options.isExcluded(child)) await this.#child(directory, name, child);
    }
  }

  async #child(directory: OpenDirectory, name: string, path: string): Promise<void> {
    for (let attempt = 1; ; attempt++) {
      try {
        const stat = await lstat(directory.at(name));
        await this.#add(directory, name, path, stat);
        return;
      } catch (error) {
        if (error instanceof ForgeError || !MOVED.has(codeOf(error))) throw fileError(error, path);
        if (codeOf(error) === "ENOENT") return;
        if (attempt === ATTEMPTS_MAX) throw changing(path, error);
      }
    }
  }

  /** Rejects with the system's error where it is no longer what it was. */
  async #add(directory: OpenDirectory, name: string, path: string, stat: Stats): Promise<void> {
    if (stat.isDirectory()) {
      await using child = await openChild(directory, name);
      const names = await namesIn(child, path);
      if (isOnlyForOwn(name, names) || names.includes(DATA_MARKER)) return;
      this.#push({ path, type: EntryType.DIRECTORY });
      await this.children(child, names, path);
    } else if (stat.isSymbolicLink()) {
      this.#push({
        path,
        type: EntryType.SYMLINK,
        target: textOf(await readlink(directory.at(name), { encoding: "buffer" }), `the target of ${quoted(path)}`),
      });
    } else if (stat.isFile()) {
      await this.reading.take();
      const handle = await openFile(directory.at(name)).catch((error: unknown) => {
        this.reading.release();
        throw error;
      });
      this.reading.run(() => this.#file(handle, path));
    } else {
      this.others.push({ path, kind: kindOf(stat) });
    }
  }

  async #file(handle: FileHandle, path: string): Promise<void> {
    const { isRead, onFile, signal } = this.#options;
    try {
      const stat = await handle.stat({ bigint: true });
      if (!stat.isFile()) throw changing(path);
      const found = { mode: modeOf(stat), size: stat.size, sha256: "" };
      const { mode, size, sha256 } = isRead(path, stat.size)
        ? await readFile(handle, { path, keepsContent: false, checkSize: (now) => isRead(path, now), signal })
        : found;
      this.#push({ path, type: EntryType.FILE, mode, size, sha256 });
      onFile(size);
    } catch (error) {
      throw fileError(error, path);
    } finally {
      await handle.close();
    }
  }

  #push(entry: MessageInitShape<typeof EntrySchema>): void {
    if (this.entries.length === MANIFEST_ENTRIES_MAX) {
      throw ForgeError.validation("directory", `there are more than ${MANIFEST_ENTRIES_MAX} files, directories and links: leave some out`, {
        origin: "client",
      });
    }
    this.entries.push(create(EntrySchema, entry));
  }
}

/** The names in a directory, as of one moment. */
async function namesIn(directory: OpenDirectory, path: string): Promise<string[]> {
  try {
    for (let attempt = 1; ; attempt++) {
      const before = await directory.handle.stat({ bigint: true });
      const names = await readdir(directory.path, { encoding: "buffer" });
      const after = await directory.handle.stat({ bigint: true });
      if (before.mtimeNs === after.mtimeNs || attempt === ATTEMPTS_MAX)
        return names.map((name) => textOf(name, `a name in ${quoted(path === "" ? "." : path)}`));
    }
  } catch (error) {
    throw fileError(error, path === "" ? "." : path);
  }
}

function textOf(bytes: Buffer, what: string): string {
  if (isUtf8(bytes)) return bytes.toString();
  const text = bytes.toString("latin1").replaceAll(/[^\x20-\x7e]/g, (byte) => `\\x${byte.charCodeAt(0).toString(16).padStart(2, "0")}`);
  throw ForgeError.validation("directory", `${what} is not UTF-8 and can't be kept: "${text}"; rename it, or leave its directory out`, {
    reason: "NAME_NOT_UTF8",
    origin: "client",
  });
}

function kindOf(stat: Stats): string {
  if (stat.isSocket()) return "socket";
  if (stat.isFIFO()) return "pipe";
  return stat.isBlockDevice() || stat.isCharacterDevice() ? "device" : "thing of an unknown type";
}

function changing(path: string, cause?: unknown): ForgeError {
  return new ForgeError(ErrorCode.CONFLICT, `${quoted(path)} changes all the time: it was something else each time that it was looked at`, {
    reason: "FILE_CHANGING",
    retryable: true,
    origin: "client",
    metadata: { path },
    cause,
  });
}
