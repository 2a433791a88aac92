import { cutLines } from "../budget/tokens.ts";

/** Lines of a text. */
export interface SelectedLines {
  readonly text: string;
  /** Which, where they are not all, for example "10-40 of 200". */
  readonly lines?: string;
  /** Fewer than were asked for, because they are too many. */
  readonly isCut: boolean;
}

/** The lines from `start` to `end`, both from 1 and inclusive, or all; as many whole ones as fit into `bytesMax`. Undefined where there is no such line. */
export function selectLines(text: string, asked: { readonly start: number; readonly end: number } | undefined, bytesMax: number): SelectedLines | undefined {
  const all = text.split("\n");
  const count = text.endsWith("\n") ? all.length - 1 : all.length;
  const start = asked?.start ?? 1;
  const end = Math.min(asked?.end ?? count, count);
  if (start < 1 || start > Math.max(count, 1) || end < start) return asked === undefined ? { text, isCut: false } : undefined;
  const isWhole = start === 1 && end === count;
  const wanted = isWhole ? text : all.slice(start - 1, end).join("\n");
  const fitting = cutLines(wanted, bytesMax);
  if (fitting === wanted) return isWhole ? { text, isCut: false } : { text: wanted, lines: `${start}-${end} of ${count}`, isCut: false };
  if (fitting === "") return { text: `[line ${start} alone is longer than ${bytesMax} bytes]`, lines: `${start}-${start} of ${count}`, isCut: true };
  return { text: fitting, lines: `${start}-${start + fitting.split("\n").length - 1} of ${count}`, isCut: true };
}
