import { type Argument, type Expression, type MemberExpression, parseSync, Visitor } from "oxc-parser";

/** A `new URL("./x", import.meta.url)` in a module. */
export interface ModuleUrl {
  /** The relative path as it is written. */
  readonly path: string;
  /** Where the string literal with its quotes begins and ends in the text. */
  readonly start: number;
  readonly end: number;
}

function isMetaProperty(node: Argument | Expression | MemberExpression | undefined, ...names: string[]): boolean {
  return node?.type === "MemberExpression" && node.object.type === "MetaProperty" && node.property.type === "Identifier" && names.includes(node.property.name);
}

/**
 * The files beside a module that it finds at run time: migrations, and the scripts of child processes and threads. A bundle moves modules, so these have to be
 * known. Throws where a module finds them in a way that a bundle would silently break: a path that is no literal, `import.meta.dirname`, `import.meta.filename`.
 */
export function moduleUrls(id: string, text: string): ModuleUrl[] {
  const found: ModuleUrl[] = [];
  let isHidden = false;
  const visitor = new Visitor({
    MemberExpression(node) {
      if (isMetaProperty(node, "dirname", "filename")) isHidden = true;
    },
    NewExpression({ callee, arguments: [path, base] }) {
      if (callee.type !== "Identifier" || callee.name !== "URL" || !isMetaProperty(base, "url")) return;
      if (path?.type !== "Literal" || typeof path.value !== "string") isHidden = true;
      else if (path.value.startsWith(".")) found.push({ path: path.value, start: path.start, end: path.end });
    },
  });
  visitor.visit(parseSync(id, text).program);
  if (isHidden) throw new Error(`${id}: write new URL("./path", import.meta.url) with a literal path, so that the build can see which file is meant`);
  return found.toSorted((a, b) => a.start - b.start);
}
