import type { JsonValue } from "@bufbuild/protobuf";
import type { FunctionName } from "./expression.ts";
import { checkFinite, order } from "./operators.ts";
import { codePointCount } from "./text-offsets.ts";
import { asNumber, isMapping, typeName } from "./values.ts";
import type { Work } from "./work.ts";

/** How many arguments each function takes. */
export const FUNCTION_ARITY: ReadonlyMap<FunctionName, readonly [min: number, max: number]> = new Map([
  ["len", [1, 1]],
  ["abs", [1, 1]],
  ["min", [1, Number.POSITIVE_INFINITY]],
  ["max", [1, Number.POSITIVE_INFINITY]],
]);

/** Calls a function of the dialect. */
export function callFunction(name: FunctionName, values: readonly JsonValue[], work: Work): JsonValue {
  const first = values[0] as JsonValue;
  switch (name) {
    case "len":
      return lengthOf(first, work);
    case "abs": {
      const number = asNumber(first);
      if (number === undefined) work.fail(`abs needs a number, not ${typeName(first)}`);
      return checkFinite(Math.abs(number), work);
    }
    case "min":
      return extreme(name, values, (difference) => difference < 0, work);
    case "max":
      return extreme(name, values, (difference) => difference > 0, work);
  }
}

function lengthOf(value: JsonValue, work: Work): number {
  if (typeof value === "string") {
    work.spendText(value.length);
    return codePointCount(value);
  }
  if (Array.isArray(value)) return value.length;
  if (isMapping(value)) return Object.keys(value).length;
  return work.fail(`len needs a string, list or mapping, not ${typeName(value)}`);
}

function extreme(name: string, values: readonly JsonValue[], isBetter: (difference: number) => boolean, work: Work): JsonValue {
  const single = values.length === 1 ? (values[0] as JsonValue) : undefined;
  if (single !== undefined && !Array.isArray(single)) work.fail(`${name} of one value needs a list, not ${typeName(single)}`);
  const candidates = Array.isArray(single) ? single : values;
  if (candidates.length === 0) work.fail(`${name} of an empty list`);
  return candidates.reduce((best, value) => (isBetter(order(value, best, work)) ? value : best));
}
