import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import path from "node:path";
import { fileURLToPath } from "node:url";
import type { FailedAnswer, PeerConfig, RoundAnswer, RoundQuestion, StartAnswer, StartQuestion } from "../peers/messages.ts";
import {
  type EchoConfig,
  ENVIRONMENT_VARIABLE,
  type ExecutorConfig,
  type ListingAnswer,
  type MemoryAnswer,
  type Question,
  type ServerConfig,
  type WritesAnswer,
} from "./messages.ts";

const ANSWER_MS_MAX = 60_000;
const STOP_MS_MAX = 30_000;

/** A process of its own; it ends with this one. */
export class Child<Ready> {
  readonly #process: ChildProcess;
  readonly #name: string;
  readonly ready: Ready;

  private constructor(process: ChildProcess, name: string, ready: Ready) {
    this.#process = process;
    this.#name = name;
    this.ready = ready;
  }

  /** Resolves once the process has said that it is ready. */
  static async start<Ready>(
    entry: URL,
    config: ServerConfig | ExecutorConfig | EchoConfig | PeerConfig,
    environment: NodeJS.ProcessEnv = {},
  ): Promise<Child<Ready>> {
    const name = path.basename(entry.pathname);
    const child = fork(fileURLToPath(entry), {
      env: { ...process.env, ...environment, [ENVIRONMENT_VARIABLE]: JSON.stringify(config) },
      stdio: ["ignore", "inherit", "inherit", "ipc"],
    });
    return new Child(child, name, (await nextMessage(child, name)) as Ready);
  }

  async writes(): Promise<WritesAnswer> {
    return (await this.#answer({ type: "writes" })) as WritesAnswer;
  }

  async listing(): Promise<ListingAnswer> {
    return (await this.#answer({ type: "listing" })) as ListingAnswer;
  }

  async memory(): Promise<MemoryAnswer> {
    return (await this.#answer({ type: "memory" })) as MemoryAnswer;
  }

  /** Asks a peer's program. Throws what it failed with. */
  async ask(question: RoundQuestion): Promise<RoundAnswer>;
  async ask(question: StartQuestion): Promise<StartAnswer>;
  async ask(question: RoundQuestion | StartQuestion): Promise<RoundAnswer | StartAnswer> {
    const message = (await this.#answer(question)) as RoundAnswer | StartAnswer | FailedAnswer;
    if (message.type === "failed") throw new Error(`${this.#name}: ${message.message}`);
    return message;
  }

  async #answer(question: Question | RoundQuestion | StartQuestion): Promise<unknown> {
    const answer = nextMessage(this.#process, this.#name);
    this.#process.send(question);
    return await answer;
  }

  async exited(): Promise<void> {
    if (this.#process.exitCode === null && this.#process.signalCode === null) await once(this.#process, "exit");
  }

  /** Ends it as a power failure would: nothing in it is told. */
  async kill(): Promise<void> {
    this.#process.kill("SIGKILL");
    await this.exited();
  }

  /** Does nothing where it has ended. One that does not end in time is killed. */
  async stop(): Promise<void> {
    if (this.#process.exitCode !== null || this.#process.signalCode !== null) return;
    const exited = once(this.#process, "exit");
    const timer = setTimeout(() => this.#process.kill("SIGKILL"), STOP_MS_MAX);
    this.#process.send({ type: "stop" } satisfies Question);
    await exited;
    clearTimeout(timer);
  }
}

function nextMessage(child: ChildProcess, name: string): Promise<unknown> {
  return new Promise((resolve, reject) => {
    const done = (): void => {
      clearTimeout(timer);
      child.off("message", onMessage);
      child.off("exit", onExit);
    };
    const onMessage = (message: unknown): void => {
      done();
      resolve(message);
    };
    const onExit = (code: number | null): void => {
      done();
      reject(new Error(`${name} ended with ${code ?? "a signal"}`));
    };
    const timer = setTimeout(() => {
      done();
      child.kill();
      reject(new Error(`${name} did not answer within ${ANSWER_MS_MAX} ms`));
    }, ANSWER_MS_MAX);
    child.on("message", onMessage);
    child.on("exit", onExit);
  });
}
