/** Functions that an expression may call. */
export type FunctionName = "len" | "min" | "max" | "abs";

/** Methods of strings that an expression may call. */
export type MethodName = "lower" | "upper" | "strip" | "lstrip" | "rstrip" | "startswith" | "endswith" | "split" | "join" | "replace" | "find" | "count";

export type ComparisonOperator = "==" | "!=" | "<" | "<=" | ">" | ">=" | "in" | "not in" | "is" | "is not";

export type ArithmeticOperator = "+" | "-" | "*" | "/" | "//" | "%" | "**";

/** One comparison of a chain; `a < b < c` has two. */
export interface Comparison {
  readonly operator: ComparisonOperator;
  readonly operand: ExpressionNode;
  readonly position: number;
}

/** A node of the tree; `position` is the offset in the text, in UTF-16 units from 0, that an error at this node points at. */
export type ExpressionNode = { readonly position: number } & (
  | { readonly kind: "literal"; readonly value: null | boolean | number | string }
  | { readonly kind: "name"; readonly name: string }
  | { readonly kind: "list"; readonly items: readonly ExpressionNode[] }
  | { readonly kind: "attribute"; readonly object: ExpressionNode; readonly name: string }
  | { readonly kind: "subscript"; readonly object: ExpressionNode; readonly index: ExpressionNode }
  | { readonly kind: "function"; readonly name: FunctionName; readonly operands: readonly ExpressionNode[] }
  | { readonly kind: "method"; readonly object: ExpressionNode; readonly name: MethodName; readonly operands: readonly ExpressionNode[] }
  | { readonly kind: "not"; readonly operand: ExpressionNode }
  | { readonly kind: "sign"; readonly operator: "-" | "+"; readonly operand: ExpressionNode }
  | { readonly kind: "logical"; readonly operator: "and" | "or"; readonly operands: readonly ExpressionNode[] }
  | { readonly kind: "comparison"; readonly first: ExpressionNode; readonly rest: readonly Comparison[] }
  | { readonly kind: "arithmetic"; readonly operator: ArithmeticOperator; readonly left: ExpressionNode; readonly right: ExpressionNode }
);

/** A parsed expression: only what the dialect allows can be in it. */
export interface Expression {
  readonly text: string;
  readonly root: ExpressionNode;
}
