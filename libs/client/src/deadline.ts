import { ForgeError } from "@forge/protocol";
import { ErrorCode } from "@forge/protocol/common";

/** Aborts with `deadline_exceeded` when a call's time is over, unless it is cleared before. */
export class Deadline {
  readonly signal: AbortSignal;
  readonly #timer: NodeJS.Timeout;

  constructor(timeoutMs: number) {
    const controller = new AbortController();
    this.signal = controller.signal;
    this.#timer = setTimeout(() => {
      const message = `the call was not answered within ${timeoutMs} ms: what it asked for may or may not have happened`;
      controller.abort(new ForgeError(ErrorCode.DEADLINE_EXCEEDED, message, { origin: "client" }));
    }, timeoutMs);
  }

  clear(): void {
    clearTimeout(this.#timer);
  }
}
