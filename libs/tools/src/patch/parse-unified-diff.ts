import { patchError } from "./patch-error.ts";

/** One line of a hunk. */
export interface HunkLine {
  readonly kind: "context" | "remove" | "add";
  readonly text: string;
  /** The patch says that the line has no newline after it. */
  readonly isBare: boolean;
}

/** A place of a file that is changed. */
export interface Hunk {
  /** From 1, of the old file. */
  readonly oldStart: number;
  readonly lines: readonly HunkLine[];
  /** As the patch has it, for messages. */
  readonly header: string;
}

/** What a patch does with one file. Paths are as the patch means them, without `a/` and `b/`. */
export interface FilePatch {
  /** Undefined: it is made. */
  readonly oldPath: string | undefined;
  /** Undefined: it is deleted. */
  readonly newPath: string | undefined;
  readonly hunks: readonly Hunk[];
  /** Whether the file is executable from now on; undefined: as it is. */
  readonly isExecutable: boolean | undefined;
}

/** Files of one patch. */
export const PATCH_FILES_MAX = 256;

const HUNK_HEADER = /^@@ -(\d{1,9})(?:,(\d{1,9}))? \+(\d{1,9})(?:,(\d{1,9}))? @@/;

/** Reads a unified diff, plain or as git writes it, of one or many files. Errors: validation, PATCH_MALFORMED, naming the line of the patch. */
export function parseUnifiedDiff(patch: string): FilePatch[] {
  const files = new Reader(patch).files();
  if (files.length === 0) throw patchError("MALFORMED", "the patch", 'has no file: a unified diff has lines "--- a/path", "+++ b/path" and "@@ -1,2 +1,3 @@"');
  if (files.length > PATCH_FILES_MAX) throw patchError("MALFORMED", "the patch", `has ${files.length} files, more than ${PATCH_FILES_MAX}`);
  return files;
}

/** What git says of a file before its hunks. */
interface Extended {
  oldPath?: string;
  newPath?: string;
  renamed: boolean;
  isNew: boolean;
  isDeleted: boolean;
  isExecutable?: boolean;
}

class Reader {
  readonly #lines: string[];
  #at = 0;

