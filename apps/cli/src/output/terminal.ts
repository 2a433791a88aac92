import { COLOURED, PLAIN, type Style } from "./style.ts";

/** Where a command writes, and what may be written there. */
export interface Terminal {
  /** Standard output takes cursor movements. */
  readonly isLive: boolean;
  /** A person is there to be asked. */
  readonly canAsk: boolean;
  readonly style: Style;
  /** For standard error. */
  readonly errorStyle: Style;
  /** Of standard output now; 80 where it is no terminal and nobody says otherwise. */
  readonly columns: () => number;
  /** Of standard output now; absent where nothing is drawn in place. */
  readonly rows?: () => number;
  readonly out: (text: string) => void;
  /** One line. */
  readonly print: (line?: string) => void;
  /** One line on standard error. */
  readonly note: (line: string) => void;
}

const COLUMNS_DEFAULT = 80;
const ROWS_DEFAULT = 24;

/** The process's own terminal. NO_COLOR takes the colours, TERM=dumb everything that moves. */
export function processTerminal(environment: NodeJS.ProcessEnv = process.env): Terminal {
  const isDumb = environment.TERM === "dumb";
  const hasColour = (stream: NodeJS.WriteStream): boolean => stream.isTTY && !isDumb && !environment.NO_COLOR;
  const isLive = process.stdout.isTTY && !isDumb;
  const out = (text: string): void => void process.stdout.write(text);
  return {
    isLive,
    canAsk: isLive && process.stdin.isTTY,
    style: hasColour(process.stdout) ? COLOURED : PLAIN,
    errorStyle: hasColour(process.stderr) ? COLOURED : PLAIN,
    columns: () => process.stdout.columns || Number(environment.COLUMNS) || COLUMNS_DEFAULT,
    rows: () => process.stdout.rows || ROWS_DEFAULT,
    out,
    print: (line = "") => out(`${line}\n`),
    note: (line) => void process.stderr.write(`${line}\n`),
  };
}

/** A reader that goes away (`| head`) ends the command quietly; a terminal that goes away is told by a signal. */
export function endWithReader(): void {
  for (const stream of [process.stdout, process.stderr]) {
    stream.on("error", (error: NodeJS.ErrnoException) => {
      if (error.code === "EPIPE") process.exit(0);
      if (error.code !== "EIO") throw error;
    });
  }
}
