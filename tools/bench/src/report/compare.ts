import { median, spread } from "../statistics.ts";
import type { Row, Target, Unit } from "./row.ts";

/** What a value or a ratio must be. */
export interface Bound {
  readonly least?: number;
  readonly most?: number;
}

function targetOf({ least, most }: Bound, value: number, of: string): Target {
  if (least !== undefined) return { text: `at least ${least}${of}`, isMet: value >= least };
  return { text: `at most ${most ?? Number.NaN}${of}`, isMet: most !== undefined && value <= most };
}

/** One number of each round, which in the middle must be at least or at most something. */
export function valueRow(name: string, unit: Unit, values: readonly number[], bound?: Bound): Row {
  const value = spread(values);
  const suffix = unit === "ratio" ? "" : ` ${unit}`;
  return { name, unit, value, ...(bound !== undefined && { target: targetOf(bound, value.median, suffix) }) };
}

/** The same beside another's numbers of the same rounds: the ratio is taken within each round. */
export function comparedRow(
  name: string,
  unit: Unit,
  ours: readonly number[],
  theirs: { readonly name: string; readonly values: readonly number[] },
  bound?: Bound,
): Row {
  const ratio = median(ratiosOf(ours, theirs.values));
  return {
    ...valueRow(name, unit, ours),
    ratio: { value: ratio, to: theirs.name },
    ...(bound !== undefined && { target: targetOf(bound, ratio, ` of ${theirs.name}`) }),
  };
}

/** Ours to theirs within each round; a round that one of them lacks is left out. */
export function ratiosOf(ours: readonly number[], theirs: readonly number[]): number[] {
  return theirs.flatMap((value, index) => (ours[index] === undefined ? [] : [ours[index] / value]));
}
