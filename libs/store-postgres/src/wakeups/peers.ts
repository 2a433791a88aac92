/** A replica that was not heard of for so long is taken for gone. */
const GONE_MS = 30_000;

/**
 * Whether any other replica listens. Each says hello when it begins to listen, when it hears of one that it did not know, and every ten seconds, on the channel of
 * the wake-ups: where nobody else has said so, wake-ups need not be sent. Like them it is a hint: what is missed is found by polling.
 */
export class Peers {
  readonly #nowMs: () => number;
  #listening = false;
  #heardMs = Number.NEGATIVE_INFINITY;

  constructor(nowMs: () => number) {
    this.#nowMs = nowMs;
  }

  /** Whether others would be heard from now on. */
  hears(hears: boolean): void {
    this.#listening = hears;
  }

  /** Another replica said something. True where nobody was known: it must be told that this one is here. */
  heard(): boolean {
    const isNew = !this.present;
    this.#heardMs = this.#nowMs();
    return isNew;
  }

  /** Who does not listen can't know. */
  get present(): boolean {
    return !this.#listening || this.#nowMs() - this.#heardMs < GONE_MS;
  }
}
