import type { InputSource } from "@forge/protocol/workflow";
import { isReservedName } from "../expression/names.ts";
import { parseStatePath } from "../state-path/state-path.ts";
import { parseTemplate } from "../template/template.ts";
import { invalidDefinition } from "./invalid-field.ts";
import { fitsInline, parseJson } from "./json.ts";
import { VALUE_BYTES_MAX } from "./limits.ts";
import { suggestion } from "./nearest.ts";

/** What a step may refer to. */
export interface Referable {
  readonly inputs: ReadonlySet<string>;
  readonly stepIds: ReadonlySet<string>;
  readonly modelOverride: string;
  /** How many workflows this one lies in. */
  readonly depth: number;
}

/** Checks where a value comes from; `names` are those of a list's item, which paths may begin with as well. Throws InvalidField. */
export function checkSource(field: string, { kind }: InputSource, known: Referable, names: readonly string[] = []): void {
  switch (kind.case) {
    case "literalJson": {
      const parsed = parseJson(kind.value);
      if (!parsed.ok) throw invalidDefinition(`${field}.literal_json`, `the literal is ${parsed.message}`);
      if (!fitsInline(kind.value)) throw invalidDefinition(`${field}.literal_json`, `a literal takes at most ${VALUE_BYTES_MAX} bytes`);
      return;
    }
    case "template":
      return checkTemplate(`${field}.template`, kind.value);
    case "path":
      return checkPath(`${field}.path`, kind.value, known, names);
    case undefined:
      throw invalidDefinition(field, "a value comes from a path, a literal or a template");
  }
}

/** Checks a text with {{ expression }}. Throws InvalidField. */
export function checkTemplate(field: string, text: string): void {
  const parsed = parseTemplate(text);
  if (!parsed.ok) throw invalidDefinition(field, `${parsed.error.message} (at character ${parsed.error.position + 1})`);
}

function checkPath(field: string, text: string, known: Referable, own: readonly string[]): void {
  if (isPathOf(text, own)) return;
  const path = parseStatePath(text);
  if (path === undefined) throw invalidDefinition(field, `"${text.slice(0, 200)}" is no path into the state: it begins with inputs. or steps.`);
  const [root, name] = path as [string, string];
  const names = root === "inputs" ? known.inputs : known.stepIds;
  if (names.has(name)) return;
  throw invalidDefinition(field, `"${text}" names no ${root === "inputs" ? "input" : "step"} of this workflow${suggestion(name, names)}`);
}

/** Whether a text is a path that begins with one of a few names, such as those of a list's item. */
export function isPathOf(text: string, names: readonly string[]): boolean {
  if (names.length === 0 || text.length > PATH_LENGTH_MAX) return false;
  const [root, ...rest] = text.split(".");
  return names.includes(root as string) && rest.every((segment) => SEGMENT.test(segment) && !isReservedName(segment));
}

const PATH_LENGTH_MAX = 1_024;
const SEGMENT = /^[^.\s{}]+$/;
