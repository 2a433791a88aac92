import type { Expression, ExpressionNode } from "./expression.ts";

/** A name with the keys that are read from it, as far as they stand in the text: `state.steps["a"].b[0]` is state, steps, a, b. */
export type Reference = readonly ReferenceSegment[];

/** A name or key, and the offset at which it stands. */
export interface ReferenceSegment {
  readonly name: string;
  readonly position: number;
}

/** Everything that an expression reads from its scope, so that names can be checked before anything runs. */
export function references(expression: Expression): Reference[] {
  const found: Reference[] = [];
  collect(expression.root, found);
  return found;
}

function collect(node: ExpressionNode, found: Reference[]): void {
  switch (node.kind) {
    case "literal":
      return;
    case "name":
      found.push([{ name: node.name, position: node.position }]);
      return;
    case "attribute":
    case "subscript": {
      const path = staticPath(node);
      if (path === undefined) collect(node.object, found);
      else found.push(path);
      if (node.kind === "subscript") collect(node.index, found);
      return;
    }
    case "list":
    case "logical":
    case "function":
    case "method": {
      if (node.kind === "method") collect(node.object, found);
      for (const child of node.kind === "list" ? node.items : node.operands) collect(child, found);
      return;
    }
    case "not":
    case "sign":
      collect(node.operand, found);
      return;
    case "comparison":
      collect(node.first, found);
      for (const { operand } of node.rest) collect(operand, found);
      return;
    case "arithmetic":
      collect(node.left, found);
      collect(node.right, found);
      return;
  }
}

/** The keys from the name on, up to the first one that is only known when it is evaluated; undefined when there is no name at the bottom. */
function staticPath(node: ExpressionNode): Reference | undefined {
  if (node.kind === "name") return [{ name: node.name, position: node.position }];
  if (node.kind === "attribute") return extend(node.object, node.name, node.position);
  if (node.kind === "subscript" && node.index.kind === "literal" && typeof node.index.value === "string")
    return extend(node.object, node.index.value, node.position);
  return undefined;
}

function extend(object: ExpressionNode, name: string, position: number): Reference | undefined {
  const path = staticPath(object);
  return path === undefined ? undefined : [...path, { name, position }];
}
