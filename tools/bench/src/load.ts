import type { Round } from "./statistics.ts";

/** How long a round lasts, or how often it repeats: whichever comes first ends it. */
export interface Extent {
  readonly seconds: number;
  readonly countMax?: number;
}

/** Runs an operation over and over, so many at once, and measures each. An operation that fails ends the measurement: what did not happen is not counted. */
export async function measure(inFlight: number, extent: Extent, operation: () => Promise<void>): Promise<Round> {
  const { seconds, countMax = Number.POSITIVE_INFINITY } = extent;
  const latenciesMs: number[] = [];
  const began = performance.now();
  const cpuBefore = process.cpuUsage();
  const until = began + seconds * 1000;
  let started = 0;
  const worker = async (): Promise<void> => {
    while (started < countMax && performance.now() < until) {
      started++;
      const at = performance.now();
      await operation();
      latenciesMs.push(performance.now() - at);
    }
  };
  await Promise.all(Array.from({ length: inFlight }, worker));
  const elapsed = (performance.now() - began) / 1000;
  const cpu = process.cpuUsage(cpuBefore);
  return {
    count: latenciesMs.length,
    seconds: elapsed,
    latenciesMs: latenciesMs.toSorted((a, b) => a - b),
    cpuUs: (cpu.user + cpu.system) / latenciesMs.length,
  };
}

/** Things of which each is used by one operation at a time, the one that waited longest first. */
export class Turnstile<Item> {
  readonly #free: Item[];
  #first = 0;

  constructor(items: readonly Item[]) {
    this.#free = [...items];
  }

  /** There are more items than operations at once, so one is always free. */
  async use(action: (item: Item) => Promise<void>): Promise<void> {
    const item = this.#free[this.#first++] as Item;
    // The head of the list is cut off now and then, not moved for each item.
    if (this.#first > 1024) {
      this.#free.splice(0, this.#first);
      this.#first = 0;
    }
    await action(item);
    this.#free.push(item);
  }
}
