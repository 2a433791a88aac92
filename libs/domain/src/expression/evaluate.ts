import type { JsonValue } from "@bufbuild/protobuf";
import type { Comparison, Expression, ExpressionNode } from "./expression.ts";
import { callFunction } from "./functions.ts";
import { isReservedName, ownValue } from "./names.ts";
import { calculate, checkFinite, checkListLength, compare } from "./operators.ts";
import { type Result, toResult } from "./result.ts";
import { callMethod } from "./string-methods.ts";
import { codePointCount, unitOffset } from "./text-offsets.ts";
import { asInteger, asNumber, checkJson, isMapping, isTrue, typeName } from "./values.ts";
import { Work } from "./work.ts";

/** The names that an expression sees, each with a JSON value. */
export type Scope = Readonly<Record<string, unknown>>;

/**
 * Evaluates an expression over a scope. Only own data properties are read; a name, key or index that is missing is an error, never false. Never throws and
 * ends within a bounded number of steps; an error has the offset in the expression's text.
 */
export function evaluate(expression: Expression, scope: Scope): Result<JsonValue> {
  return toResult(() => valueOf(expression.root, scope, new Work()));
}

/** Like `evaluate`, with Python's truth of the value: what a branch's `when` asks. */
export function evaluateCondition(expression: Expression, scope: Scope): Result<boolean> {
  const result = evaluate(expression, scope);
  return result.ok ? { ok: true, value: isTrue(result.value) } : result;
}

function valueOf(node: ExpressionNode, scope: Scope, work: Work): JsonValue {
  work.position = node.position;
  work.spend(1);
  const of = (child: ExpressionNode): JsonValue => valueOf(child, scope, work);
  const allOf = (children: readonly ExpressionNode[]): JsonValue[] => children.map(of);
  // What comes after the operands points at the node again.
  const here = <T>(value: T): T => {
    work.position = node.position;
    return value;
  };
  switch (node.kind) {
    case "literal":
      return node.value;
    case "name": {
      const found = ownValue(scope, node.name);
      if (found === undefined) return work.fail(`unknown name \`${node.name}\``);
      return checkJson(found.value, `\`${node.name}\``, work);
    }
    case "list": {
      const items = here(allOf(node.items));
      checkListLength(items.length, work);
      return items;
    }
    case "attribute":
      return keyOf(here(of(node.object)), node.name, work);
    case "subscript":
      return itemOf(of(node.object), here(of(node.index)), work);
    case "function":
      return callFunction(node.name, here(allOf(node.operands)), work);
    case "method": {
      const text = of(node.object);
      const operands = here(allOf(node.operands));
      if (typeof text !== "string") return work.fail(`\`${node.name}\` needs a string before it, not ${typeName(text)}`);
      return callMethod(text, node.name, operands, work);
    }
    case "not":
      return !isTrue(of(node.operand));
    case "sign": {
      const value = here(of(node.operand));
      const number = asNumber(value);
      if (number === undefined) return work.fail(`\`${node.operator}\` needs a number, not ${typeName(value)}`);
      return checkFinite(node.operator === "-" ? -number : number, work);
    }
    case "logical":
      return logical(node.operator, node.operands, of);
    case "comparison":
      return chain(of(node.first), node.rest, of, work);
    case "arithmetic": {
      const left = of(node.left);
      return calculate(node.operator, left, here(of(node.right)), work);
    }
  }
}

/** The first operand that decides, or the last, as in Python. */
function logical(operator: "and" | "or", operands: readonly ExpressionNode[], of: (node: ExpressionNode) => JsonValue): JsonValue {
  let value: JsonValue = null;
  for (const operand of operands) {
    value = of(operand);
    if (isTrue(value) === (operator === "or")) break;
  }
  return value;
}

function chain(first: JsonValue, rest: readonly Comparison[], of: (node: ExpressionNode) => JsonValue, work: Work): boolean {
  let left = first;
  for (const { operator, operand, position } of rest) {
    const right = of(operand);
    work.position = position;
    if (!compare(operator, left, right, work)) return false;
    left = right;
  }
  return true;
}

function keyOf(value: JsonValue, key: string, work: Work): JsonValue {
  if (isReservedName(key)) return work.fail(`the name \`${key}\` is not allowed`);
  if (!isMapping(value)) return work.fail(`${typeName(value)} has no \`${key}\``);
  const found = ownValue(value, key);
  if (found === undefined) return work.fail(`no key \`${shorten(key)}\``);
  return checkJson(found.value, `\`${shorten(key)}\``, work);
}

function itemOf(value: JsonValue, index: JsonValue, work: Work): JsonValue {
  if (isMapping(value)) {
    if (typeof index !== "string") return work.fail(`a mapping's key must be a string, not ${typeName(index)}`);
    return keyOf(value, index, work);
  }
  if (!Array.isArray(value) && typeof value !== "string") return work.fail(`${typeName(value)} has no items`);
  const position = asInteger(index, "an index", work);
  if (typeof value === "string") work.spendText(value.length);
  const count = typeof value === "string" ? codePointCount(value) : value.length;
  const at = position < 0 ? count + position : position;
  if (at < 0 || at >= count) return work.fail(`no item ${position}; there are ${count}`);
  if (typeof value === "string") return String.fromCodePoint(value.codePointAt(unitOffset(value, at)) as number);
  return checkJson(ownValue(value, String(at))?.value, `item ${position}`, work);
}

function shorten(text: string): string {
  return text.length > 80 ? `${text.slice(0, 80)}…` : text;
}
