import type { FunctionNames } from "./function-names.ts";

const FUNCTION = /\bexport\s+(?:async\s+)?function\s*\*?\s*([A-Za-z_$][\w$]*)/g;
const VARIABLES = /\bexport\s+(?:const|let|var)\s+([^\n]*)/g;
const VARIABLE = /(?:^|,\s*)([A-Za-z_$][\w$]*)\s*(?=[=:])/g;
const LIST = /\bexport\s*\{([^}]*)\}/g;
/** Passes on another file's, takes values apart, or is made of CommonJS. */
const OPEN = /\bexport\s*\*|\bexport\s+(?:const|let|var)\s*[{[]|\bexports\b/;

/** What a module exports, as far as its text shows; a comment may show too much, and nothing that is there is left out without `isOpen`. */
export function javascriptNames(text: string): FunctionNames {
  const names = new Set<string>();
  for (const [, name = ""] of text.matchAll(FUNCTION)) names.add(name);
  for (const [, line = ""] of text.matchAll(VARIABLES)) for (const [, name = ""] of line.matchAll(VARIABLE)) names.add(name);
  for (const [, list = ""] of text.matchAll(LIST)) {
    for (const item of list.split(",")) {
      const name = item
        .trim()
        .split(/\s+as\s+/)
        .at(-1);
      if (name !== undefined && name !== "") names.add(name.replace(/^type\s+/, ""));
    }
  }
  return { names: Array.from(names).filter((name) => name !== "default" && !name.startsWith("_")), isOpen: OPEN.test(text) };
}