  constructor(patch: string) {
    this.#lines = patch.split("\n");
    // What follows the last newline is no line.
    if (this.#lines.at(-1) === "") this.#lines.pop();
  }

  files(): FilePatch[] {
    const files: FilePatch[] = [];
    for (let line = this.#peek(); line !== undefined; line = this.#peek()) {
      if (line.startsWith("diff --git ")) files.push(this.#gitFile());
      else if (this.#isFileHeader()) files.push(this.#file({ renamed: false, isNew: false, isDeleted: false }));
      else if (line.startsWith("@@ ")) throw this.#malformed("a hunk without a file before it");
      else if (line.startsWith("*** ")) throw this.#malformed('is not a unified diff: its files begin with "--- a/path" and "+++ b/path"');
      else if (files.length > 0 && /^[ +-]./.test(line) && line !== "-- ")
        throw this.#malformed("a line that belongs to no hunk; a hunk's header must count its lines");
      else this.#at++;
    }
    return files;
  }

  #peek(): string | undefined {
    const line = this.#lines[this.#at];
    return line?.endsWith("\r") ? line.slice(0, -1) : line;
  }

  #isFileHeader(): boolean {
    return this.#peek()?.startsWith("--- ") === true && this.#lines[this.#at + 1]?.startsWith("+++ ") === true;
  }

  #gitFile(): FilePatch {
    const header = (this.#peek() as string).slice("diff --git ".length);
    this.#at++;
    const extended: Extended = { renamed: false, isNew: false, isDeleted: false };
    for (let line = this.#peek(); line !== undefined; line = this.#peek()) {
      if (this.#isFileHeader() || line.startsWith("diff --git ") || line.startsWith("@@ ")) break;
      if (!this.#extended(line, extended)) break;
      this.#at++;
    }
    if (this.#isFileHeader() && this.#isOf(header)) return this.#file(extended);
    return this.#fileWithoutHunks(header, extended);
  }

  /** Whether the file header that comes next is of the file that a git header names, and not of one after it. */
  #isOf(header: string): boolean {
    const named = this.#lines.slice(this.#at, this.#at + 2).map((line) => (line.slice(4).split("\t")[0] ?? "").trimEnd());
    return named.some((path) => header.includes(path));
  }

  /** False where the line is none of a git header. */
  #extended(line: string, extended: Extended): boolean {
    const [, key, value] =
      /^(old mode|new mode|deleted file mode|new file mode|rename from|rename to|copy from|copy to|similarity index|dissimilarity index|index) (.*)$/.exec(
        line,
      ) ?? [];
    if (line.startsWith("Binary files ") || line.startsWith("GIT binary patch")) throw this.#malformed("a change of a binary file, which can't be patched");
    if (key === undefined || value === undefined) return false;
    if (key.startsWith("copy")) throw this.#malformed("a copy, which is not supported: make the file as a new one");
    if (key === "new mode" || key === "new file mode") extended.isExecutable = this.#isExecutable(value);
    if (key === "new file mode") extended.isNew = true;
    if (key === "deleted file mode") extended.isDeleted = true;
    if (key === "rename from") [extended.oldPath, extended.renamed] = [unquoted(value), true];
    if (key === "rename to") [extended.newPath, extended.renamed] = [unquoted(value), true];
    return true;
  }

  #isExecutable(mode: string): boolean {
    if (mode !== "100644" && mode !== "100755") throw this.#malformed(`mode ${mode}: only 100644 and 100755 are supported`);
    return mode === "100755";
  }

  #fileWithoutHunks(header: string, { oldPath, newPath, renamed, isNew, isDeleted, isExecutable }: Extended): FilePatch {
    if (renamed) {
      if (oldPath === undefined || newPath === undefined) throw this.#malformed("a rename without both of its paths");
      return { oldPath, newPath, hunks: [], isExecutable };
    }
    // The header names one path twice, which is the only case in which names with spaces can be told apart.
    const [, path] = /^a\/(.+) b\/\1$/.exec(header) ?? [];
    const named = path ?? quotedPath(header);
    if (named === undefined) throw this.#malformed("a file without hunks whose path can't be told");
    if (!isNew && !isDeleted && isExecutable === undefined) throw this.#malformed(`${named} has neither hunks nor anything else to change`);
    return { oldPath: isNew ? undefined : named, newPath: isDeleted ? undefined : named, hunks: [], isExecutable };
  }

