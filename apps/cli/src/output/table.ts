import { cut, pad, widthOf } from "./text.ts";

export interface Column {
  readonly title: string;
  readonly align?: "left" | "right";
  /** Cut when the table is too wide; at most one column. */
  readonly shrinks?: boolean;
}

const GAP = "  ";
const SHRUNK_COLUMNS_MIN = 8;

/** Lines of a table, the titles first. Too wide for the terminal, the column that shrinks is cut, and where that is not enough the lines are. */
export function table(columns: readonly Column[], rows: readonly (readonly string[])[], width: number): string[] {
  const widths = columns.map(({ title }, index) => Math.max(widthOf(title), ...rows.map((row) => widthOf(row[index] ?? ""))));
  const excess = widths.reduce((sum, each) => sum + each + GAP.length, -GAP.length) - width;
  const shrinking = columns.findIndex(({ shrinks }) => shrinks === true);
  if (excess > 0 && shrinking >= 0) widths[shrinking] = Math.max(SHRUNK_COLUMNS_MIN, (widths[shrinking] as number) - excess);
  const line = (cells: readonly string[]): string =>
    columns
      .map(({ align }, index) => pad(cut(cells[index] ?? "", widths[index] as number), widths[index] as number, align))
      .join(GAP)
      .trimEnd();
  return [line(columns.map(({ title }) => title)), ...rows.map(line)];
}
