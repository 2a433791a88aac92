import { cutText } from "../text.ts";

/** Of one line; what is longer is cut. */
const LINE_LENGTH_MAX = 4_096;
/** Of one call; what follows is counted in one last line. */
const LINES_MAX = 1_000;

/** Cuts what a stream carries into lines, bounded in length and number. `begin` starts the count anew, for the next call. */
export interface LogLines {
  push(chunk: Buffer): void;
  begin(): void;
  /** Tells a line that has no end yet. */
  flush(): void;
}

export function logLines(onLine: (line: string) => void): LogLines {
  let decoder = new TextDecoder();
  let pending = "";
  let count = 0;
  const emit = (line: string): void => {
    count++;
    if (count <= LINES_MAX) onLine(cutText(line, LINE_LENGTH_MAX));
    else if (count === LINES_MAX + 1) onLine(`[more than ${LINES_MAX} lines; the rest is left out]`);
  };
  const flush = (): void => {
    if (pending !== "") emit(pending);
    pending = "";
  };
  return {
    flush,
    push(chunk) {
      const lines = (pending + decoder.decode(chunk, { stream: true })).split(/\r?\n/);
      // A line without an end is kept only as far as it will be shown.
      pending = cutText(lines.pop() ?? "", LINE_LENGTH_MAX + 1);
      for (const line of lines) emit(line);
    },
    begin() {
      flush();
      decoder = new TextDecoder();
      count = 0;
    },
  };
}
