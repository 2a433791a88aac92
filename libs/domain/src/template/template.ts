import type { Expression } from "../expression/expression.ts";
import { parseExpression } from "../expression/parse.ts";
import { type Reference, references } from "../expression/references.ts";
import { type Result, TextFailure, toResult } from "../expression/result.ts";

/** A piece of a template: text as it is, a dotted path, or an expression; `position` is its offset in the template. */
export type TemplatePart =
  | { readonly kind: "text"; readonly text: string }
  | { readonly kind: "path"; readonly path: readonly string[]; readonly position: number }
  | { readonly kind: "expression"; readonly expression: Expression; readonly position: number };

/** A parsed template. */
export interface Template {
  readonly parts: readonly TemplatePart[];
}

/** UTF-16 units of a template, before and after rendering. */
export const TEMPLATE_LENGTH_MAX = 262_144;

/** Placeholders in one template. */
const PLACEHOLDERS_MAX = 1000;

/** A dotted path is taken as one even where a segment is an index or holds a hyphen; everything else in the braces is an expression. */
const DOTTED_PATH = /^\p{L}[\p{L}\p{N}_]*(?:\.[\p{L}\p{N}][\p{L}\p{N}_-]*)+$/u;

/** Whether a text has a placeholder at all. */
export function isTemplate(text: string): boolean {
  return text.includes("{{");
}

/** Parses a text with `{{ path }}` and `{{ expression }}`; a literal `{{` is written as `{{ "{{" }}`. Never throws; positions are offsets in the text. */
export function parseTemplate(text: string): Result<Template> {
  return toResult(() => {
    if (text.length > TEMPLATE_LENGTH_MAX) throw new TextFailure(`longer than ${TEMPLATE_LENGTH_MAX} characters`, 0);
    const parts: TemplatePart[] = [];
    let from = 0;
    let placeholders = 0;
    for (let open = text.indexOf("{{"); open >= 0; open = text.indexOf("{{", from)) {
      if (open > from) parts.push({ kind: "text", text: text.slice(from, open) });
      const close = closing(text, open);
      parts.push(placeholder(text, open + 2, close));
      if (++placeholders > PLACEHOLDERS_MAX) throw new TextFailure(`more than ${PLACEHOLDERS_MAX} placeholders`, open);
      from = close + 2;
    }
    if (from < text.length) parts.push({ kind: "text", text: text.slice(from) });
    return { parts };
  });
}

/** Something that a template reads, with offsets in the template; `exact` where a missing key is sure to fail. */
export interface TemplateReference {
  readonly reference: Reference;
  readonly exact: boolean;
}

/** What a template reads from its scope. */
export function templateReferences(template: Template): TemplateReference[] {
  return template.parts.flatMap((part): TemplateReference[] => {
    if (part.kind === "text") return [];
    if (part.kind === "path") return [{ reference: pathReference(part.path, part.position), exact: true }];
    const shift = (reference: Reference): Reference => reference.map(({ name, position }) => ({ name, position: position + part.position }));
    return references(part.expression).map((reference) => ({ reference: shift(reference), exact: false }));
  });
}

function pathReference(path: readonly string[], start: number): Reference {
  let position = start;
  return path.map((name) => {
    const segment = { name, position };
    position += name.length + 1;
    return segment;
  });
}

/** The offset of the `}}` that ends a placeholder; those inside a string literal do not. */
function closing(text: string, open: number): number {
  let quote = "";
  for (let index = open + 2; index < text.length; index++) {
    const character = text[index] as string;
    if (quote !== "") {
      if (character === "\\") index++;
      else if (character === quote) quote = "";
    } else if (character === '"' || character === "'") quote = character;
    else if (character === "}" && text[index + 1] === "}") return index;
  }
  throw new TextFailure("`{{` without `}}`", open);
}

function placeholder(text: string, start: number, end: number): TemplatePart {
  const inner = text.slice(start, end);
  const position = start + (inner.length - inner.trimStart().length);
  const trimmed = inner.trim();
  if (DOTTED_PATH.test(trimmed)) return { kind: "path", path: trimmed.split("."), position };
  const parsed = parseExpression(trimmed);
  if (!parsed.ok) throw new TextFailure(parsed.error.message, position + parsed.error.position);
  return { kind: "expression", expression: parsed.value, position };
}
