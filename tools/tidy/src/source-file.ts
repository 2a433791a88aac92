import { type Node, parseSync, visitorKeys } from "oxc-parser";

/** One mention of another module: import, export-from, dynamic import with a literal, or a type's `import("...")`. */
export interface Import {
  readonly specifier: string;
  /** From 1. */
  readonly line: number;
  /** `export * from` without a name of its own. */
  readonly wildcard: boolean;
}

/** A parsed TypeScript file of the repository. */
export interface SourceFile {
  /** From the repository's root, with forward slashes. */
  readonly path: string;
  readonly lineCount: number;
  readonly imports: readonly Import[];
  /** Calls `visit` for every node with its parent, in source order. */
  walk(visit: (node: Node, parent: Node | undefined, line: number) => void): void;
}

function isNode(value: unknown): value is Node {
  return typeof value === "object" && value !== null && "type" in value && typeof value.type === "string";
}

function children(node: Node): Node[] {
  const fields: Readonly<Record<string, unknown>> = { ...node };
  return (visitorKeys[node.type] ?? []).flatMap((key) => fields[key]).filter(isNode);
}

function specifierOf(node: Node): string | undefined {
  switch (node.type) {
    case "ImportDeclaration":
    case "ExportAllDeclaration":
      return node.source.value;
    case "ExportNamedDeclaration":
      return node.source?.value;
    case "ImportExpression":
    case "TSImportType":
      return node.source.type === "Literal" && typeof node.source.value === "string" ? node.source.value : undefined;
    default:
      return undefined;
  }
}

/** Parses a file. Throws when it is not valid TypeScript: what can't be read can't be checked. */
export function parseSource(path: string, text: string): SourceFile {
  const parsed = parseSync(path, text, { lang: "ts", sourceType: "module" });
  const [error] = parsed.errors;
  if (error !== undefined) throw new Error(`${path} can't be parsed: ${error.message}`);
  const lineStarts = [0, ...Array.from(text.matchAll(/\n/g), (match) => match.index + 1)];

  function lineAt(offset: number): number {
    let low = 0;
    let high = lineStarts.length - 1;
    while (low < high) {
      const middle = Math.ceil((low + high) / 2);
      if ((lineStarts[middle] ?? 0) <= offset) low = middle;
      else high = middle - 1;
    }
    return low + 1;
  }

  function walk(visit: (node: Node, parent: Node | undefined, line: number) => void): void {
    // A stack instead of recursion, so that the depth of an expression is no limit.
    const stack: [Node, Node | undefined][] = [[parsed.program, undefined]];
    for (let next = stack.pop(); next !== undefined; next = stack.pop()) {
      const [node, parent] = next;
      visit(node, parent, lineAt(node.start));
      for (const child of children(node).toReversed()) stack.push([child, node]);
    }
  }

  const imports: Import[] = [];
  walk((node, _parent, line) => {
    const specifier = specifierOf(node);
    if (specifier !== undefined) imports.push({ specifier, line, wildcard: node.type === "ExportAllDeclaration" && node.exported === null });
  });
  return { path, lineCount: text.endsWith("\n") ? lineStarts.length - 1 : lineStarts.length, imports, walk };
}
