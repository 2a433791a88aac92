import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import type { Readable, Writable } from "node:stream";
import { setTimeout as delay } from "node:timers/promises";
import { create, fromBinary, type MessageInitShape, toBinary } from "@bufbuild/protobuf";
import { type DriverRequestSchema, type DriverResponse, DriverResponseSchema, DriverRequestSchema as REQUEST } from "@forge/protocol/contract";
import { DriverFailure } from "./driver-failure.ts";
import { readFrames, toFrame } from "./frames.ts";

/** How a driver program is started. */
export interface Launch {
  readonly command: string;
  readonly args: readonly string[];
  /** Absent: this process's. */
  readonly cwd?: string;
  /** Beside this process's own. */
  readonly env?: Readonly<Record<string, string>>;
}

export type DriverAnswer = DriverResponse["kind"];
type Case = NonNullable<DriverAnswer["case"]>;
type Told<C extends Case> = Extract<DriverAnswer, { case: C }>["value"];
type Listener = (answer: DriverAnswer | DriverFailure) => void;
type RequestKind = NonNullable<MessageInitShape<typeof DriverRequestSchema>["kind"]>;

/** Of standard error, for a failing test to show. */
const STDERR_CHARACTERS_MAX = 4_000;
/** From the end of its input to its own end. */
const END_MS_MAX = 5_000;

/** A driver's process: requests go in, responses come out. Whatever it does not answer before it ends is answered with a failure. */
export class DriverProcess {
  readonly #child: ChildProcess;
  readonly #listeners = new Map<bigint, Listener>();
  readonly #closed: Promise<void>;
  #lastId = 0n;
  #stderr = "";
  #failure: DriverFailure | undefined;

  constructor({ command, args, cwd, env }: Launch) {
    // A group of its own: what the driver has started ends with it.
    this.#child = spawn(command, args, { cwd, env: { ...process.env, ...env }, detached: true, stdio: ["pipe", "pipe", "pipe"] });
    this.#child.stderr?.setEncoding("utf8").on("data", (text: string) => {
      this.#stderr = (this.#stderr + text).slice(-STDERR_CHARACTERS_MAX);
    });
    // A driver that has ended takes no more input; its end is told below.
    this.#child.stdin?.on("error", () => undefined);
    this.#closed = once(this.#child, "close").then(
      ([code, signal]) => this.#fail(`the driver ended (${signal === null ? `exit code ${code}` : signal})`),
      (error: unknown) => this.#fail(`the driver could not be started: ${String(error)}`),
    );
    void this.#read(this.#child.stdout as Readable);
  }

  /** Why it can do nothing more; undefined while it can. */
  get failure(): DriverFailure | undefined {
    return this.#failure;
  }

  /** Sends a request; the listener hears every response to it, and a failure that ends the driver. Returns the request's id and what ends the listening. */
  send(kind: RequestKind, listener: Listener): { readonly id: bigint; readonly done: () => void } {
    const id = ++this.#lastId;
    const done = () => void this.#listeners.delete(id);
    if (this.#failure === undefined) {
      this.#listeners.set(id, listener);
      this.#write(id, kind);
    } else listener(this.#failure);
    return { id, done };
  }

  /** Sends what has no answer. */
  tell(kind: RequestKind): void {
    if (this.#failure === undefined) this.#write(++this.#lastId, kind);
  }

  /** Sends a request and waits for its one answer. A driver that does not give it in time is ended. */
  async ask<C extends Case>(kind: RequestKind, expected: C, waitMs: number): Promise<Told<C>> {
    const answered = Promise.withResolvers<DriverAnswer | DriverFailure>();
    const { done } = this.send(kind, answered.resolve);
    const timer = setTimeout(() => this.end(`the driver did not answer ${kind.case} within ${waitMs} ms`), waitMs);
    const answer = await answered.promise;
    clearTimeout(timer);
    done();
    if (answer instanceof DriverFailure) throw answer;
    return told(answer, expected);
  }

  /** Ends it at once: what is open fails with the reason. */
  end(reason: string): void {
    this.#fail(reason);
    this.#kill();
  }

  /** Ends its input, and waits for its end. Errors: a driver that has to be killed. */
  async stop(): Promise<void> {
    this.#child.stdin?.end();
    const ended = await Promise.race([this.#closed.then(() => true), delay(END_MS_MAX, false, { ref: false })]);
    this.#kill();
    await this.#closed;
    if (!ended) throw new DriverFailure(`the driver did not end within ${END_MS_MAX} ms after its input\n${this.#stderr}`);
  }

  async #read(stdout: Readable): Promise<void> {
    try {
      for await (const frame of readFrames(stdout)) {
        const { id, kind } = fromBinary(DriverResponseSchema, frame);
        // What comes after a case has ended has nobody to hear it any more.
        this.#listeners.get(id)?.(kind.case === "failure" ? this.#toFailure(kind.value.message) : kind);
      }
    } catch (error) {
      this.end(`the driver's output is no frames: ${error instanceof Error ? error.message : String(error)}`);
    }
  }

  #write(id: bigint, kind: RequestKind): void {
    (this.#child.stdin as Writable).write(toFrame(toBinary(REQUEST, create(REQUEST, { id, kind }))));
  }

  #toFailure(reason: string): DriverFailure {
    return new DriverFailure(this.#stderr === "" ? reason : `${reason}\nits standard error ends with:\n${this.#stderr}`);
  }

  #fail(reason: string): void {
    if (this.#failure !== undefined) return;
    this.#failure = this.#toFailure(reason);
    const listeners = [...this.#listeners.values()];
    this.#listeners.clear();
    for (const listener of listeners) listener(this.#failure);
  }

  #kill(): void {
    const { pid } = this.#child;
    if (pid === undefined) return;
    try {
      process.kill(-pid, "SIGKILL");
    } catch (error) {
      // The whole group has ended by itself.
      if ((error as NodeJS.ErrnoException).code !== "ESRCH") throw error;
    }
  }
}

/** The answer as the kind that it has to be. */
export function told<C extends Case>(answer: DriverAnswer, expected: C): Told<C> {
  if (answer.case !== expected) throw new DriverFailure(`the driver answered ${answer.case ?? "nothing"} where ${expected} belongs`);
  return answer.value as Told<C>;
}
