import { cut } from "./text.ts";

/** Lines at the bottom of a terminal that are drawn anew in place. */
export interface LiveRegion {
  /** Shows these lines instead of those before. */
  draw(lines: readonly string[]): void;
  /** Writes lines that stay, above. */
  keep(lines: readonly string[]): void;
  /** Takes the lines away and gives the cursor back. */
  close(): void;
}

const HIDE_CURSOR = "\u001B[?25l";
const SHOW_CURSOR = "\u001B[?25h";
const CLEAR_BELOW = "\u001B[J";

/** A region on a terminal that takes cursor movements. Who hides the cursor must not be ended by a signal before `close`. Lines are cut at the terminal's width: one that wrapped could not be taken back. */
export function createLiveRegion(write: (text: string) => void, columns: () => number, options: { readonly hidesCursor: boolean }): LiveRegion {
  let shown = 0;
  let last: readonly string[] = [];
  let isHidden = false;
  const back = (): string => (shown === 0 ? "" : `\r\u001B[${shown}A${CLEAR_BELOW}`);
  const show = (lines: readonly string[], kept: readonly string[]): void => {
    const fitting = lines.map((line) => cut(line, columns() - 1));
    const text = [...kept, ...fitting].map((line) => `${line}\n`).join("");
    write(`${options.hidesCursor && !isHidden ? HIDE_CURSOR : ""}${back()}${text}`);
    isHidden = options.hidesCursor;
    shown = fitting.length;
    last = lines;
  };
  return {
    draw: (lines) => show(lines, []),
    keep: (kept) => show(last, kept),
    close: () => {
      if (shown > 0 || isHidden) write(`${back()}${isHidden ? SHOW_CURSOR : ""}`);
      isHidden = false;
      shown = 0;
      last = [];
    },
  };
}
