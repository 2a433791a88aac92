import { isReservedName, isTemplate, parseStatePath, parseTemplate } from "@forge/domain";
import { isScalar, type Node } from "yaml";
import type { YamlReader, YamlText } from "../yaml/yaml-reader.ts";
import { startOf } from "../yaml/yaml-source.ts";
import type { SourceDraft } from "./step-draft.ts";

const VALUE_BYTES_MAX = 65_536;
const OWN_PATH = /^[^.\s{}]+(?:\.[^.\s{}]+)*$/;
const PATH_LENGTH_MAX = 1024;

/**
 * Where a value comes from: a text that is a path into the state, or begins with one of `names`, is a path; a text with `{{` is a template; everything else is
 * what it is.
 */
export function readSource(reader: YamlReader, what: string, node: Node, names: readonly string[] = []): SourceDraft | undefined {
  const scalar = reader.resolve(node);
  if (!isScalar(scalar) || typeof scalar.value !== "string") return readLiteral(reader, what, node);
  const written = reader.text(node, what, VALUE_BYTES_MAX);
  if (written === undefined) return undefined;
  const isPath = parseStatePath(written.text) !== undefined || isOwnPath(written.text, names);
  if (isPath) return { source: { case: "path", value: written.text }, written, template: undefined };
  if (!isTemplate(written.text)) return readLiteral(reader, what, node);
  return readTemplate(reader, what, written);
}

/** A text with `{{ expression }}`. */
export function readTemplate(
  reader: YamlReader,
  what: string,
  written: YamlText,
): (SourceDraft & { readonly template: NonNullable<SourceDraft["template"]> }) | undefined {
  const template = parseTemplate(written.text);
  if (template.ok) return { source: { case: "template", value: written.text }, written, template: template.value };
  reader.problems.add(reader.source.offsetInScalar(written.node, template.error.position), `${what}: ${template.error.message}`);
  return undefined;
}

function readLiteral(reader: YamlReader, what: string, node: Node): SourceDraft | undefined {
  const value = reader.json(node, what);
  if (value === undefined) return undefined;
  const json = JSON.stringify(value);
  const bytes = Buffer.byteLength(json);
  if (bytes > VALUE_BYTES_MAX) reader.problems.add(startOf(node), `${what} has ${bytes} bytes of JSON; at most ${VALUE_BYTES_MAX} are allowed`);
  if (isTemplate(json)) reader.problems.warn(startOf(node), `${what}: \`{{\` inside a list or mapping stays as it is; only a text is a template`);
  return { source: { case: "literalJson", value: json }, written: undefined, template: undefined };
}

function isOwnPath(text: string, names: readonly string[]): boolean {
  if (names.length === 0 || text.length > PATH_LENGTH_MAX || !OWN_PATH.test(text)) return false;
  const segments = text.split(".");
  return names.includes(segments[0] as string) && !segments.some(isReservedName);
}