  #file(extended: Extended): FilePatch {
    const old = pathOf((this.#peek() as string).slice(4));
    this.#at++;
    const next = pathOf((this.#peek() as string).slice(4));
    this.#at++;
    if (old === undefined && next === undefined) throw this.#malformed("a file that neither was nor will be");
    // Prefixes are prefixes only where both have theirs: a directory may be called a.
    const isPrefixed = (old === undefined || old.startsWith("a/")) && (next === undefined || next.startsWith("b/"));
    const [oldName, newName] = isPrefixed ? [old?.slice(2), next?.slice(2)] : [old, next];
    const [oldPath, newPath] = extended.renamed ? [extended.oldPath ?? oldName, extended.newPath ?? newName] : [oldName, newName];
    const shown = newPath ?? oldPath ?? "";
    if (oldPath === "" || newPath === "") throw this.#malformed("a file without a name");
    const hunks: Hunk[] = [];
    for (let line = this.#peek(); line?.startsWith("@@"); line = this.#peek()) hunks.push(this.#hunk(shown, hunks.length + 1));
    if (hunks.length === 0 && !extended.renamed && oldPath !== undefined && newPath !== undefined && extended.isExecutable === undefined)
      throw this.#malformed(`${shown} has no hunks`);
    return { oldPath, newPath, hunks, isExecutable: extended.isExecutable };
  }

  #hunk(path: string, number: number): Hunk {
    const headerLine = this.#at + 1;
    const header = this.#peek() as string;
    const [, start, oldCount = "1", , newCount = "1"] = HUNK_HEADER.exec(header) ?? [];
    if (start === undefined)
      throw this.#malformed(`hunk ${number} of ${path} begins with ${JSON.stringify(header.slice(0, 80))}, which is not "@@ -line,count +line,count @@"`);
    this.#at++;
    const left = { old: Number(oldCount), new: Number(newCount) };
    const lines: HunkLine[] = [];
    while (left.old > 0 || left.new > 0) {
      const line = this.#lines[this.#at];
      const parsed = line === undefined ? undefined : hunkLine(line);
      if (parsed === undefined || (parsed.kind !== "add" && left.old === 0) || (parsed.kind !== "remove" && left.new === 0)) {
        throw this.#miscounted(path, number, headerLine, Number(oldCount), Number(newCount));
      }
      if (parsed.kind !== "add") left.old--;
      if (parsed.kind !== "remove") left.new--;
      this.#at++;
      const marker = this.#lines[this.#at];
      const isBare = marker?.startsWith("\\") === true;
      if (isBare) this.#at++;
      // A carriage return that the marker has as well is the patch's own, as of all of its lines.
      const text = isBare && marker.endsWith("\r") && parsed.text.endsWith("\r") ? parsed.text.slice(0, -1) : parsed.text;
      lines.push({ kind: parsed.kind, text, isBare });
    }
    const after = this.#lines[this.#at];
    if (after !== undefined && after !== "-- " && /^[ +-]./.test(after) && !this.#isFileHeader())
      throw this.#miscounted(path, number, headerLine, Number(oldCount), Number(newCount));
    return { oldStart: Number(start), lines, header: header.slice(0, 80) };
  }

  #miscounted(path: string, number: number, headerLine: number, oldCount: number, newCount: number): Error {
    const [found, line] = [{ old: 0, new: 0 }, headerLine];
    for (this.#at = line; this.#at < this.#lines.length && !this.#isFileHeader(); this.#at++) {
      const parsed = hunkLine(this.#lines[this.#at] as string);
      if (parsed === undefined && !(this.#lines[this.#at] as string).startsWith("\\")) break;
      if (parsed?.kind === "remove" || parsed?.kind === "context") found.old++;
      if (parsed?.kind === "add" || parsed?.kind === "context") found.new++;
    }
    return patchError(
      "MALFORMED",
      `${path}: hunk ${number} (line ${headerLine} of the patch)`,
      `its header counts ${oldCount} old and ${newCount} new lines, and it has ${found.old} and ${found.new}: it is cut short, or its counts are wrong`,
    );
  }

  #malformed(what: string): Error {
    return patchError("MALFORMED", `line ${Math.min(this.#at + 1, this.#lines.length)} of the patch`, what);
  }
}

function hunkLine(line: string): Omit<HunkLine, "isBare"> | undefined {
  const text = line.slice(1);
  if (line.startsWith("+")) return { kind: "add", text };
  if (line.startsWith("-")) return { kind: "remove", text };
  // Editors and models take the only character of an empty context line away.
  return line.startsWith(" ") || line === "" || line === "\r" ? { kind: "context", text: line === "\r" ? "\r" : text } : undefined;
}

/** Of a header line; undefined for /dev/null. A time after a tab is left out. */
function pathOf(text: string): string | undefined {
  const path = unquoted(text.startsWith('"') ? text : (text.split("\t")[0] as string).trimEnd());
  return path === "/dev/null" ? undefined : path;
}

/** From a git header whose paths are quoted. */
function quotedPath(header: string): string | undefined {
  const [, path] = /^"a\/((?:[^"\\]|\\.)+)" "b\/\1"$/.exec(header) ?? [];
  return path === undefined ? undefined : unquoted(`"${path}"`);
}

const ESCAPES: Readonly<Record<string, number>> = { a: 7, b: 8, t: 9, n: 10, v: 11, f: 12, r: 13, '"': 34, "\\": 92 };

/** A path as git quotes it: bytes in octal, and C's escapes. */
function unquoted(text: string): string {
  const [, quoted] = /^"((?:[^"\\]|\\.)*)"/.exec(text) ?? [];
  if (quoted === undefined) return text;
  const bytes: number[] = [];
  for (const [, octal, escape, plain] of quoted.matchAll(/\\([0-7]{3})|\\(.)|([^\\]+)/gs)) {
    if (octal !== undefined) bytes.push(Number.parseInt(octal, 8) & 0xff);
    else if (escape !== undefined) bytes.push(ESCAPES[escape] ?? escape.charCodeAt(0));
    else bytes.push(...Buffer.from(plain ?? "", "utf8"));
  }
  return Buffer.from(bytes).toString("utf8");
}
