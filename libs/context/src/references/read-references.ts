import type { Stats } from "node:fs";
import { isAbsolute, join } from "node:path";
import { ContainedFiles } from "../files/contained-files.ts";
import { decodeText } from "../files/decode-text.ts";
import { lstatIfThere } from "../files/lstat-if-there.ts";
import { type Problem, problemOf } from "../files/problem.ts";
import { findMentions, type Mention, type MentionedPath } from "./find-mentions.ts";
import { mediaTypeOf } from "./media-type.ts";
import { readDirectoryReference } from "./read-directory-reference.ts";
import { selectLines } from "./select-lines.ts";

/** Of a message; those after are told as problems. */
export const REFERENCES_MAX = 32;
/** Of one text. */
export const REFERENCE_BYTES_MAX = 128 * 1024;
/** Of all texts: what a turn's context can hold. */
const TEXT_BYTES_MAX = 256 * 1024;
/** Of a file that lines are taken from. */
const FILE_BYTES_MAX = 8 * 1024 * 1024;
/** Of one image or document, and of all. */
const MEDIA_BYTES_MAX = 5 * 1024 * 1024;
const MEDIA_TOTAL_BYTES_MAX = 16 * 1024 * 1024;

/** A text that a message refers to. */
export interface ReferencedText {
  readonly kind: "file" | "directory";
  /** Relative to the workspace; a directory's ends with `/`. */
  readonly source: string;
  readonly text: string;
  /** For example "10-40 of 200", where it is not the whole file. */
  readonly lines?: string;
  readonly isCut: boolean;
}

/** An image or a document that a message refers to. */
export interface ReferencedMedia {
  readonly source: string;
  /** image/png, image/jpeg, image/gif, image/webp or application/pdf. */
  readonly mediaType: string;
  readonly bytes: Buffer;
}

export interface References {
  readonly texts: readonly ReferencedText[];
  readonly media: readonly ReferencedMedia[];
  readonly problems: readonly Problem[];
}

/** What a message refers to by `@file`, `@file:10-40`, `@dir/` and `@"a name"`, in order, each once. What can't be read is a problem, not an error. */
export function readReferences(root: string, message: string): References {
  const reader = new ReferenceReader(new ContainedFiles(root));
  for (const mention of findMentions(message)) reader.add(mention);
  return reader;
}

class ReferenceReader implements References {
  readonly texts: ReferencedText[] = [];
  readonly media: ReferencedMedia[] = [];
  readonly problems: Problem[] = [];
  readonly #files: ContainedFiles;
  readonly #seen = new Set<string>();
  #textBytes = 0;
  #mediaBytes = 0;

  constructor(files: ContainedFiles) {
    this.#files = files;
  }

  add(mention: Mention): void {
    const meant = mention.candidates.find(({ path }) => this.#isThere(path));
    if (meant === undefined) {
      if (isMeantAsPath(mention, (path) => this.#isThere(path))) this.#problem(mention.written, "does not exist in the workspace");
      return;
    }
    try {
      this.#read(mention, meant, this.#files.stat(meant.path));
    } catch (error) {
      this.problems.push(problemOf(mention.written, error));
    }
  }

  #isThere(path: string): boolean {
    return !/^\.+$/.test(path) && lstatIfThere(isAbsolute(path) ? path : join(this.#files.root, path)) !== undefined;
  }

  #read({ written, isQuoted }: Mention, meant: MentionedPath, { path, stat }: { path: string; stat: Stats }): void {
    // The name of a directory without a slash is a word of the sentence.
    if (stat.isDirectory() && !isQuoted && !meant.path.includes("/")) return;
    const key = JSON.stringify([path, meant.lines]);
    if (this.#seen.has(key)) return;
    if (this.#seen.size === REFERENCES_MAX) {
      this.#problem(written, `at most ${REFERENCES_MAX} references of a message are read`);
      return;
    }
    this.#seen.add(key);
    if (stat.isDirectory()) this.#readDirectory(path === "." ? "" : path);
    else this.#readFile(meant);
  }

  #readDirectory(path: string): void {
    const { text, isCut, problems } = readDirectoryReference(this.#files, path);
    this.#addText({ kind: "directory", source: path === "" ? "./" : `${path}/`, text, isCut });
    this.problems.push(...problems);
  }

  #readFile({ path: written, lines }: MentionedPath): void {
    const { path, bytes, size } = this.#files.read(written, FILE_BYTES_MAX);
    const mediaType = mediaTypeOf(bytes);
    if (mediaType !== undefined) {
      this.#addMedia({ source: path, mediaType, bytes }, size);
      return;
    }
    const text = decodeText(bytes, path, size > bytes.length);
    const selected = selectLines(text, lines, REFERENCE_BYTES_MAX);
    if (selected === undefined) this.#problem(path, `has no line ${lines?.start}`);
    else {
      const fits = this.#addText({ kind: "file", source: path, ...selected });
      if (fits && selected.isCut) this.#problem(path, `only the lines ${selected.lines} are read`);
    }
  }

  #addText(text: ReferencedText): boolean {
    const bytes = Buffer.byteLength(text.text);
    if (this.#textBytes + bytes > TEXT_BYTES_MAX) {
      this.#problem(text.source, `does not fit: all references together have at most ${TEXT_BYTES_MAX} bytes`);
      return false;
    }
    this.#textBytes += bytes;
    this.texts.push(text);
    return true;
  }

  #addMedia(media: ReferencedMedia, size: number): void {
    if (size > MEDIA_BYTES_MAX) this.#problem(media.source, `has ${size} bytes, and an image or document at most ${MEDIA_BYTES_MAX}`);
    else if (this.#mediaBytes + size > MEDIA_TOTAL_BYTES_MAX)
      this.#problem(media.source, `does not fit: all images and documents together have at most ${MEDIA_TOTAL_BYTES_MAX} bytes`);
    else {
      this.#mediaBytes += size;
      this.media.push(media);
    }
  }

  #problem(source: string, message: string): void {
    this.problems.push({ source, message });
  }
}

/** Whether a name that is not there was meant as a file, and is not a decorator, a package or somebody's handle. */
function isMeantAsPath({ candidates, isQuoted, isCall }: Mention, isThere: (path: string) => boolean): boolean {
  const path = candidates.at(-1)?.path ?? "";
  if (isQuoted || /^(?:\.{0,2}|~)\//.test(path)) return true;
  if (isCall) return false;
  const [first = "", ...rest] = path.split("/");
  if (rest.length > 0) return isThere(first) || /\.\w{1,8}$/.test(path);
  return /\.(?:[cm]?[jt]sx?|py|go|rs|java|kt|c|cc|cpp|h|hpp|cs|rb|php|swift|sh|sql|md|txt|rst|json|ya?ml|toml|ini|xml|html?|css|scss|proto|lock|log|csv|png|jpe?g|gif|webp|pdf)$/i.test(
    path,
  );
}
