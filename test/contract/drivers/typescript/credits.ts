/** How many messages of a stream may still be read. */
export class Credits {
  #count: number;
  #more = Promise.withResolvers<void>();
  #isLifted = false;

  constructor(count: number) {
    this.#count = count;
  }

  add(count: number): void {
    this.#count += count;
    this.#more.resolve();
  }

  /** The stream was given up: it may be read to its end. */
  lift(): void {
    this.#isLifted = true;
    this.#more.resolve();
  }

  get lifted(): boolean {
    return this.#isLifted;
  }

  /** Waits until one more may be read. */
  async take(): Promise<void> {
    while (this.#count === 0 && !this.#isLifted) {
      await this.#more.promise;
      this.#more = Promise.withResolvers();
    }
    if (this.#count > 0) this.#count--;
  }
}
