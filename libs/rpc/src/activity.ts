/** Whether anybody talks to the server. */
export class Activity {
  #open = 0;
  #lastAtMs = Date.now();

  /** A call has begun; the returned function says that it has ended. */
  begin(): () => void {
    this.#open++;
    this.#lastAtMs = Date.now();
    return () => {
      this.#open--;
      this.#lastAtMs = Date.now();
    };
  }

  get open(): number {
    return this.#open;
  }

  get lastAtMs(): number {
    return this.#lastAtMs;
  }
}
