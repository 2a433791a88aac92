/** Who holds a concurrency key, and who waits for it. */
export interface ConcurrencyState {
  /** Empty until the first run asked for it. */
  readonly key: string;
  /** How many runs may hold it at a time. */
  readonly limit: number;
  /** Ids of the runs that hold it, in the order in which they got it. */
  readonly holders: readonly string[];
  /** Those that wait, in the order in which they get it. At most WAITING_MAX. */
  readonly waiting: readonly Waiting[];
}

export interface Waiting {
  readonly runId: string;
  readonly priority: number;
}

/** More runs than this behind one key are a mistake rather than a queue; it keeps the state within a megabyte. */
export const WAITING_MAX = 10_000;

export function initialConcurrencyState(): ConcurrencyState {
  return { key: "", limit: 1, holders: [], waiting: [] };
}
