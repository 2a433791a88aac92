/** What a list shows at most, newest first, as it changes. */
export class WatchedList<T> {
  readonly #limit: number;
  readonly #idOf: (item: T) => string;
  readonly #belongs: (item: T) => boolean;
  readonly #createdAtMs: (item: T) => number;
  #items: readonly T[] = [];

  constructor(options: {
    readonly limit: number;
    readonly idOf: (item: T) => string;
    /** Whether the list shows it, as it is now. */
    readonly belongs: (item: T) => boolean;
    readonly createdAtMs: (item: T) => number;
  }) {
    this.#limit = options.limit;
    this.#idOf = options.idOf;
    this.#belongs = options.belongs;
    this.#createdAtMs = options.createdAtMs;
  }

  get items(): readonly T[] {
    return this.#items;
  }

  /** The list was read anew. */
  replace(items: readonly T[]): void {
    this.#items = items;
  }

  /** One has changed. It leaves the list where it does not belong there any more; and comes into it where it does. */
  change(item: T): void {
    const others = this.#items.filter((each) => this.#idOf(each) !== this.#idOf(item));
    if (!this.#belongs(item)) {
      this.#items = others;
      return;
    }
    const index = others.findIndex((each) => this.#createdAtMs(each) < this.#createdAtMs(item));
    const at = index < 0 ? others.length : index;
    this.#items = [...others.slice(0, at), item, ...others.slice(at)].slice(0, this.#limit);
  }
}
