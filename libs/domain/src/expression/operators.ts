import type { JsonValue } from "@bufbuild/protobuf";
import type { ArithmeticOperator, ComparisonOperator } from "./expression.ts";
import { MADE_LIST_LENGTH_MAX, MADE_TEXT_LENGTH_MAX, VALUE_DEPTH_MAX } from "./limits.ts";
import { ownData } from "./names.ts";
import { asInteger, asNumber, checkJson, isMapping, typeName } from "./values.ts";
import type { Work } from "./work.ts";

/** Python's comparison of two values. */
export function compare(operator: ComparisonOperator, left: JsonValue, right: JsonValue, work: Work): boolean {
  switch (operator) {
    case "==":
      return isEqual(left, right, work);
    case "!=":
      return !isEqual(left, right, work);
    case "is":
      return left === right;
    case "is not":
      return left !== right;
    case "in":
      return contains(right, left, work);
    case "not in":
      return !contains(right, left, work);
    case "<":
      return order(left, right, work) < 0;
    case "<=":
      return order(left, right, work) <= 0;
    case ">":
      return order(left, right, work) > 0;
    case ">=":
      return order(left, right, work) >= 0;
  }
}

/** Deep equality; a boolean equals 0 or 1, as in Python. */
function isEqual(left: JsonValue, right: JsonValue, work: Work, depth = 0): boolean {
  if (depth > VALUE_DEPTH_MAX) work.fail(`values nested deeper than ${VALUE_DEPTH_MAX} can't be compared`);
  work.spend(1);
  const [leftNumber, rightNumber] = [asNumber(left), asNumber(right)];
  if (leftNumber !== undefined || rightNumber !== undefined) return leftNumber === rightNumber;
  if (typeof left === "string" && typeof right === "string") {
    work.spendText(Math.min(left.length, right.length));
    return left === right;
  }
  if (Array.isArray(left) && Array.isArray(right)) {
    return left.length === right.length && left.every((item, index) => isEqual(item, right[index] as JsonValue, work, depth + 1));
  }
  if (isMapping(left) && isMapping(right)) {
    const keys = Object.keys(left);
    work.spend(keys.length);
    if (keys.length !== Object.keys(right).length) return false;
    return keys.every((key) => {
      const [mine, theirs] = [ownData(left, key), ownData(right, key)];
      if (mine === undefined || theirs === undefined) return false;
      return isEqual(checkJson(mine.value, `\`${key}\``, work), checkJson(theirs.value, `\`${key}\``, work), work, depth + 1);
    });
  }
  return left === right;
}

/** Negative, zero or positive; numbers by size, strings by code point, lists item by item. Fails for everything else. */
export function order(left: JsonValue, right: JsonValue, work: Work, depth = 0): number {
  if (depth > VALUE_DEPTH_MAX) work.fail(`values nested deeper than ${VALUE_DEPTH_MAX} can't be compared`);
  work.spend(1);
  const [leftNumber, rightNumber] = [asNumber(left), asNumber(right)];
  if (leftNumber !== undefined && rightNumber !== undefined) return leftNumber - rightNumber;
  if (typeof left === "string" && typeof right === "string") {
    work.spendText(Math.min(left.length, right.length));
    return orderTexts(left, right);
  }
  if (Array.isArray(left) && Array.isArray(right)) {
    const length = Math.min(left.length, right.length);
    for (let index = 0; index < length; index++) {
      const [mine, theirs] = [left[index] as JsonValue, right[index] as JsonValue];
      if (!isEqual(mine, theirs, work, depth + 1)) return order(mine, theirs, work, depth + 1);
    }
    return left.length - right.length;
  }
  return work.fail(`can't order ${typeName(left)} and ${typeName(right)}`);
}

