import { isBuiltin } from "node:module";
import type { Node } from "oxc-parser";
import { isTest, type Repository, type Violation } from "../repository.ts";

/** Globals that bring a clock, randomness, waiting or the outside world. */
const IMPURE_GLOBALS: ReadonlySet<string> = new Set([
  "Date",
  "performance",
  "Temporal",
  "crypto",
  "Promise",
  "setTimeout",
  "setInterval",
  "setImmediate",
  "queueMicrotask",
  "fetch",
  "process",
  "console",
  "globalThis",
  "require",
]);

/** An identifier that stands for a value, not for a property's or a type's name. */
function isValue(node: Node, parent: Node | undefined): boolean {
  switch (parent?.type) {
    case "MemberExpression":
      return parent.object === node || parent.computed;
    case "Property":
      return parent.value === node || parent.computed;
    case "PropertyDefinition":
    case "MethodDefinition":
      return parent.key !== node || parent.computed;
    case "TSTypeReference":
    case "TSQualifiedName":
    case "TSPropertySignature":
    case "TSMethodSignature":
      return false;
    default:
      return true;
  }
}

function impurity(node: Node, parent: Node | undefined): string | undefined {
  switch (node.type) {
    case "FunctionDeclaration":
    case "FunctionExpression":
    case "ArrowFunctionExpression":
      return node.async ? "an async function" : undefined;
    case "AwaitExpression":
      return "await";
    case "ForOfStatement":
      return node.await ? "for await" : undefined;
    case "ImportExpression":
      return "a dynamic import";
    case "MemberExpression":
      return node.object.type === "Identifier" && node.object.name === "Math" && node.property.type === "Identifier" && node.property.name === "random"
        ? "Math.random"
        : undefined;
    case "Identifier":
      return IMPURE_GLOBALS.has(node.name) && isValue(node, parent) ? node.name : undefined;
    default:
      return undefined;
  }
}

/** The domain decides and folds; time, randomness and everything outside come in as arguments. Its tests are free. */
export function domainPurity(repository: Repository): Violation[] {
  const violations: Violation[] = [];
  for (const file of repository.files) {
    if (!file.path.startsWith("libs/domain/src/") || isTest(file.path)) continue;
    for (const { specifier, line } of file.imports) {
      if (isBuiltin(specifier)) violations.push({ path: file.path, line, message: `the domain is pure and may not import ${specifier}` });
    }
    file.walk((node, parent, line) => {
      const what = impurity(node, parent);
      if (what !== undefined) violations.push({ path: file.path, line, message: `the domain is pure and may not use ${what}` });
    });
  }
  return violations;
}
