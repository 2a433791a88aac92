import type { JsonValue } from "@bufbuild/protobuf";
import { isCollection, type Node } from "yaml";
import { z } from "zod";
import { unknownName } from "../yaml/problems.ts";
import { YamlReader } from "../yaml/yaml-reader.ts";
import { startOf } from "../yaml/yaml-source.ts";
import { RuntimeConfigSchema } from "./config-schema.ts";

export const CONFIG_REASON = "CONFIG_VALIDATION";

/** Where a field is written. */
export interface ConfigPlace {
  /** As it was named when it was read. */
  readonly file: string;
  readonly line: number;
  readonly column: number;
}

/** One file of configuration, checked: what it says, and where. */
export interface ConfigFile {
  /** A mapping, without the keys that are not known, and with the variables of the environment in place of `${NAME}`. */
  readonly value: { [key: string]: JsonValue };
  readonly warnings: readonly string[];
  /** Where the field with a dotted path is written; undefined where it is not. */
  readonly placeOf: (field: string) => ConfigPlace | undefined;
}

export type Environment = Readonly<Record<string, string | undefined>>;

/** Reads and checks the text of one file. Throws ForgeError, reason CONFIG_VALIDATION, with every wrong value's line and column. */
export function readConfigFile(text: string, file: string, environment: Environment): ConfigFile {
  const reader = new YamlReader(text, file, CONFIG_REASON);
  reader.problems.throwIfAny();
  const read = reader.source.root === null ? {} : (reader.json(reader.source.root, "the configuration") ?? {});
  reader.problems.throwIfAny();
  const value = withVariables(read, environment);
  const { root } = reader.source;
  const issues = RuntimeConfigSchema.safeParse(value).error?.issues ?? [];
  for (const issue of issues) {
    const offset = startOf(nodeAt(root, issue.path));
    if (issue.code !== "unrecognized_keys") {
      reader.problems.add(offset, `${issue.path.join(".") || "the configuration"}: ${issue.message}`);
      continue;
    }
    for (const key of issue.keys) {
      reader.problems.warn(startOf(keyAt(nodeAt(root, issue.path), key)), unknownName("key", key, knownKeys(issue.path)));
      delete (valueAt(value, issue.path) as Record<string, unknown>)[key];
    }
  }
  reader.problems.throwIfAny();
  return {
    value: value as { [key: string]: JsonValue },
    warnings: reader.problems.warnings,
    placeOf: (field) => {
      const keys = field.split(".");
      const last = keys.pop() as string;
      const parent = nodeAt(root, keys, true);
      const key = parent === undefined ? undefined : keyAt(parent, last, true);
      return key === undefined ? undefined : { file, ...reader.source.position(startOf(key)) };
    },
  };
}

const VARIABLE = /\$\{([A-Za-z_][A-Za-z0-9_]*)\}/g;

/** `${NAME}` in a text is the variable's value; where there is none it stays. */
function withVariables(value: JsonValue, environment: Environment): JsonValue {
  if (typeof value === "string") return value.replaceAll(VARIABLE, (whole, name: string) => environment[name] ?? whole);
  if (Array.isArray(value)) return value.map((each) => withVariables(each, environment));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, withVariables(each, environment)]));
}

type Path = readonly PropertyKey[];

/** The value at a path of a JSON value; the path comes from the value itself. */
function valueAt(value: unknown, path: Path): unknown {
  return path.reduce<unknown>((inner, key) => (inner as Record<PropertyKey, unknown>)[key], value);
}

/** The node at a path, or the last one on the way there; undefined instead where the whole way is asked for. */
function nodeAt(root: Node | null, path: Path): Node | null;
function nodeAt(root: Node | null, path: Path, isWhole: true): Node | null | undefined;
function nodeAt(root: Node | null, path: Path, isWhole = false): Node | null | undefined {
  let node = root;
  for (const key of path) {
    const next: unknown = isCollection(node) ? node.get(key, true) : undefined;
    if (next === undefined || next === null) return isWhole ? undefined : node;
    node = next as Node;
  }
  return node;
}

/** The node of a mapping's key; where there is none the mapping, or undefined where only the key will do. */
function keyAt(node: Node | null, name: string): Node | null;
function keyAt(node: Node | null, name: string, isWhole: true): Node | undefined;
function keyAt(node: Node | null, name: string, isWhole = false): Node | null | undefined {
  const pairs = isCollection(node) ? (node.items as { key?: Node & { value?: unknown } }[]) : [];
  return pairs.find(({ key }) => key?.value === name)?.key ?? (isWhole ? undefined : node);
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
