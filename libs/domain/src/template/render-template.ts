import { evaluate, type Scope } from "../expression/evaluate.ts";
import { type Result, TextFailure, toResult } from "../expression/result.ts";
import { resolveStatePath } from "../state-path/state-path.ts";
import { parseTemplate, TEMPLATE_LENGTH_MAX, type TemplatePart } from "./template.ts";

/**
 * Renders a template over a scope: strings as they are, every other value as JSON. At most 256 Ki UTF-16 units come out. Never throws; an error, such as a
 * key that is missing, has the offset in the template.
 */
export function renderTemplate(text: string, scope: Scope): Result<string> {
  const parsed = parseTemplate(text);
  if (!parsed.ok) return parsed;
  return toResult(() => {
    let rendered = "";
    for (const part of parsed.value.parts) {
      rendered += renderPart(part, scope);
      if (rendered.length > TEMPLATE_LENGTH_MAX) {
        throw new TextFailure(`the text becomes longer than ${TEMPLATE_LENGTH_MAX} characters`, part.kind === "text" ? text.length : part.position);
      }
    }
    return rendered;
  });
}

function renderPart(part: TemplatePart, scope: Scope): string {
  if (part.kind === "text") return part.text;
  const value = part.kind === "path" ? pathValue(part.path, part.position, scope) : expressionValue(part, scope);
  return typeof value === "string" ? value : jsonText(value, part.position);
}

function jsonText(value: unknown, position: number): string {
  let text: string | undefined;
  try {
    text = JSON.stringify(value);
  } catch {
    // A cycle, a bigint or endless nesting: all mean the same to the person who wrote the template.
  }
  if (text === undefined) throw new TextFailure("not a JSON value", position);
  return text;
}

function pathValue(path: readonly string[], position: number, scope: Scope): unknown {
  const resolved = resolveStatePath(path, scope);
  if (resolved.found) return resolved.value;
  const before = path.slice(0, resolved.missing).join(".");
  throw new TextFailure(
    before === "" ? `unknown name \`${path[0]}\`` : `no key \`${path[resolved.missing]}\` in \`${before}\``,
    position + (before === "" ? 0 : before.length + 1),
  );
}

function expressionValue(part: Extract<TemplatePart, { kind: "expression" }>, scope: Scope): unknown {
  const result = evaluate(part.expression, scope);
  if (!result.ok) throw new TextFailure(result.error.message, part.position + result.error.position);
  return result.value;
}
