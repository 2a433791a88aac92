import type { DialectParser, RawNode } from "./dialect-parser.ts";
import type { ArithmeticOperator, Comparison, ComparisonOperator, ExpressionNode, FunctionName, MethodName } from "./expression.ts";
import { FUNCTION_ARITY } from "./functions.ts";
import { EXPRESSION_DEPTH_MAX, EXPRESSION_NODES_MAX } from "./limits.ts";
import { isReservedName } from "./names.ts";
import { TextFailure } from "./result.ts";
import { METHOD_ARITY } from "./string-methods.ts";

const CONSTANTS: ReadonlyMap<string, boolean | null> = new Map([
  ["True", true],
  ["true", true],
  ["False", false],
  ["false", false],
  ["None", null],
  ["null", null],
]);

/** Escapes that jsep reads as Python does; others would silently become other text. */
const FOREIGN_ESCAPE = /\\[^nrtbfv\\'"]/su;

/** Turns jsep's tree into the typed one; every node that the dialect does not name is refused. Throws TextFailure. */
export function lower(root: RawNode, parser: DialectParser): ExpressionNode {
  let nodes = 0;

  function visit(raw: RawNode, depth: number): ExpressionNode {
    const position = parser.positions.get(raw) ?? 0;
    if (depth > EXPRESSION_DEPTH_MAX) throw new TextFailure(`nested deeper than ${EXPRESSION_DEPTH_MAX}`, position);
    if (++nodes > EXPRESSION_NODES_MAX) throw new TextFailure(`more than ${EXPRESSION_NODES_MAX} nodes`, position);
    const child = (node: unknown): ExpressionNode => visit(node as RawNode, depth + 1);
    const children = (list: unknown): ExpressionNode[] => (list as RawNode[]).map(child);
    switch (raw.type) {
      case "Literal":
        return literal(raw, position);
      case "Identifier":
        return name(raw["name"] as string, position);
      case "ArrayExpression":
        return { kind: "list", items: children(raw["elements"]), position };
      case "MemberExpression":
        return member(raw as MemberNode, child);
      case "CallExpression":
        return call(raw["callee"] as RawNode, children(raw["arguments"]), child);
      case "Not":
        return { kind: "not", operand: child(raw["operand"]), position };
      case "Sign":
        return { kind: "sign", operator: raw["operator"] as "-" | "+", operand: child(raw["operand"]), position };
      case "Logical":
        return { kind: "logical", operator: raw["operator"] as "and" | "or", operands: children(raw["operands"]), position };
      case "Comparisons":
        return { kind: "comparison", first: child(raw["first"]), rest: (raw["rest"] as RawNode[]).map((item) => comparison(item, child)), position };
      case "Arithmetic":
        return { kind: "arithmetic", operator: raw["operator"] as ArithmeticOperator, left: child(raw["left"]), right: child(raw["right"]), position };
      case "ThisExpression":
        throw new TextFailure("unknown name `this`", position);
      default:
        throw new TextFailure(`${raw.type} is not allowed`, position);
    }
  }

  function member(raw: MemberNode, child: (node: unknown) => ExpressionNode): ExpressionNode {
    const position = parser.positions.get(raw.property) ?? 0;
    if (raw["optional"] === true) throw new TextFailure("`?.` is not allowed; a missing key is an error", position);
    if (raw["computed"] === true) return { kind: "subscript", object: child(raw.object), index: child(raw.property), position };
    const key = raw.property["name"] as string;
    refuseHidden(key, position);
    return { kind: "attribute", object: child(raw.object), name: key, position };
  }

  function call(callee: RawNode, operands: ExpressionNode[], child: (node: unknown) => ExpressionNode): ExpressionNode {
    if (callee.type === "Identifier") {
      const position = parser.positions.get(callee) ?? 0;
      const called = callee["name"] as string;
      checkArity("function", called, FUNCTION_ARITY.get(called as FunctionName), operands.length, position);
      return { kind: "function", name: called as FunctionName, operands, position };
    }
    if (callee.type === "MemberExpression" && callee["computed"] !== true && callee["optional"] !== true) {
      const property = (callee as MemberNode).property;
      const position = parser.positions.get(property) ?? 0;
      const called = property["name"] as string;
      checkArity("string method", called, METHOD_ARITY.get(called as MethodName), operands.length, position);
      return { kind: "method", object: child(callee["object"]), name: called as MethodName, operands, position };
    }
    const at = callee.type === "MemberExpression" ? (callee as MemberNode).property : callee;
    throw new TextFailure("only len, min, max, abs and string methods can be called", parser.positions.get(at) ?? 0);
  }

  return visit(root, 1);
}

type MemberNode = RawNode & { object: RawNode; property: RawNode };

function comparison(raw: RawNode, child: (node: unknown) => ExpressionNode): Comparison {
  const operator = raw["operator"] as ComparisonOperator;
  const operand = child(raw["operand"]);
  if ((operator === "is" || operator === "is not") && !(operand.kind === "literal" && (operand.value === null || typeof operand.value === "boolean"))) {
    throw new TextFailure(`\`${operator}\` compares with None, True or False only; write \`==\``, operand.position);
  }
  return { operator, operand, position: operand.position };
}

function literal(raw: RawNode, position: number): ExpressionNode {
  const value = raw["value"];
  const source = raw["raw"] as string;
  if (typeof value === "string" && FOREIGN_ESCAPE.test(source.replaceAll("\\\\", ""))) {
    throw new TextFailure("unknown escape in a string; \\n \\r \\t \\b \\f \\v \\\\ \\' \\\" are known", position);
  }
  if (typeof value === "number" && (!Number.isFinite(value) || (/^\d+$/.test(source) && !Number.isSafeInteger(value)))) {
    throw new TextFailure("a number that JSON can't hold exactly", position);
  }
  if (typeof value === "number" && /^0\d/.test(source)) throw new TextFailure("a number with a leading zero", position);
  if (value === null || typeof value === "boolean" || typeof value === "number" || typeof value === "string") return { kind: "literal", value, position };
  throw new TextFailure("an unknown literal", position);
}

function name(text: string, position: number): ExpressionNode {
  const constant = CONSTANTS.get(text);
  if (constant !== undefined) return { kind: "literal", value: constant, position };
  refuseHidden(text, position);
  if (text.includes("$")) throw new TextFailure(`\`$\` is not allowed in the name \`${text}\``, position);
  return { kind: "name", name: text, position };
}

function refuseHidden(text: string, position: number): void {
  if (text.startsWith("_") || isReservedName(text)) throw new TextFailure(`the name \`${text}\` is not allowed`, position);
}

function checkArity(what: string, called: string, arity: readonly [min: number, max: number] | undefined, count: number, position: number): void {
  if (arity === undefined) throw new TextFailure(`unknown ${what} \`${called}\``, position);
  const [min, max] = arity;
  if (count >= min && count <= max) return;
  const expected = min === max ? `${min}` : max === Number.POSITIVE_INFINITY ? `at least ${min}` : `${min} to ${max}`;
  const isSingular = min === 1 && (max === 1 || max === Number.POSITIVE_INFINITY);
  throw new TextFailure(`\`${called}\` takes ${expected} argument${isSingular ? "" : "s"}, not ${count}`, position);
}
