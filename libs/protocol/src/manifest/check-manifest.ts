import { ForgeError } from "../forge-error.ts";
import { type Entry, EntryType, type Manifest } from "../gen/forge/workspace/v1/workspace_pb.ts";
import { checkLinks } from "./check-links.ts";
import { compareUtf8 } from "./compare-utf8.ts";
import { shown } from "./shown.ts";

/** Entries of a manifest. */
export const MANIFEST_ENTRIES_MAX = 200_000;
/** Of a path and of a link's target, in UTF-8; the kernel's own bound for one path. */
export const PATH_BYTES_MAX = 4_096;
/** Of one file: a file is one artifact. */
export const FILE_BYTES_MAX = 16 * 1024 * 1024;
/** The permission bits that count. */
export const MODE_PLAIN = 0o644;
export const MODE_EXECUTABLE = 0o755;

const HASH = /^[0-9a-f]{64}$/;
const UTF8 = new TextEncoder();

/**
 * Whether a manifest describes a directory and nothing outside of it: its paths stay inside, stand in order of their bytes, each once, with every directory of a path
 * among them and nothing below what is no directory; its links do not lead out. Names that differ only in case are two names. Errors: validation, naming the entry's field.
 */
export function checkManifest({ entries }: Manifest): void {
  if (entries.length > MANIFEST_ENTRIES_MAX)
    throw ForgeError.validation("manifest.entries", `manifest.entries has ${entries.length} entries: at most ${MANIFEST_ENTRIES_MAX}`);
  const directories = new Set([""]);
  let before: string | undefined;
  for (const [index, entry] of entries.entries()) {
    const field = `manifest.entries[${index}]`;
    checkPath(entry.path, `${field}.path`);
    if (before !== undefined && compareUtf8(before, entry.path) >= 0) {
      const why =
        before === entry.path ? "stands there twice" : `comes after ${shown(before)}, and belongs before it: paths stand in order of their UTF-8 bytes`;
      throw ForgeError.validation(`${field}.path`, `${shown(entry.path)} ${why}`);
    }
    before = entry.path;
    const parent = parentOf(entry.path);
    if (!directories.has(parent))
      throw ForgeError.validation(`${field}.path`, `${shown(entry.path)} is in ${shown(parent)}, which is not listed as a directory`);
    if (entry.type === EntryType.DIRECTORY) directories.add(entry.path);
    checkKind(entry, field);
  }
  checkLinks(entries);
}

/** The directory that a path is in; empty: the root. */
function parentOf(path: string): string {
  return path.slice(0, Math.max(0, path.lastIndexOf("/")));
}

function checkPath(path: string, field: string): void {
  checkBytes(path, field);
  // Some systems take a backslash for a separator: a path must not lead out on those either.
  const bad = path.split(/[/\\]/).find((part) => part === "" || part === "." || part === "..");
  if (bad !== undefined)
    throw ForgeError.validation(field, `${shown(path)} is no path inside a directory: it is relative, without "." and "..", without an empty part`);
}

/** 1 to 4,096 bytes of UTF-8 without NUL. */
function checkBytes(text: string, field: string): void {
  if (!text.isWellFormed()) throw ForgeError.validation(field, `${field} holds a lone surrogate, which has no UTF-8`);
  // No character has more than three bytes for each of its UTF-16 units.
  const isLong = text.length * 3 > PATH_BYTES_MAX && UTF8.encode(text).length > PATH_BYTES_MAX;
  if (text === "" || isLong) throw ForgeError.validation(field, `${field} must have 1 to ${PATH_BYTES_MAX} bytes of UTF-8`);
  if (text.includes("\0")) throw ForgeError.validation(field, `${field} holds a NUL character`);
}

function checkKind(entry: Entry, field: string): void {
  const { path, type, mode, size, sha256, target } = entry;
  const refuse = (name: string, why: string) => ForgeError.validation(`${field}.${name}`, `${shown(path)}: ${why}`);
  if (type !== EntryType.FILE && type !== EntryType.DIRECTORY && type !== EntryType.SYMLINK)
    throw refuse("type", "type must be FILE, DIRECTORY or SYMLINK: nothing else can be kept");
  if (type === EntryType.FILE) {
    if (mode !== MODE_PLAIN && mode !== MODE_EXECUTABLE) throw refuse("mode", `mode ${mode} must be 420 (0644) or 493 (0755)`);
    if (size > BigInt(FILE_BYTES_MAX)) throw refuse("size", `a file has at most ${FILE_BYTES_MAX} bytes, not ${size}`);
    if (!HASH.test(sha256)) throw refuse("sha256", "sha256 must be 64 lower-case hexadecimal digits");
  } else {
    if (mode !== 0) throw refuse("mode", "only a file has a mode");
    if (size !== 0n) throw refuse("size", "only a file has a size");
    if (sha256 !== "") throw refuse("sha256", "only a file has content");
  }
  if (type === EntryType.SYMLINK) checkBytes(target, `${field}.target`);
  else if (target !== "") throw refuse("target", "only a symbolic link has a target");
}
