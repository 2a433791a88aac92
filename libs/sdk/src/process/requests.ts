import type { ForgeError } from "@forge/protocol";
import type { FromChild, Method } from "./messages.ts";

/** What the calls of a process have asked its parent for and wait for. */
export class Requests {
  readonly #send: (message: FromChild) => void;
  readonly #open = new Map<number, PromiseWithResolvers<unknown>>();
  #next = 1;

  constructor(send: (message: FromChild) => void) {
    this.#send = send;
  }

  make(call: number, method: Method, argument: unknown): Promise<unknown> {
    const request = this.#next++;
    const settled = Promise.withResolvers<unknown>();
    this.#open.set(request, settled);
    this.#send({ kind: "request", request, call, method, argument });
    return settled.promise;
  }

  answer(request: number, value: unknown): void {
    this.#take(request)?.resolve(value);
  }

  refuse(request: number, error: ForgeError): void {
    this.#take(request)?.reject(error);
  }

  #take(request: number): PromiseWithResolvers<unknown> | undefined {
    const settled = this.#open.get(request);
    this.#open.delete(request);
    return settled;
  }
}
