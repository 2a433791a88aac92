/** A piece of a unified diff. */
export interface Hunk {
  /** The first line that it is about, from 1; of a hunk without old lines, the line before. */
  readonly oldStart: number;
  /** What stands behind the second `@@`. */
  readonly section: string;
  /** With their first character: a space, `+`, `-`, or `\` of a missing line end. */
  readonly lines: readonly string[];
}

/** What a unified diff says of one file. */
export interface FileDiff {
  /** The lines before the first hunk. */
  readonly header: readonly string[];
  readonly hunks: readonly Hunk[];
}

const HUNK = /^@@ -(\d{1,9})(?:,(\d{1,9}))? \+(\d{1,9})(?:,(\d{1,9}))? @@(.*)$/s;

/** Reads a unified diff of any number of files. Counts that are wrong, as models write them, do no harm. */
export function parseDiff(text: string): FileDiff[] {
  const all = text.split("\n");
  if (all.at(-1) === "") all.pop();
  const files: { header: string[]; hunks: { oldStart: number; section: string; lines: string[] }[] }[] = [];
  let oldLeft = 0;
  for (const [index, line] of all.entries()) {
    const match = HUNK.exec(line);
    const file = files.at(-1);
    if (match !== null && file !== undefined) {
      file.hunks.push({ oldStart: Number(match[1]), section: match[5] ?? "", lines: [] });
      oldLeft = Number(match[2] ?? 1);
      continue;
    }
    const hunk = file?.hunks.at(-1);
    const beginsFile = line.startsWith("diff --git ") || (line.startsWith("--- ") && (all[index + 1] ?? "").startsWith("+++ ") && oldLeft <= 0);
    if (hunk === undefined || beginsFile) {
      if (file === undefined || (beginsFile && hunk !== undefined)) files.push({ header: [line], hunks: [] });
      else file.header.push(line);
      oldLeft = 0;
      continue;
    }
    if (!line.startsWith("+") && !line.startsWith("\\")) oldLeft--;
    // An empty line of context often loses its space.
    hunk.lines.push(line === "" ? " " : line);
  }
  return files;
}

/** The path that a file's diff is about, as people know it. */
export function pathOf({ header }: FileDiff): string {
  const named = (prefix: string): string | undefined => header.find((line) => line.startsWith(prefix))?.slice(prefix.length);
  const path = [named("+++ "), named("--- ")].find((name) => name !== undefined && name !== "/dev/null") ?? named("diff --git ") ?? "";
  return path.split("\t")[0]?.replace(/^[ab]\//, "") ?? path;
}

/** How many lines a diff adds and removes. */
export function countLines(files: readonly FileDiff[]): { readonly added: number; readonly removed: number } {
  const lines = files.flatMap(({ hunks }) => hunks.flatMap((hunk) => hunk.lines));
  return { added: lines.filter((line) => line.startsWith("+")).length, removed: lines.filter((line) => line.startsWith("-")).length };
}

/** Writes diffs again: counts and new line numbers are what follows from the lines, whatever was left out or edited. Files without hunks are left out, unless they never had one. */
export function formatDiff(files: readonly FileDiff[]): string {
  return files.flatMap((file) => [...file.header, ...hunkLines(file.hunks)].map((line) => `${line}\n`)).join("");
}

function hunkLines(hunks: readonly Hunk[]): string[] {
  let moved = 0;
  return hunks.flatMap(({ oldStart, section, lines }) => {
    const oldCount = lines.filter((line) => line.startsWith(" ") || line.startsWith("-")).length;
    const newCount = lines.filter((line) => line.startsWith(" ") || line.startsWith("+")).length;
    const newStart = oldStart + moved + (oldCount === 0 ? 1 : 0) - (newCount === 0 ? 1 : 0);
    moved += newCount - oldCount;
    return [`@@ -${oldStart},${oldCount} +${newStart},${newCount} @@${section}`, ...lines];
  });
}
