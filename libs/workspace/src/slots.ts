/** Runs work beside its caller, so much of it at once. */
export class Slots {
  #free: number;
  readonly #running = new Set<Promise<void>>();
  readonly #waiting: (() => void)[] = [];
  #failure: { readonly error: unknown } | undefined;

  constructor(limit: number) {
    this.#free = limit;
  }

  /** Waits for a slot, which `run` uses up or `release` gives back. */
  async take(): Promise<void> {
    if (this.#free > 0) {
      this.#free--;
      return;
    }
    await new Promise<void>((resolve) => this.#waiting.push(resolve));
  }

  release(): void {
    const next = this.#waiting.shift();
    if (next === undefined) this.#free++;
    else next();
  }

  /** Runs it in a slot that was taken. */
  run(work: () => Promise<void>): void {
    const running = work()
      .catch((error: unknown) => {
        this.#failure ??= { error };
      })
      .finally(() => {
        this.#running.delete(running);
        this.release();
      });
    this.#running.add(running);
  }

  /** The first failure of work that has ended. */
  throwFailure(): void {
    if (this.#failure !== undefined) throw this.#failure.error;
  }

  async whenIdle(): Promise<void> {
    while (this.#running.size > 0) await Promise.all(this.#running);
  }
}
