import type { DescMethodServerStreaming, MessageShape } from "@bufbuild/protobuf";
import type { Any } from "@bufbuild/protobuf/wkt";
import { ForgeError } from "@forge/protocol";
import type { StreamRead, SuiteStream } from "./client.ts";
import { DriverFailure } from "./driver-failure.ts";
import type { DriverAnswer } from "./driver-process.ts";
import { errorLine, messageLine, type Trace } from "./trace.ts";
import { unpack } from "./unpack.ts";

interface Waiter<T> {
  readonly resolve: (read: StreamRead<T>) => void;
  readonly reject: (failure: DriverFailure) => void;
}

/** Without an error: in peace. */
interface End {
  readonly error?: ForgeError;
}

interface Port {
  /** Asks the driver to read so many more. */
  readonly pull: (count: number) => void;
  readonly cancel: () => void;
  /** Nothing more is to be heard. */
  readonly done: () => void;
}

/** A stream in a driver, of which only so much is read as was asked for. */
export class DriverStream<M extends DescMethodServerStreaming> implements SuiteStream<MessageShape<M["output"]>> {
  readonly #method: M;
  readonly #ahead: number;
  readonly #trace: Trace;
  readonly #port: Port;
  readonly #messages: MessageShape<M["output"]>[] = [];
  readonly #waiters: Waiter<MessageShape<M["output"]>>[] = [];
  #outstanding: number;
  #end: End | DriverFailure | undefined;

  /** `ahead` messages are on their way already. */
  constructor(method: M, ahead: number, trace: Trace, port: Port) {
    this.#method = method;
    this.#ahead = ahead;
    this.#outstanding = ahead;
    this.#trace = trace;
    this.#port = port;
  }

  next(): Promise<StreamRead<MessageShape<M["output"]>>> {
    return new Promise((resolve, reject) => {
      this.#waiters.push({ resolve, reject });
      this.#serve();
    });
  }

  cancel(): void {
    if (this.#end === undefined) this.#port.cancel();
  }

  /** What the driver says of it. */
  hear(answer: DriverAnswer | DriverFailure): void {
    if (this.#end !== undefined) return;
    try {
      if (answer instanceof DriverFailure) throw answer;
      if (answer.case === "streamItem") this.#take(answer.value.message);
      else if (answer.case === "streamEnd") this.#finish(answer.value.error === undefined ? {} : { error: ForgeError.from(answer.value.error) });
      else throw new DriverFailure(`the driver answered ${answer.case ?? "nothing"} to a stream`);
    } catch (error) {
      this.#finish(error as DriverFailure);
    }
    this.#serve();
  }

  #take(any: Any | undefined): void {
    if (this.#outstanding === 0) throw new DriverFailure("the driver read further than it was asked to");
    this.#outstanding--;
    const message = unpack<M["output"]>(this.#method.output, any);
    this.#trace.add(`< ${this.#method.name}: ${messageLine(this.#method.output, message)}`);
    this.#messages.push(message);
  }

  #finish(end: End | DriverFailure): void {
    this.#end = end;
    this.#port.done();
    const how = end instanceof DriverFailure ? "driver failure" : end.error === undefined ? "in peace" : errorLine(end.error);
    this.#trace.add(`< ${this.#method.name} ended: ${how}`);
  }

  #serve(): void {
    while (this.#waiters.length > 0 && this.#messages.length > 0) {
      this.#waiters.shift()?.resolve({ message: this.#messages.shift() as MessageShape<M["output"]> });
    }
    const end = this.#end;
    if (end === undefined) {
      this.#refill();
      return;
    }
    for (const { resolve, reject } of this.#waiters.splice(0)) {
      if (end instanceof DriverFailure) reject(end);
      else resolve(end);
    }
  }

  #refill(): void {
    const wanted = this.#ahead + this.#waiters.length - this.#messages.length - this.#outstanding;
    // Not for every message: a pull for half of what may be ahead is enough to keep it coming.
    if (wanted < Math.max(1, this.#ahead >> 1)) return;
    this.#outstanding += wanted;
    this.#port.pull(wanted);
  }
}
