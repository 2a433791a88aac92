import { basename, join } from "node:path";
import type { JsonValue } from "@bufbuild/protobuf";
import { ForgeError } from "@forge/protocol";
import { readTextFile } from "../read-text-file.ts";
import { ALIASES, withoutAliases } from "./config-aliases.ts";
import { CONFIG_REASON, type ConfigFile, type ConfigPlace, type Environment, readConfigFile } from "./config-file.ts";
import { type RuntimeConfig, RuntimeConfigSchema } from "./config-schema.ts";
import { exists } from "./find-project.ts";

export interface LoadedConfig {
  readonly config: RuntimeConfig;
  /** Keys that are not known and were left out, each with file, line and column. */
  readonly warnings: readonly string[];
  /** Where the field with a dotted path is written, under whichever of its names; undefined where it has its default. */
  readonly placeOf: (field: string) => ConfigPlace | undefined;
}

const CONFIG_BYTES_MAX = 262_144;
const CONFIG_FILE = "runtime.yaml";
const OVERLAY_NAME = /^[\w-]{1,64}$/;

/**
 * Reads a project's `runtime.yaml`, and over it `runtime.<RUNTIME_ENV>.yaml` where the environment names one and it is there; defaults where there is nothing.
 * Throws ForgeError, reason CONFIG_VALIDATION, with every wrong value's line and column.
 */
export async function loadConfig(root: string, environment: Environment): Promise<LoadedConfig> {
  const files: ConfigFile[] = [];
  for (const path of [join(root, CONFIG_FILE), ...overlayOf(root, environment)]) {
    if (!(await exists(path))) continue;
    files.push(readConfigFile(await readTextFile(path, { what: "configuration", bytesMax: CONFIG_BYTES_MAX, reason: CONFIG_REASON }), path, environment));
  }
  return combine(files);
}

/** Reads the text of a `runtime.yaml`. */
export function parseConfig(text: string, file: string, environment: Environment = {}): LoadedConfig {
  return combine([readConfigFile(text, file, environment)]);
}

function overlayOf(root: string, { RUNTIME_ENV: name }: Environment): string[] {
  if (name === undefined || name === "") return [];
  if (OVERLAY_NAME.test(name)) return [join(root, `${basename(CONFIG_FILE, ".yaml")}.${name}.yaml`)];
  throw ForgeError.validation("RUNTIME_ENV", "RUNTIME_ENV is a name of letters, digits, _ and -, such as prod", { reason: CONFIG_REASON });
}

/** Later files win, key by key. */
function combine(files: readonly ConfigFile[]): LoadedConfig {
  let written: JsonValue = {};
  for (const { value } of files) written = merge(written, value);
  const placeOf = (field: string): ConfigPlace | undefined => {
    for (const file of files.toReversed()) {
      const place = file.placeOf(field);
      if (place !== undefined) return place;
    }
    return undefined;
  };
  return {
    config: withoutAliases(RuntimeConfigSchema.parse(written), written),
    warnings: files.flatMap(({ warnings }) => warnings),
    placeOf: (field) =>
      placeOf(field) ??
      aliasesOf(field)
        .map(placeOf)
        .find((place) => place !== undefined),
  };
}

function aliasesOf(field: string): string[] {
  return ALIASES.filter(([name]) => name === field || field.startsWith(`${name}.`)).map(([name, alias]) => `${alias}${field.slice(name.length)}`);
}

function merge(base: JsonValue, overlay: JsonValue): JsonValue {
  if (!isMapping(base) || !isMapping(overlay)) return overlay;
  const merged = Object.entries(overlay).map(([key, value]): [string, JsonValue] => [
    key,
    Object.hasOwn(base, key) ? merge(base[key] as JsonValue, value) : value,
  ]);
  return { ...base, ...Object.fromEntries(merged) };
}

function isMapping(value: JsonValue): value is { [key: string]: JsonValue } {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
