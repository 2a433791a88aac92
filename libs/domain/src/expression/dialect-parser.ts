import jsep from "jsep";
import { EXPRESSION_DEPTH_MAX } from "./limits.ts";
import { TextFailure } from "./result.ts";

/** A node as jsep or this parser makes it. */
export type RawNode = jsep.Expression;

/** The class behind jsep, which its typings leave out; subclassing it keeps jsep's global operator tables as they are. */
interface JsepParser {
  index: number;
  readonly expr: string;
  readonly char: string;
  readonly code: number;
  gobbleSpaces(): void;
  gobbleExpression(): RawNode | false;
  gobbleBinaryExpression(): RawNode | false;
  gobbleToken(): RawNode | false;
  gobbleIdentifier(): RawNode;
  gobbleGroup(): RawNode | false;
  gobbleArguments(termination: number): RawNode[];
  throwError(message: string): never;
}

const Jsep = (jsep as unknown as { Jsep: new (text: string) => JsepParser }).Jsep;

const COMMA = 44;
const CLOSING_PARENTHESIS = 41;

// Each is tried where an operator may stand; words must end there.
const OR = /or\b/y;
const AND = /and\b/y;
const NOT = /not\b/y;
const COMPARISON = /==|!=|<=|>=|<(?!<)|>(?!>)|not\s+in\b|in\b|is\s+not\b|is\b/y;
const ADDITIVE = /[+-]/y;
const MULTIPLICATIVE = /\/\/|[/%]|\*(?!\*)/y;
const POWER = /\*\*/y;

/** What JavaScript writes and this dialect writes otherwise. */
const OTHER_DIALECT: ReadonlyArray<readonly [prefix: string, hint: string]> = [
  ["&&", "write `and`"],
  ["||", "write `or`"],
  ["===", "write `==`"],
  ["==", "an operand is missing before it"],
  ["=", "write `==` to compare; keyword arguments are not allowed"],
  ["!", "write `not`"],
  ["?", "conditional expressions are not allowed"],
  ["if", "conditional expressions are not allowed"],
  ["for", "comprehensions are not allowed"],
  [":", "slices, dictionaries and lambdas are not allowed"],
  ["{", "dictionaries and sets are not allowed; write a list"],
];

/**
 * jsep's tokens, names, literals, calls, attributes and subscripts under Python's operators and precedence:
 * or, and, not, comparisons (chained), + -, * / // %, signs, **. Throws TextFailure, or jsep's own error with an `index`.
 */
export class DialectParser extends Jsep {
  /** Where an error at a node points. */
  readonly positions = new WeakMap<RawNode, number>();
  #depth = 0;

  /** The whole text as one expression. */
  parseWhole(): RawNode {
    const node = this.gobbleExpression();
    if (node === false) this.unexpected();
    if (this.index < this.expr.length) this.unexpected();
    return node;
  }

  override gobbleExpression(): RawNode | false {
    return this.nested(() => {
      const node = this.gobbleBinaryExpression();
      this.gobbleSpaces();
      return node;
    });
  }

  override gobbleBinaryExpression(): RawNode | false {
    this.gobbleSpaces();
    if (this.index >= this.expr.length) return false;
    return this.logical("or", OR, () => this.logical("and", AND, () => this.negation()));
  }

  override gobbleIdentifier(): RawNode {
    const start = this.index;
    return this.at(start, super.gobbleIdentifier());
  }

  override gobbleToken(): RawNode | false {
    this.gobbleSpaces();
    const start = this.index;
    // jsep knows these signs; this dialect does not.
    if (this.char === "!" || this.char === "~") this.unexpected();
    const node = super.gobbleToken();
    if (node !== false && !this.positions.has(node)) this.positions.set(node, start);
    return node;
  }

  /** Parentheses: one expression, or a tuple, which counts as a list. */
  override gobbleGroup(): RawNode {
    const start = this.index;
    this.index++;
    const { items, commas } = this.items(CLOSING_PARENTHESIS);
    if (items.length === 1 && commas === 0) return items[0] as RawNode;
    return this.at(start, { type: "ArrayExpression", elements: items });
  }

