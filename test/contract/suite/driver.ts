import { create, type DescMethod, type DescMethodServerStreaming, type DescMethodUnary, type MessageInitShape, type MessageShape } from "@bufbuild/protobuf";
import { type Any, anyPack } from "@bufbuild/protobuf/wkt";
import { ForgeError } from "@forge/protocol";
import type { Description, OpenClientSchema } from "@forge/protocol/contract";
import type { Outcome, SuiteCall, SuiteClient, SuiteStream } from "./client.ts";
import { DriverFailure } from "./driver-failure.ts";
import { type DriverAnswer, DriverProcess, type Launch, told } from "./driver-process.ts";
import { DriverStream } from "./driver-stream.ts";
import { errorLine, messageLine, type Trace } from "./trace.ts";
import { unpack } from "./unpack.ts";

/** A driver may have to start a browser, or a virtual machine, first. */
const DESCRIBE_MS_MAX = 60_000;
const OPEN_MS_MAX = 30_000;
/** A client that is closed ends what it has open, and whatever it started. */
const CLOSE_MS_MAX = 20_000;
const AHEAD = 64;

/** How the suite names a method to a driver. */
export function methodName(method: DescMethod): string {
  return `${method.parent.typeName}/${method.name}`;
}

/** A driver program that runs, and what it has said of itself. */
export class Driver {
  readonly description: Description;
  readonly #process: DriverProcess;

  private constructor(process: DriverProcess, description: Description) {
    this.#process = process;
    this.description = description;
  }

  static async start(launch: Launch): Promise<Driver> {
    const process = new DriverProcess(launch);
    try {
      return new Driver(process, await process.ask({ case: "describe", value: {} }, "description", DESCRIBE_MS_MAX));
    } catch (error) {
      process.end("it could not be asked what it is");
      throw error;
    }
  }

  /** False once it can do nothing more. */
  get lives(): boolean {
    return this.#process.failure === undefined;
  }

  has(method: DescMethod): boolean {
    return this.description.methods.includes(methodName(method));
  }

  /** A client of the implementation, whose doings go into the trace. */
  async open(options: MessageInitShape<typeof OpenClientSchema>, trace: Trace): Promise<SuiteClient> {
    const opened = Promise.withResolvers<DriverAnswer | DriverFailure>();
    const { id, done } = this.#process.send({ case: "openClient", value: options as object }, opened.resolve);
    const timer = setTimeout(() => this.#process.end(`the driver did not open a client within ${OPEN_MS_MAX} ms`), OPEN_MS_MAX);
    const answer = await opened.promise;
    clearTimeout(timer);
    done();
    if (answer instanceof DriverFailure) throw answer;
    told(answer, "clientOpened");
    return new DriverClient(this.#process, id, trace);
  }

  async stop(): Promise<void> {
    await this.#process.stop();
  }
}

class DriverClient implements SuiteClient {
  readonly #process: DriverProcess;
  readonly #id: bigint;
  readonly #trace: Trace;
  #closed: Promise<void> | undefined;

  constructor(process: DriverProcess, id: bigint, trace: Trace) {
    this.#process = process;
    this.#id = id;
    this.#trace = trace;
  }

  async call<M extends DescMethodUnary>(
    method: M,
    request: MessageInitShape<M["input"]>,
    options: SuiteCall & { readonly retry?: boolean } = {},
  ): Promise<Outcome<MessageShape<M["output"]>>> {
    const answered = Promise.withResolvers<DriverAnswer | DriverFailure>();
    const { id, done } = this.#process.send(
      { case: "call", value: { ...this.#named(method, request), timeoutMs: options.timeoutMs ?? 0, retry: options.retry ?? false } },
      answered.resolve,
    );
    const stop = this.#cancelOn(options.signal, id);
    const answer = await answered.promise;
    stop();
    done();
    if (answer instanceof DriverFailure) throw answer;
    const outcome = toOutcome(method, answer);
    const line = outcome.error === undefined ? messageLine(method.output, outcome.response) : errorLine(outcome.error);
    this.#trace.add(`< ${method.name}: ${line}`);
    return outcome;
  }

  open<M extends DescMethodServerStreaming>(
    method: M,
    request: MessageInitShape<M["input"]>,
    options: SuiteCall & { readonly resume?: boolean; readonly ahead?: number } = {},
  ): SuiteStream<MessageShape<M["output"]>> {
    const ahead = options.ahead ?? AHEAD;
    const early: (DriverAnswer | DriverFailure)[] = [];
    let hear = (answer: DriverAnswer | DriverFailure): void => void early.push(answer);
    const { id, done } = this.#process.send(
      { case: "openStream", value: { ...this.#named(method, request), timeoutMs: options.timeoutMs ?? 0, resume: options.resume ?? false, pull: ahead } },
      (answer) => hear(answer),
    );
    const stop = this.#cancelOn(options.signal, id);
    const stream = new DriverStream(method, ahead, this.#trace, {
      pull: (count) => this.#process.tell({ case: "pull", value: { stream: id, count } }),
      cancel: () => this.#process.tell({ case: "cancel", value: { target: id } }),
      done: () => {
        stop();
        done();
      },
    });
    hear = (answer) => stream.hear(answer);
    for (const answer of early) stream.hear(answer);
    return stream;
  }

  close(): Promise<void> {
    this.#closed ??= this.#process.ask({ case: "closeClient", value: { client: this.#id } }, "clientClosed", CLOSE_MS_MAX).then(() => undefined);
    return this.#closed;
  }

  #named<M extends DescMethod>(method: M, init: MessageInitShape<M["input"]>): { client: bigint; method: string; request: Any } {
    const request = create(method.input, init);
    this.#trace.add(`> ${method.name}: ${messageLine(method.input, request)}`);
    return { client: this.#id, method: methodName(method), request: anyPack(method.input, request) };
  }

  #cancelOn(signal: AbortSignal | undefined, target: bigint): () => void {
    const cancel = () => this.#process.tell({ case: "cancel", value: { target } });
    if (signal?.aborted === true) cancel();
    signal?.addEventListener("abort", cancel, { once: true });
    return () => signal?.removeEventListener("abort", cancel);
  }
}

function toOutcome<M extends DescMethodUnary>(method: M, answer: DriverAnswer): Outcome<MessageShape<M["output"]>> {
  const { kind } = told(answer, "call");
  if (kind.case === "error") return { error: ForgeError.from(kind.value) };
  return { response: unpack<M["output"]>(method.output, kind.case === "response" ? kind.value : undefined) };
}
