import { createLiveRegion } from "./live-region.ts";
import { SPINNER_MS, spinner } from "./spinner.ts";
import type { Terminal } from "./terminal.ts";

/** One line about what takes time, on a terminal; nothing elsewhere. */
export interface StatusLine {
  readonly say: (message: string) => void;
  readonly close: () => void;
}

/** Begins with nothing on the screen, and shows nothing any more once it is closed. */
export function showStatus(terminal: Terminal, isQuiet: boolean): StatusLine {
  if (!terminal.isLive || isQuiet) return { say: () => undefined, close: () => undefined };
  const region = createLiveRegion(terminal.out, terminal.columns, { hidesCursor: false });
  let message = "";
  let isClosed = false;
  const draw = (): void => {
    if (message !== "") region.draw([`${terminal.style.cyan(spinner(Date.now()))} ${terminal.style.dim(message)}`]);
  };
  const timer = setInterval(draw, SPINNER_MS);
  return {
    say: (text) => {
      if (isClosed) return;
      message = text;
      draw();
    },
    close: () => {
      isClosed = true;
      clearInterval(timer);
      region.close();
    },
  };
}
