import { createInterface } from "node:readline";
import type { TypeAhead } from "./type-ahead.ts";
import { asOneLine, withLineEnds } from "./typed-line.ts";

export interface ReadLineOptions {
  readonly typed: TypeAhead;
  /** Whether it answers a question, which nobody can have answered before it was asked. */
  readonly isAnswer: boolean;
  readonly prompt: string;
  /** Newest first; lines are added to it. */
  readonly history: string[];
  /** What is in the line already. */
  readonly text?: string;
  readonly signal?: AbortSignal;
  readonly complete?: Completer;
}

/** What may follow a line's end: whole words, and the part of the line that they stand for. */
export type Completer = (line: string) => Promise<readonly [readonly string[], string]>;

/** What came of it: a line; nothing more will come; Ctrl-C in an empty line; or the signal, with what had been typed. */
export type ReadLine =
  | { readonly kind: "line"; readonly text: string }
  | { readonly kind: "end" }
  | { readonly kind: "interrupt" }
  | { readonly kind: "aborted"; readonly text: string };

const CLEAR_LINE = "\r\u001B[K";
/** The terminal marks what is pasted, so that its line ends are not taken for Enter. */
const MARK_PASTES = "\u001B[?2004h";
const MARK_NO_PASTES = "\u001B[?2004l";

/**
 * One line from the terminal, with editing and history. The terminal is given back afterwards: while nobody is asked, Ctrl-C is a signal again. Ctrl-C in a
 * line that is not empty only empties it.
 */
export function readLine({ typed, isAnswer, prompt, history, text = "", signal, complete }: ReadLineOptions): Promise<ReadLine> {
  return new Promise((resolve) => {
    if (signal?.aborted === true) return resolve({ kind: "aborted", text });
    const input = typed.open({ isAnswer });
    process.stdout.write(MARK_PASTES);
    const reader = createInterface({
      input: input.stream,
      output: process.stdout,
      terminal: true,
      history: [...history],
      prompt,
      removeHistoryDuplicates: true,
      ...(complete === undefined ? {} : { completer: toCallback(complete) }),
    });
    let result: ReadLine = { kind: "end" };
    const end = (with_: ReadLine): void => {
      result = with_;
      reader.close();
    };
    const abort = (): void => {
      end({ kind: "aborted", text: withLineEnds(reader.line) });
      process.stdout.write(CLEAR_LINE);
    };
    signal?.addEventListener("abort", abort);
    reader.on("history", (lines: string[]) => history.splice(0, history.length, ...lines));
    reader.on("line", (line) => end({ kind: "line", text: withLineEnds(line) }));
    reader.on("SIGINT", () => {
      if (reader.line === "") {
        process.stdout.write("\n");
        return end({ kind: "interrupt" });
      }
      reader.write(null, { ctrl: true, name: "e" });
      reader.write(null, { ctrl: true, name: "u" });
    });
    reader.on("close", () => {
      signal?.removeEventListener("abort", abort);
      input.close();
      process.stdout.write(MARK_NO_PASTES);
      resolve(result);
    });
    reader.prompt();
    if (text !== "") reader.write(asOneLine(text));
  });
}

type CompleterCallback = (error: Error | null, result: [string[], string]) => void;

function toCallback(complete: Completer) {
  return (line: string, done: CompleterCallback): void => void answer(complete, line, done);
}

async function answer(complete: Completer, line: string, done: CompleterCallback): Promise<void> {
  let words: readonly string[] = [];
  let part = line;
  try {
    [words, part] = await complete(line);
  } catch {
    // What can't be completed is typed.
  }
  done(null, [[...words], part]);
}
