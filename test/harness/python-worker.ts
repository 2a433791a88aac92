import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { pythonWithForge } from "./python.ts";
import { until } from "./work.ts";

/** Of its output, for a failing test to show. */
const LOG_LINES_MAX = 400;
const READY_MS_MAX = 60_000;

export interface PythonWorkerOptions {
  readonly url: string;
  readonly token: string;
  readonly file: string;
  readonly name: string;
  readonly isReloading?: boolean;
  /** By `forge worker`, which starts the same. */
  readonly isByCommand?: boolean;
}

const FORGE = fileURLToPath(new URL("../../apps/cli/src/main.js", import.meta.url));

/** `python3 -m forge_client.worker`. */
export class PythonWorker {
  readonly #process: ChildProcess;
  readonly #exited: Promise<unknown>;
  readonly log: string[] = [];

  private constructor(python: string, options: PythonWorkerOptions) {
    const { url, token, file, name, isReloading = false, isByCommand = false } = options;
    const common = [file, "--name", name, "--queue", "default", "--slots", "4"];
    const [program, ...parameters] = isByCommand
      ? [process.execPath, FORGE, "worker", ...common, ...(isReloading ? [] : ["--no-reload"])]
      : [python, "-m", "forge_client.worker", ...common, ...(isReloading ? ["--reload"] : [])];
    const env = { ...process.env, FORGE_URL: url, FORGE_TOKEN: token, FORGE_PYTHON: python };
    // Its input ends with this process, and with that it ends.
    this.#process = spawn(program, parameters, { env, stdio: ["pipe", "ignore", "pipe"] });
    this.#exited = once(this.#process, "exit");
    const lines = createInterface({ input: this.#process.stderr as NodeJS.ReadableStream });
    lines.on("line", (line) => {
      this.log.push(line);
      this.log.splice(0, this.log.length - LOG_LINES_MAX);
    });
  }

  /** Resolves once it serves. */
  static async start(options: PythonWorkerOptions): Promise<PythonWorker> {
    const worker = new PythonWorker(await pythonWithForge(), options);
    try {
      await worker.said(` ${options.name} serves `);
    } catch (error) {
      await worker.kill();
      throw new Error(`the Python worker did not come to serve:\n${worker.log.join("\n")}`, { cause: error });
    }
    return worker;
  }

  /** Waits for a line that holds a text, after the first `after` lines that do. */
  async said(text: string, after = 0): Promise<void> {
    await until(`the worker says "${text}"`, () => this.count(text) > after || this.#process.exitCode !== null, READY_MS_MAX);
    if (this.count(text) <= after) throw new Error(`the worker ended:\n${this.log.join("\n")}`);
  }

  /** Lines that hold a text. */
  count(text: string): number {
    return this.log.filter((line) => line.includes(text)).length;
  }

  /** kill -9. */
  async kill(): Promise<void> {
    this.#process.kill("SIGKILL");
    await this.#exited;
  }

  /** Ends it in peace; resolves to its exit code. */
  stop(): Promise<number | null> {
    this.#process.kill("SIGTERM");
    return this.exited();
  }

  /** Resolves to its exit code once it has ended. */
  async exited(): Promise<number | null> {
    await this.#exited;
    return this.#process.exitCode;
  }
}
