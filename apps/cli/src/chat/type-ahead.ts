import { PassThrough } from "node:stream";
import { TypedLine } from "./typed-line.ts";

const INTERRUPT = "\u0003";

/** What a line editor reads from, in place of the terminal itself. */
export interface LineInput {
  readonly stream: PassThrough;
  /** Gives the terminal back. */
  readonly close: () => void;
}

/** Standard input, a terminal, line by line: what is typed before somebody asks for it, or after the line's end, is kept for the next line. */
export class TypeAhead {
  /** Bytes, a character each. */
  #kept = "";

  /** Keeps what is typed, without showing it, until the returned function is called; Ctrl-C interrupts all the same. */
  hold(): () => void {
    const { stdin } = process;
    const take = (data: Buffer): void => {
      this.#kept += data.toString("latin1");
      if (!this.#kept.includes(INTERRUPT)) return;
      release();
      process.kill(process.pid, "SIGINT");
    };
    const release = (): void => {
      stdin.off("data", take);
      stdin.pause();
      stdin.setRawMode(false);
    };
    stdin.setRawMode(true);
    stdin.on("data", take);
    stdin.resume();
    return release;
  }

  /** The input for one line. An answer to a question (`isAnswer`) was never typed before the question. */
  open({ isAnswer }: { readonly isAnswer: boolean }): LineInput {
    const { stdin } = process;
    const line = new TypedLine();
    let hasEnded = false;
    const stream = Object.assign(new PassThrough(), { setRawMode: (isRaw: boolean) => void stdin.setRawMode(isRaw) });
    const take = (typed: string): void => {
      if (hasEnded) {
        this.#kept += typed;
        return;
      }
      const { editor, rest } = line.take(typed);
      if (editor !== "") stream.write(Buffer.from(editor, "latin1"));
      if (rest === undefined) return;
      hasEnded = true;
      this.#kept = rest + this.#kept;
    };
    const onData = (data: Buffer): void => take(data.toString("latin1"));
    const onEnd = (): void => void stream.end();
    if (!isAnswer) {
      const kept = this.#kept;
      this.#kept = "";
      if (kept !== "") take(kept);
    }
    stdin.on("data", onData).on("end", onEnd);
    stdin.resume();
    return {
      stream,
      close: () => {
        stdin.off("data", onData).off("end", onEnd);
        stdin.pause();
      },
    };
  }
}
