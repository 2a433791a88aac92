import { formatElapsed } from "../output/format-time.ts";
import { spinner } from "../output/spinner.ts";
import type { Style } from "../output/style.ts";
import { cut, cutStart, pad } from "../output/text.ts";
import { type ActiveStep, executionName } from "./active-steps.ts";

export interface LiveLinesOptions {
  readonly style: Style;
  readonly columns: number;
  /** Of the terminal. */
  readonly rows: number;
  readonly nowMs: number;
  /** Of the run, behind each step; empty: none. */
  readonly note: string;
  readonly nameColumns: number;
}

/** More lines that move than this are not read by anybody. */
const LINES_MAX = 16;
/** Left to what stays above, and to the line that the cursor is on. */
const ROWS_FREE = 4;

/** What is under way: a line for each execution and, where there is room, one below about what it does. At most so many as the terminal has room for; the rest is counted. */
export function liveLines(steps: readonly ActiveStep[], options: LiveLinesOptions): string[] {
  const room = Math.max(1, Math.min(LINES_MAX, options.rows - ROWS_FREE));
  // What works comes first: a wait that lasts for days hides nothing. The sort is stable.
  const ordered = steps.toSorted((a, b) => Number(a.waits !== "") - Number(b.waits !== ""));
  if (ordered.length > room) {
    const shown = ordered.slice(0, room - 1);
    const rest = ordered.length - shown.length;
    return [...shown.map((step) => headLine(step, options)), `  ${options.style.dim(`… and ${rest} more under way`)}`];
  }
  let spare = room - ordered.length;
  return ordered.flatMap((step) => {
    const below = spare > 0 ? belowLine(step, options) : "";
    if (below === "") return [headLine(step, options)];
    spare--;
    return [headLine(step, options), `    ${options.style.dim(below)}`];
  });
}

function headLine(step: ActiveStep, { style, nowMs, note, nameColumns }: LiveLinesOptions): string {
  const symbol = step.waits === "" ? style.cyan(spinner(nowMs)) : style.yellow("◷");
  const name = pad(cut(executionName(step), nameColumns), nameColumns);
  const items =
    step.items === undefined ? "" : `  ${step.items.ended}/${step.items.count}${step.items.failed === 0 ? "" : style.red(` ${step.items.failed} failed`)}`;
  const state = note === "" ? "" : style.yellow(`  ${note}`);
  return `${symbol} ${name}  ${style.dim(pad(step.type, 8))}  ${pad(formatElapsed(nowMs - step.startedAtMs), 7, "right")}${items}${state}`;
}

function belowLine({ waits, text, detail }: ActiveStep, { columns }: LiveLinesOptions): string {
  if (waits !== "") return cut(`waits ${waits}`, columns - 5);
  return text === "" ? cut(detail, columns - 5) : cutStart(text, columns - 5);
}
