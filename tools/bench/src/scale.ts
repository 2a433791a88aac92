/** How much is measured. */
export interface Scale {
  /** Times that each workload has its turn. */
  readonly rounds: number;
  /** Of a round under load. */
  readonly seconds: number;
  /** Repetitions of what is done one at a time, in a round. */
  readonly repetitions: number;
  readonly coldStarts: number;
}

/** Long enough for a checkpoint or two. */
export const FULL: Scale = { rounds: 9, seconds: 3, repetitions: 100, coldStarts: 5 };
/** Two minutes at most: says whether something has gone badly wrong. */
export const QUICK: Scale = { rounds: 3, seconds: 1.5, repetitions: 40, coldStarts: 1 };
