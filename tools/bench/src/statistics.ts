/** What one round of a workload measured. */
export interface Round {
  /** Operations that were acknowledged. */
  readonly count: number;
  readonly seconds: number;
  /** Of each operation, in milliseconds, in ascending order. */
  readonly latenciesMs: readonly number[];
  /** Processor time of the measuring process for each operation, in microseconds: it says more than the rate on a machine that is shared. */
  readonly cpuUs: number;
}

/** The value below which a share of an ascending list lies; NaN for an empty one. */
export function quantile(ascending: readonly number[], share: number): number {
  return ascending[Math.min(ascending.length - 1, Math.floor(ascending.length * share))] ?? Number.NaN;
}

export function median(values: readonly number[]): number {
  const ascending = values.toSorted((a, b) => a - b);
  const middle = ascending.length >> 1;
  if (ascending.length % 2 === 1) return ascending[middle] as number;
  return ((ascending[middle - 1] ?? Number.NaN) + (ascending[middle] ?? Number.NaN)) / 2;
}

/** Median, least and greatest over rounds. */
export interface Spread {
  readonly median: number;
  readonly min: number;
  readonly max: number;
}

export function spread(values: readonly number[]): Spread {
  return { median: median(values), min: Math.min(...values), max: Math.max(...values) };
}

export function ratePerSecond({ count, seconds }: Round): number {
  return count / seconds;
}
