import { type ChildProcessByStdio, spawn } from "node:child_process";
import type { Readable, Writable } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";
import { type Line, readLines } from "./read-lines.ts";

export interface Command {
  /** The program, for example "npx". */
  readonly command: string;
  /** For example ["forge", "rpc", "--project", "."]. */
  readonly args?: readonly string[];
  /** Absent: this process's. */
  readonly cwd?: string;
  /** Absent: this process's. */
  readonly env?: NodeJS.ProcessEnv;
}

/** The longest answer, with room for what JSON adds. */
const LINE_BYTES_MAX = 96 * 1024 * 1024;
/** Of what the process says on its standard error, so much is kept to tell why it ended. */
const LAST_WORDS_MAX = 8 * 1024;
/** A server of the process's own gets 5 s for what runs in it. */
const LEAVE_MS_MAX = 15_000;

/** A process that is spoken to by lines. */
export class Child {
  readonly #process: ChildProcessByStdio<Writable, Readable, Readable>;
  readonly #closed: Promise<unknown>;
  #lastWords = "";
  #startError: Error | undefined;

  constructor({ command, args = [], cwd, env }: Command) {
    this.#process = spawn(command, args, { cwd, env, stdio: ["pipe", "pipe", "pipe"] });
    this.#closed = new Promise((resolve) => this.#process.once("close", resolve));
    this.#process.once("error", (error) => {
      this.#startError = error;
    });
    // What can't be written any more is told by the end of the process.
    this.#process.stdin.on("error", () => undefined);
    this.#process.stderr.setEncoding("utf8").on("data", (text: string) => {
      this.#lastWords = (this.#lastWords + text).slice(-LAST_WORDS_MAX);
    });
  }

  /** Each line that it says, until it ends. */
  async *lines(): AsyncGenerator<Line> {
    yield* readLines(this.#process.stdout, LINE_BYTES_MAX);
    await this.#closed;
  }

  write(line: string): void {
    this.#process.stdin.write(`${line}\n`);
  }

  /** Why it could not be started; undefined where it could. */
  get startError(): Error | undefined {
    return this.#startError;
  }

  /** The end of its standard error. */
  get lastWords(): string {
    return this.#lastWords.trim();
  }

  kill(): void {
    this.#process.kill("SIGKILL");
  }

  /** Says that no more calls come, and resolves when it has ended; one that does not is killed. */
  async leave(): Promise<void> {
    this.#process.stdin.end();
    const late = new AbortController();
    const deadline = sleep(LEAVE_MS_MAX, undefined, { signal: late.signal }).then(
      () => this.kill(),
      // It has ended before.
      () => undefined,
    );
    await this.#closed;
    late.abort();
    await deadline;
  }
}
