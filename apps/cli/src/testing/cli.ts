import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";

const MAIN = fileURLToPath(new URL("../main.js", import.meta.url));
const DEADLINE_MS = 60_000;

export interface CliOptions {
  readonly directory: string;
  readonly environment?: Readonly<Record<string, string>>;
  /** Everything that is said on standard input; absent: nothing, and it ends. */
  readonly input?: string;
}

export interface CliResult {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
  /** Standard output as JSON, a value a line. */
  readonly json: () => Record<string, never>[];
}

/** What a person says of a project for good, beside it. */
export function stateDirectory(directory: string): string {
  return `${directory}-state`;
}

/** A command that runs. */
export class Cli {
  readonly child: ChildProcessWithoutNullStreams;
  stdout = "";
  stderr = "";
  readonly #exited: Promise<void>;
  static readonly #running = new Set<Cli>();

  constructor(words: readonly string[], { directory, environment = {} }: CliOptions, terminal = false) {
    const node = [process.execPath, MAIN, ...words];
    const env = {
      ...process.env,
      CI: "",
      NO_COLOR: "",
      TERM: "xterm",
      DATABASE_URL: "",
      DATABASE_DIRECT_URL: "",
      XDG_STATE_HOME: stateDirectory(directory),
      ...environment,
    };
    const [program = "", ...args] = terminal
      ? ["script", "--quiet", "--return", "--flush", "--command", `stty cols 80 rows 24; exec ${node.map((word) => `'${word}'`).join(" ")}`, "/dev/null"]
      : node;
    this.child = spawn(program, args, { cwd: directory, env });
    this.child.stdout.on("data", (data: Buffer) => (this.stdout += data.toString()));
    this.child.stderr.on("data", (data: Buffer) => (this.stderr += data.toString()));
    Cli.#running.add(this);
    this.#exited = once(this.child, "close").then(() => void Cli.#running.delete(this));
  }

  /** Ends what a test that failed has left running. */
  static async endAll(): Promise<void> {
    for (const { child } of Cli.#running) child.kill("SIGKILL");
    await Promise.all([...Cli.#running].map((each) => each.#exited));
  }

  /** Resolves when standard output has matched, from a position on; rejects with what was said instead. */
  async says(pattern: RegExp, from = 0): Promise<void> {
    const untilMs = Date.now() + DEADLINE_MS;
    while (!pattern.test(this.stdout.slice(from))) {
      if (Date.now() > untilMs || this.child.exitCode !== null) throw new Error(`never said ${pattern}: ${this.stdout.slice(from)}\n${this.stderr}`);
      await Promise.race([once(this.child.stdout, "data"), this.#exited, new Promise((resolve) => setTimeout(resolve, 1_000))]);
    }
  }

  async end(): Promise<CliResult> {
    await this.#exited;
    const { stdout, stderr } = this;
    return {
      code: this.child.exitCode,
      stdout,
      stderr,
      json: () =>
        stdout
          .trimEnd()
          .split("\n")
          .map((line) => JSON.parse(line) as Record<string, never>),
    };
  }
}

/** Runs a command to its end. */
export async function forge(words: readonly string[], options: CliOptions): Promise<CliResult> {
  const cli = new Cli(words, options);
  cli.child.stdin.end(options.input ?? "");
  return cli.end();
}

/** Starts a command on a terminal of its own; what is written to its input is typed. */
export function forgeOnTerminal(words: readonly string[], options: CliOptions): Cli {
  return new Cli(words, options, true);
}

/** Whether a process is there. */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

/** Resolves when a condition holds; rejects after a minute. */
export async function until(condition: () => boolean | Promise<boolean>, what: string): Promise<void> {
  const untilMs = Date.now() + DEADLINE_MS;
  while (!(await condition())) {
    if (Date.now() > untilMs) throw new Error(`never: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 25));
  }
}
