import { basename } from "node:path";
import { projectText } from "../budget/project-text.ts";
import type { ContainedFiles } from "../files/contained-files.ts";
import { decodeText } from "../files/decode-text.ts";
import { isLikelySecret } from "../files/is-likely-secret.ts";
import type { Problem } from "../files/problem.ts";
import { walkFiles } from "../files/walk-files.ts";

/** Of a directory's files that are named. */
const NAMED_MAX = 500;
/** Of files whose contents are looked at. */
const READ_MAX = 100;
/** Of the contents of a directory, and of one file in it: many small ones tell more than a large one. */
const CONTENT_BYTES_MAX = 64 * 1024;
const FILE_BYTES_MAX = 16 * 1024;
/** A directory on a slow disk, or with ignore files that take long, is listed as far as it goes. */
const TIME_MS_MAX = 2_000;

/** The files of a directory that are not ignored, by name, and the contents of those that are text and fit. */
export function readDirectoryReference(files: ContainedFiles, directory: string): { text: string; isCut: boolean; problems: Problem[] } {
  const source = directory === "" ? "./" : `${directory}/`;
  const until = performance.now() + TIME_MS_MAX;
  const names: string[] = [];
  let isCut = false;
  for (const path of walkFiles(files, directory)) {
    if (names.length === NAMED_MAX || performance.now() > until) {
      isCut = true;
      break;
    }
    names.push(path);
  }
  if (names.length === 0)
    return { text: "[no files that are not ignored]", isCut: false, problems: [{ source, message: "holds no file that is not ignored" }] };
  const contents: string[] = [];
  const leftOut = { secret: 0, other: Math.max(0, names.length - READ_MAX) };
  let bytes = 0;
  for (const path of names.slice(0, READ_MAX)) {
    if (isLikelySecret(basename(path))) leftOut.secret++;
    else {
      const text = textOf(files, path);
      if (text === undefined || bytes + text.length > CONTENT_BYTES_MAX) leftOut.other++;
      else {
        bytes += Buffer.byteLength(text);
        contents.push(projectText("file", path, text));
      }
    }
  }
  const problems: Problem[] = [];
  if (isCut) problems.push({ source, message: `only the first ${names.length} files are named` });
  if (leftOut.secret > 0)
    problems.push({ source, message: `${leftOut.secret} files that usually hold secrets are named and not read: refer to a file itself to have it read` });
  if (leftOut.other > 0) problems.push({ source, message: `${leftOut.other} files are named and not read: they are large, no text, or do not fit` });
  return { text: [names.join("\n") + (isCut ? "\n[and more]" : ""), ...contents].join("\n"), isCut: isCut || leftOut.other > 0, problems };
}

/** Undefined where it is large, no text, or not there any more. */
function textOf(files: ContainedFiles, path: string): string | undefined {
  try {
    const { bytes, size } = files.read(path, FILE_BYTES_MAX);
    return size > bytes.length ? undefined : decodeText(bytes, path, false);
  } catch {
    // Counted by the caller among those that are not read.
    return undefined;
  }
}
