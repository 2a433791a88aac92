import { createInterface } from "node:readline";

/** The lines that a person types while the answer is written. The terminal itself edits and shows them, so that Ctrl-C stays a signal. */
export class TurnLines {
  readonly #reader = createInterface({ input: process.stdin, terminal: false });

  /** `onEnd` is told of Ctrl-D. */
  constructor(onLine: (line: string) => void, onEnd: () => void) {
    this.#reader.on("line", onLine);
    this.#reader.on("close", onEnd);
  }

  /** Gives the terminal back to whoever asks next. */
  close(): void {
    this.#reader.removeAllListeners("line").removeAllListeners("close");
    this.#reader.close();
  }
}
