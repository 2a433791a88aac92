import type { JsonValue } from "@bufbuild/protobuf";
import { compileJsonSchema, type SchemaProblem } from "@forge/domain";
import { isCollection, isMap, isScalar, type Node } from "yaml";
import { clip } from "../yaml/problems.ts";
import type { YamlReader } from "../yaml/yaml-reader.ts";
import { startOf } from "../yaml/yaml-source.ts";
import type { DefinitionSource } from "./definition-source.ts";

/** Of a step's schema. */
const SCHEMA_BYTES_MAX = 65_536;

/** Where the files are found that a schema may lie in. */
export type SchemaSource = Pick<DefinitionSource, "text">;

/** The `output_schema` of a step or an agent as JSON text: written out, or a JSON file of the project. Empty where something is wrong. */
export function readOutputSchema(reader: YamlReader, node: Node, source: SchemaSource, bytesMax = SCHEMA_BYTES_MAX): string {
  const resolved = reader.resolve(node);
  const text = isScalar(resolved) && typeof resolved.value === "string" ? fromFile(reader, node, resolved.value, source) : written(reader, node);
  const bytes = Buffer.byteLength(text);
  if (bytes <= bytesMax) return text;
  reader.problems.add(startOf(node), `output_schema has ${bytes} bytes of JSON; at most ${bytesMax} are allowed`);
  return "";
}

function written(reader: YamlReader, node: Node): string {
  const resolved = reader.resolve(node);
  if (!isMap(resolved) && !(isScalar(resolved) && typeof resolved.value === "boolean")) {
    reader.problems.add(startOf(node), "output_schema is no JSON Schema; expected a mapping, or a .json file of the project");
    return "";
  }
  const schema = reader.json(node, "output_schema");
  if (schema === undefined) return "";
  const problem = problemOf(schema);
  if (problem === undefined) return JSON.stringify(schema);
  const at = problem.path.length === 0 ? "" : ` at ${problem.path.join(".")}`;
  reader.problems.add(startOf(nodeAt(reader, node, problem.path)), `output_schema is no JSON Schema (2020-12)${at}: ${problem.message}`);
  return "";
}

function fromFile(reader: YamlReader, node: Node, path: string, source: SchemaSource): string {
  if (!path.endsWith(".json")) {
    reader.problems.add(startOf(node), `output_schema is the text \`${clip(path)}\`; expected a mapping, or a .json file of the project`);
    return "";
  }
  const file = source.text(path);
  if (file.kind === "pending") return "";
  if (file.kind === "missing") {
    reader.problems.add(startOf(node), `output_schema: ${file.message}`);
    return "";
  }
  const schema = parse(file.text);
  const problem = schema === undefined ? { path: [], message: "it is not valid JSON" } : problemOf(schema);
  if (problem === undefined) return JSON.stringify(schema);
  const at = problem.path.length === 0 ? "" : ` at ${problem.path.join(".")}`;
  reader.problems.add(startOf(node), `output_schema: ${clip(path)} is no JSON Schema (2020-12)${at}: ${problem.message}`);
  return "";
}

function parse(text: string): JsonValue | undefined {
  try {
    return JSON.parse(text.replace(/^\uFEFF/, "")) as JsonValue;
  } catch {
    // What is wrong with it is told by the caller, which knows the file.
    return undefined;
  }
}

function problemOf(schema: JsonValue): SchemaProblem | undefined {
  const compiled = compileJsonSchema(schema);
  return compiled.ok ? undefined : compiled.error;
}

/** The node at a path, or the last one on the way there. */
function nodeAt(reader: YamlReader, root: Node, path: readonly string[]): Node {
  let node = root;
  for (const key of path) {
    const holder = reader.resolve(node);
    const next: unknown = isCollection(holder) ? holder.get(isMap(holder) ? key : Number(key), true) : undefined;
    if (next === undefined || next === null) break;
    node = next as Node;
  }
  return node;
}
