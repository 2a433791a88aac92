import type { Style } from "../output/style.ts";
import { visibleText } from "./visible-text.ts";

export interface DiffLinesOptions {
  readonly style: Style;
  readonly columns: number;
  /** More are counted only. */
  readonly linesMax: number;
}

/** A unified diff for people: coloured, each line cut at the terminal's width, at most so many lines and one that says how many more there are. */
export function diffLines(diff: string, { style, columns, linesMax }: DiffLinesOptions): string[] {
  const all = diff.split("\n");
  if (all.at(-1) === "") all.pop();
  // A line that says that one more follows would take its room.
  const count = all.length <= linesMax + 1 ? all.length : linesMax;
  const shown = all.slice(0, count).map((line, index) => paint(visibleText(line, columns), all[index + 1], style));
  return count === all.length ? shown : [...shown, style.dim(`… ${all.length - count} more lines`)];
}

function paint(line: string, next: string | undefined, style: Style): string {
  if (line.startsWith("+++ ") || line.startsWith("diff --git ") || (line.startsWith("--- ") && next?.startsWith("+++ ") === true)) return style.bold(line);
  if (line.startsWith("@@")) return style.cyan(line);
  if (line.startsWith("+")) return style.green(line);
  if (line.startsWith("-")) return style.red(line);
  return line.startsWith("\\") ? style.dim(line) : line;
}
