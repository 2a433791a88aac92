import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { tmpdir, userInfo } from "node:os";
import path from "node:path";

/** Lines of a process's output that are kept, for a failing test to show. */
const LOG_LINES_MAX = 400;
const READY_MS_MAX = 30_000;
/** Processes are started by the dozen; what one has compiled the next one reads. */
const COMPILE_CACHE = path.join(tmpdir(), `forge-compile-cache-${userInfo().uid}`);

/** A process of its own, of one of the entries in this folder. It ends when the test process does. */
export class Child {
  readonly #process: ChildProcess;
  readonly #exited: Promise<void>;
  readonly #listeners = new Set<(message: unknown) => void>();
  readonly log: string[] = [];

  private constructor(entry: string, config: object) {
    this.#process = fork(path.join(import.meta.dirname, entry), {
      env: { ...process.env, FORGE_TEST: JSON.stringify(config), NODE_COMPILE_CACHE: COMPILE_CACHE },
      execArgv: [],
      stdio: ["ignore", "pipe", "pipe", "ipc"],
    });
    const keep = (data: Buffer) => {
      this.log.push(...data.toString().trimEnd().split("\n"));
      this.log.splice(0, this.log.length - LOG_LINES_MAX);
    };
    this.#process.stdout?.on("data", keep);
    this.#process.stderr?.on("data", keep);
    this.#exited = once(this.#process, "exit").then(() => undefined);
    this.#process.on("message", (message) => {
      for (const listener of this.#listeners) listener(message);
    });
  }

  /** Resolves once the process has said that it is ready, with what it said. */
  static async start<Ready>(entry: string, config: object): Promise<{ readonly child: Child; readonly ready: Ready }> {
    const child = new Child(entry, config);
    const said = Promise.withResolvers<Ready>();
    const stop = child.onMessage((message) => {
      if ((message as { type?: string }).type === "ready") said.resolve(message as Ready);
    });
    const timer = setTimeout(() => said.reject(new Error(`${entry} was not ready after ${READY_MS_MAX} ms:\n${child.log.join("\n")}`)), READY_MS_MAX);
    void child.#exited.then(() => said.reject(new Error(`${entry} ended before it was ready:\n${child.log.join("\n")}`)));
    try {
      return { child, ready: await said.promise };
    } catch (error) {
      await child.kill();
      throw error;
    } finally {
      clearTimeout(timer);
      stop();
    }
  }

  get pid(): number {
    return this.#process.pid as number;
  }

  /** Returns what ends the listening. */
  onMessage(listener: (message: unknown) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  send(message: object): void {
    // A process that is being killed takes no message any more, and needs none.
    if (this.#process.connected) this.#process.send(message, () => undefined);
  }

  signal(signal: NodeJS.Signals): void {
    this.#process.kill(signal);
  }

  /** kill -9. Resolves once the process is gone. */
  async kill(): Promise<void> {
    if (this.#process.exitCode === null && this.#process.signalCode === null) this.#process.kill("SIGKILL");
    await this.#exited;
  }

  /** Asks it to end by itself, and waits for that. */
  async stop(): Promise<void> {
    this.send({ type: "stop" });
    await this.#exited;
  }
}
