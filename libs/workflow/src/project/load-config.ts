import { join } from "node:path";
import { isCollection, type Node } from "yaml";
import { z } from "zod";
import { readTextFile } from "../read-text-file.ts";
import { unknownName } from "../yaml/problems.ts";
import { YamlReader } from "../yaml/yaml-reader.ts";
import { startOf } from "../yaml/yaml-source.ts";
import { type RuntimeConfig, RuntimeConfigSchema } from "./config-schema.ts";
import { exists } from "./find-project.ts";

export interface LoadedConfig {
  readonly config: RuntimeConfig;
  /** Keys that are not known and were left out, each with file, line and column. */
  readonly warnings: readonly string[];
}

const CONFIG_BYTES_MAX = 262_144;
const REASON = "CONFIG_VALIDATION";

/** Reads a project's `runtime.yaml`; defaults where there is none. Throws ForgeError, reason CONFIG_VALIDATION, with every wrong value's line and column. */
export async function loadConfig(root: string): Promise<LoadedConfig> {
  const path = join(root, "runtime.yaml");
  if (!(await exists(path))) return { config: RuntimeConfigSchema.parse({}), warnings: [] };
  return parseConfig(await readTextFile(path, { what: "configuration", bytesMax: CONFIG_BYTES_MAX, reason: REASON }), path);
}

/** Reads the text of a `runtime.yaml`. */
export function parseConfig(text: string, file: string): LoadedConfig {
  const reader = new YamlReader(text, file, REASON);
  reader.problems.throwIfAny();
  const value = reader.source.root === null ? {} : (reader.json(reader.source.root, "the configuration") ?? {});
  reader.problems.throwIfAny();
  const issues = RuntimeConfigSchema.safeParse(value).error?.issues ?? [];
  for (const issue of issues) {
    const at = startOf(nodeAt(reader.source.root, issue.path));
    if (issue.code !== "unrecognized_keys") {
      reader.problems.add(at, `${issue.path.join(".") || "the configuration"}: ${issue.message}`);
      continue;
    }
    for (const key of issue.keys) {
      reader.problems.warn(startOf(keyAt(nodeAt(reader.source.root, issue.path), key)), unknownName("key", key, knownKeys(issue.path)));
      delete (valueAt(value, issue.path) as Record<string, unknown>)[key];
    }
  }
  reader.problems.throwIfAny();
  return { config: RuntimeConfigSchema.parse(value), warnings: reader.problems.warnings };
}

type Path = readonly PropertyKey[];

/** The value at a path of a JSON value; the path comes from the value itself. */
function valueAt(value: unknown, path: Path): unknown {
  return path.reduce<unknown>((inner, key) => (inner as Record<PropertyKey, unknown>)[key], value);
}

/** The node at a path, or the last one on the way there. */
function nodeAt(root: Node | null, path: Path): Node | null {
  let node = root;
  for (const key of path) {
    const next: unknown = isCollection(node) ? node.get(key, true) : undefined;
    if (next === undefined || next === null) break;
    node = next as Node;
  }
  return node;
}

/** The node of a mapping's key. */
function keyAt(node: Node | null, name: string): Node | null {
  const pairs = isCollection(node) ? (node.items as { key?: Node & { value?: unknown } }[]) : [];
  return pairs.find(({ key }) => key?.value === name)?.key ?? node;
}

interface JsonSchema {
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  readonly additionalProperties?: JsonSchema | boolean;
  readonly items?: JsonSchema;
}

/** The keys that the schema knows at a path. */
function knownKeys(path: Path): string[] {
  let schema: JsonSchema | undefined = z.toJSONSchema(RuntimeConfigSchema, { io: "input" }) as JsonSchema;
  for (const key of path) {
    const others: JsonSchema | boolean | undefined = schema?.additionalProperties;
    schema = typeof key === "number" ? schema?.items : (schema?.properties?.[String(key)] ?? (typeof others === "object" ? others : undefined));
  }
  return Object.keys(schema?.properties ?? {});
}
