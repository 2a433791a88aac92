import { type Alias, type Document, isCollection, isScalar, LineCounter, type Node, parseDocument, type Scalar, visit, type YAMLError } from "yaml";

/** A line and a column, both from 1; columns count UTF-16 units. */
export interface Position {
  readonly line: number;
  readonly column: number;
}

/** Messages of the parser that say too little to someone who does not know YAML's grammar. */
const CLEARER: Readonly<Record<string, string>> = {
  TAB_AS_INDENT: "a tab in the indentation; YAML is indented with spaces only",
  MULTIPLE_DOCS: "a second document (`---`); expected one",
};

/** A YAML file: its text, its nodes, and where each of them stands. YAML 1.2 core: `no`, `on` and dates are texts, whatever a `%YAML` line says. */
export class YamlSource {
  readonly file: string;
  readonly text: string;
  readonly root: Node | null;
  readonly #document: Document.Parsed | undefined;
  readonly #lines = new LineCounter();
  readonly #tooDeep: boolean;
  #anchors: Map<string, Node[]> | undefined;

  constructor(text: string, file: string) {
    this.file = file;
    // A byte order mark is no part of the first line.
    this.text = text.startsWith("\uFEFF") ? text.slice(1) : text;
    this.#document = this.#parse();
    this.#tooDeep = this.#document === undefined;
    this.root = this.#document?.contents ?? null;
  }

  /** What the parser refused, or resolved to something else than was written. */
  syntaxErrors(): { readonly offset: number; readonly message: string }[] {
    if (this.#tooDeep) return [{ offset: 0, message: "nested too deeply" }];
    const issues: YAMLError[] = [...(this.#document?.errors ?? []), ...(this.#document?.warnings ?? [])];
    return issues.map(({ code, message, pos }) => ({ offset: pos[0], message: CLEARER[code] ?? message }));
  }

  position(offset: number): Position {
    const { line, col } = this.#lines.linePos(offset);
    return { line: Math.max(1, line), column: Math.max(1, col) };
  }

  /** What an alias stands for: the last node with that anchor before it. */
  anchored(alias: Alias): Node | undefined {
    this.#anchors ??= this.#collectAnchors();
    const before = (this.#anchors.get(alias.source) ?? []).filter((node) => startOf(node) < startOf(alias));
    return before.at(-1);
  }

  /** Where a position inside a scalar's text stands in the file; the scalar's start where that can't be told (escapes, folded lines). */
  offsetInScalar(node: Scalar, position: number): number {
    const start = startOf(node);
    const value = String(node.value);
    if (node.type === "PLAIN" && this.text.startsWith(value, start)) return start + position;
    if (node.type === "QUOTE_DOUBLE" || node.type === "QUOTE_SINGLE") return this.text.startsWith(value, start + 1) ? start + 1 + position : start;
    return node.type === "BLOCK_LITERAL" ? this.#offsetInBlock(start, node.range?.[1] ?? start, value, position) : start;
  }

  /** A block's lines are the file's lines after its header, without their common indentation. */
  #offsetInBlock(start: number, end: number, value: string, position: number): number {
    const before = value.slice(0, position);
    const row = before.split("\n").length - 1;
    const column = position - (before.lastIndexOf("\n") + 1);
    const wanted = value.split("\n")[row] ?? "";
    let lineStart = start;
    for (let skipped = 0; skipped <= row; skipped++) {
      const lineEnd = this.text.indexOf("\n", lineStart);
      if (lineEnd < 0 || lineEnd >= end) return start;
      lineStart = lineEnd + 1;
    }
    const indentation = this.text.slice(lineStart, end).indexOf(wanted);
    return indentation < 0 ? start : lineStart + indentation + column;
  }

  #parse(): Document.Parsed | undefined {
    try {
      // Duplicate keys are looked for while reading: the parser's own check takes the square of a mapping's size.
      return parseDocument(this.text, { lineCounter: this.#lines, schema: "core", version: "1.2", prettyErrors: false, uniqueKeys: false });
    } catch (error) {
      // The parser recurses; a text of a million brackets exhausts the stack.
      if (error instanceof RangeError) return undefined;
      throw error;
    }
  }

  #collectAnchors(): Map<string, Node[]> {
    const anchors = new Map<string, Node[]>();
    if (this.#document === undefined) return anchors;
    visit(this.#document, (_key, node) => {
      if ((!isScalar(node) && !isCollection(node)) || node.anchor === undefined) return;
      const nodes = anchors.get(node.anchor);
      if (nodes === undefined) anchors.set(node.anchor, [node]);
      else nodes.push(node);
    });
    return anchors;
  }
}

/** The offset at which a node begins. */
export function startOf(node: Node | null | undefined): number {
  return node?.range?.[0] ?? 0;
}
