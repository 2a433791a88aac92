import type { FunctionNames } from "./function-names.ts";

const HEAD = /^(?:if|elif|else|try|except|finally|with)\b.*:\s*$/;
const DEFINITION = /^(?:async\s+)?def\s+([A-Za-z_]\w*)/;
const ASSIGNMENT = /^([A-Za-z_]\w*)\s*(?::[^=]+)?=(?!=)/;
const IMPORT = /^from\s+\S+\s+import\s+(.*)$/;
/** A star, or names that are made while the module is imported. */
const OPEN = /^from\s+\S+\s+import\s*\(?\s*\*|^def\s+__getattr__\b|\b(?:globals|exec|setattr)\s*\(/;

/** What a module of Python binds at its top level, as far as its text shows. */
export function pythonNames(text: string): FunctionNames {
  const names = new Set<string>();
  let isOpen = false;
  // Indentations of the blocks around a line that belong to the top level, as those of `if` and `try` do; a deeper line is somebody's body.
  const blocks = [0];
  let mayOpen = false;
  for (const { indent, code } of logicalLines(text)) {
    while (indent < (blocks.at(-1) as number)) blocks.pop();
    if (indent > (blocks.at(-1) as number)) {
      if (!mayOpen) continue;
      blocks.push(indent);
    }
    mayOpen = HEAD.test(code);
    isOpen ||= OPEN.test(code);
    const name = DEFINITION.exec(code)?.[1] ?? ASSIGNMENT.exec(code)?.[1];
    if (name !== undefined) names.add(name);
    for (const imported of IMPORT.exec(code)?.[1]?.replaceAll(/[()]/g, "").split(",") ?? []) {
      const bound = imported
        .trim()
        .split(/\s+as\s+/)
        .at(-1);
      if (bound !== undefined && /^\w+$/.test(bound)) names.add(bound);
    }
  }
  return { names: Array.from(names).filter((name) => !name.startsWith("_")), isOpen };
}

interface Line {
  /** Columns; a tab goes to the next eighth. */
  readonly indent: number;
  readonly code: string;
}

const TOKEN =
  /("""|''')(?:\\[\s\S]|(?!\1)[\s\S])*(?:\1|$)|(["'])(?:\\[\s\S]|(?!\2)[^\\\n])*(?:\2|$|(?=\n))|#[^\n]*|\\\r?\n|[([{]|[)\]}]|\r?\n|[^"'#\\()[\]{}\r\n]+|[\s\S]/g;

/** The lines as Python counts them: strings emptied, comments gone, what stands in brackets on one line. */
function* logicalLines(text: string): Generator<Line> {
  let code = "";
  let depth = 0;
  for (const [token] of text.replace(/^\uFEFF/, "").matchAll(TOKEN)) {
    const first = token.charAt(0);
    if (first === '"' || first === "'") code += '""';
    else if (first === "#") continue;
    else if (token === "\n" || token === "\r\n") {
      if (depth > 0) code += " ";
      else {
        yield* lineOf(code);
        code = "";
      }
    } else if (first === "\\") code += " ";
    else {
      if ("([{".includes(token)) depth++;
      if (")]}".includes(token)) depth = Math.max(0, depth - 1);
      code += token;
    }
  }
  yield* lineOf(code);
}

function* lineOf(code: string): Generator<Line> {
  const trimmed = code.trim();
  if (trimmed === "") return;
  let indent = 0;
  for (const character of code) {
    if (character === " ") indent++;
    else if (character === "\t") indent += 8 - (indent % 8);
    else break;
  }
  yield { indent, code: trimmed };
}
