/** Lets one after the other do something, in the order in which they asked. */
export class Mutex {
  #last: Promise<unknown> = Promise.resolve();

  run<T>(work: () => Promise<T>): Promise<T> {
    const result = this.#last.then(work);
    // The next one's turn comes however this one's ends; its caller is told.
    this.#last = result.catch(() => undefined);
    return result;
  }
}