/** By code points: UTF-16 would put U+FFFF behind U+10000. */
function orderTexts(left: string, right: string): number {
  if (left === right) return 0;
  const length = Math.min(left.length, right.length);
  let index = 0;
  while (index < length && left.charCodeAt(index) === right.charCodeAt(index)) index++;
  if (index === length) return left.length - right.length;
  const [mine, theirs] = [left.charCodeAt(index), right.charCodeAt(index)];
  const isSurrogate = (unit: number): boolean => unit >= 0xd800 && unit <= 0xdfff;
  if (isSurrogate(mine) !== isSurrogate(theirs)) return isSurrogate(mine) ? 1 : -1;
  return mine - theirs;
}

function contains(container: JsonValue, item: JsonValue, work: Work): boolean {
  if (typeof container === "string") {
    if (typeof item !== "string") work.fail(`\`in\` a string needs a string, not ${typeName(item)}`);
    work.spendSearch(container, item);
    return container.includes(item);
  }
  if (Array.isArray(container)) return container.some((entry) => isEqual(entry, item, work));
  if (isMapping(container)) return typeof item === "string" && ownData(container, item) !== undefined;
  return work.fail(`\`in\` needs a string, list or mapping, not ${typeName(container)}`);
}

/** Python's arithmetic over JSON numbers; strings and lists can be joined and repeated. */
export function calculate(operator: ArithmeticOperator, left: JsonValue, right: JsonValue, work: Work): JsonValue {
  const [a, b] = [asNumber(left), asNumber(right)];
  if (a !== undefined && b !== undefined) return checkFinite(calculateNumbers(operator, a, b, work), work);
  if (operator === "+" && typeof left === "string" && typeof right === "string") {
    checkTextLength(left.length + right.length, work);
    return left + right;
  }
  if (operator === "+" && Array.isArray(left) && Array.isArray(right)) {
    checkListLength(left.length + right.length, work);
    return [...left, ...right];
  }
  if (operator === "*" && b !== undefined) return repeat(left, right, work);
  if (operator === "*" && a !== undefined) return repeat(right, left, work);
  return work.fail(`can't calculate ${typeName(left)} ${operator} ${typeName(right)}`);
}

function repeat(value: JsonValue, times: JsonValue, work: Work): JsonValue {
  if (typeof value !== "string" && !Array.isArray(value)) work.fail(`can't repeat ${typeName(value)}`);
  const count = Math.max(0, asInteger(times, "the number of repetitions", work));
  if (typeof value === "string") {
    checkTextLength(value.length * count, work);
    return value.repeat(count);
  }
  checkListLength(value.length * count, work);
  // An empty list stays empty however often; its count has no bound.
  return value.length === 0 ? [] : Array.from({ length: count }, () => value).flat();
}

function calculateNumbers(operator: ArithmeticOperator, a: number, b: number, work: Work): number {
  if (b === 0 && (operator === "/" || operator === "//" || operator === "%")) work.fail("division by zero");
  switch (operator) {
    case "+":
      return a + b;
    case "-":
      return a - b;
    case "*":
      return a * b;
    case "/":
      return a / b;
    case "//":
      return Math.floor(a / b);
    case "%": {
      // The result has the divisor's sign.
      const remainder = a % b;
      return remainder !== 0 && remainder < 0 !== b < 0 ? remainder + b : remainder;
    }
    case "**":
      return a ** b;
  }
}

/** A number that JSON can hold, never -0; else fails. */
export function checkFinite(value: number, work: Work): number {
  if (!Number.isFinite(value)) work.fail("the result is not a finite number");
  return value === 0 ? 0 : value;
}

/** Fails when a text about to be made would be too long. */
export function checkTextLength(length: number, work: Work): void {
  if (length > MADE_TEXT_LENGTH_MAX) work.fail(`the result is longer than ${MADE_TEXT_LENGTH_MAX} characters`);
  work.spendText(length);
}

/** Fails when a list about to be made, by `added` items, would be too long. */
export function checkListLength(length: number, work: Work, added = length): void {
  if (length > MADE_LIST_LENGTH_MAX) work.fail(`the result has more than ${MADE_LIST_LENGTH_MAX} items`);
  work.spend(added);
}
