import type { Spread } from "../statistics.ts";

export type Unit =
  | "/s"
  | "ms"
  | "s"
  | "commits"
  | "appends"
  | "ratio"
  | "µs"
  | "runs"
  | "steps"
  | "bytes"
  | "statements"
  | "rows"
  | "events"
  | "% of a core"
  | "times";

/** What must be reached, and whether it was. */
export interface Target {
  /** For example "at least 0.6". */
  readonly text: string;
  readonly isMet: boolean;
}

/** One line of the table: over the rounds, the middle one, the least and the greatest. */
export interface Row {
  readonly name: string;
  readonly unit: Unit;
  readonly value: Spread;
  /** Of what stands in `name`, to the row that it is compared with, middle of the rounds' own ratios. */
  readonly ratio?: { readonly value: number; readonly to: string };
  /** Absent: only reported. */
  readonly target?: Target;
}

/** Rows that belong together, and what makes their numbers what they are. */
export interface Section {
  readonly title: string;
  readonly note: string;
  readonly rows: readonly Row[];
}