  override gobbleArguments(termination: number): RawNode[] {
    return this.items(termination).items;
  }

  private items(termination: number): { items: RawNode[]; commas: number } {
    const items: RawNode[] = [];
    let commas = 0;
    for (;;) {
      this.gobbleSpaces();
      if (this.code === termination) {
        this.index++;
        return { items, commas };
      }
      if (items.length !== commas) this.unexpected();
      const item = this.gobbleExpression();
      if (item === false) this.unexpected();
      items.push(item);
      if (this.code === COMMA) {
        this.index++;
        commas++;
      }
    }
  }

  private logical(operator: "and" | "or", pattern: RegExp, operand: () => RawNode): RawNode {
    const operands = [operand()];
    const start = this.index;
    while (this.accept(pattern) !== undefined) operands.push(operand());
    return operands.length === 1 ? (operands[0] as RawNode) : this.at(start, { type: "Logical", operator, operands });
  }

  private negation(): RawNode {
    this.gobbleSpaces();
    const start = this.index;
    if (this.accept(NOT) === undefined) return this.comparison();
    return this.nested(() => this.at(start, { type: "Not", operand: this.negation() }));
  }

  private comparison(): RawNode {
    const first = this.additive();
    const rest: RawNode[] = [];
    for (;;) {
      this.gobbleSpaces();
      const start = this.index;
      const operator = this.accept(COMPARISON);
      if (operator === undefined) break;
      rest.push(this.at(start, { type: "Comparison", operator: operator.replace(/\s+/, " "), operand: this.additive() }));
    }
    return rest.length === 0 ? first : this.at(this.positions.get(rest[0] as RawNode) as number, { type: "Comparisons", first, rest });
  }

  private additive(): RawNode {
    return this.leftAssociative(ADDITIVE, () => this.leftAssociative(MULTIPLICATIVE, () => this.signed()));
  }

  private leftAssociative(pattern: RegExp, operand: () => RawNode): RawNode {
    let left = operand();
    for (;;) {
      this.gobbleSpaces();
      const start = this.index;
      const operator = this.accept(pattern);
      if (operator === undefined) return left;
      left = this.at(start, { type: "Arithmetic", operator, left, right: operand() });
    }
  }

  private signed(): RawNode {
    this.gobbleSpaces();
    const start = this.index;
    const operator = this.accept(ADDITIVE);
    if (operator === undefined) return this.power();
    return this.nested(() => this.at(start, { type: "Sign", operator, operand: this.signed() }));
  }

  private power(): RawNode {
    const left = this.gobbleToken();
    if (left === false) this.unexpected();
    this.gobbleSpaces();
    const start = this.index;
    if (this.accept(POWER) === undefined) return left;
    return this.nested(() => this.at(start, { type: "Arithmetic", operator: "**", left, right: this.signed() }));
  }

  private accept(pattern: RegExp): string | undefined {
    this.gobbleSpaces();
    pattern.lastIndex = this.index;
    const found = pattern.exec(this.expr)?.[0];
    if (found !== undefined) this.index += found.length;
    return found;
  }

  private at(position: number, node: RawNode): RawNode {
    this.positions.set(node, position);
    return node;
  }

  private nested<T>(work: () => T): T {
    if (++this.#depth > EXPRESSION_DEPTH_MAX) throw new TextFailure(`nested deeper than ${EXPRESSION_DEPTH_MAX}`, this.index);
    const result = work();
    this.#depth--;
    return result;
  }

  /** Fails at the next word or sign, with a hint where another language has it. */
  unexpected(): never {
    this.gobbleSpaces();
    if (this.index >= this.expr.length) throw new TextFailure("expected an expression, found the end", this.expr.length);
    const rest = this.expr.slice(this.index);
    const hint = OTHER_DIALECT.find(([prefix]) => rest.startsWith(prefix))?.[1];
    const word = /^[\p{L}\p{N}_]+|^./su.exec(rest)?.[0] ?? "";
    throw new TextFailure(`unexpected \`${word}\`${hint === undefined ? "" : `: ${hint}`}`, this.index);
  }
}
