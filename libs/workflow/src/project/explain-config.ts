import type { JsonValue } from "@bufbuild/protobuf";
import type { ConfigPlace } from "./config-file.ts";
import type { Project } from "./project.ts";

/** Where a value comes from. The first that says something wins: an option, the environment, the project's file, what is built in. */
export type ConfigOrigin =
  | { readonly kind: "flag"; readonly name: string }
  | { readonly kind: "environment"; readonly name: string }
  | ({ readonly kind: "file" } & ConfigPlace)
  | { readonly kind: "default" };

/** One field of the configuration, as it counts now. */
export interface ConfigField {
  /** Dotted, as in `policy.default`. */
  readonly name: string;
  /** Null where there is none. Never with a password. */
  readonly value: JsonValue;
  readonly origin: ConfigOrigin;
  /** False where nothing of Forge looks at it yet. */
  readonly isUsed: boolean;
}

/** What wins over a field of the files. */
export interface ConfigOverride {
  readonly value: string;
  readonly origin: ConfigOrigin;
}

/** Fields without a default: they are told although the configuration does not have them. */
const OPTIONAL: readonly string[] = [
  "db_path",
  "default_workflow",
  "default_model",
  "default_llm_provider",
  "custom_handler",
  "llm.default_provider",
  "llm.limits",
  "policy.default",
  "policy.approval_ttl",
  "retention.archive_after",
];

/** What nothing looks at yet; a field below one of these as well. */
const UNUSED: readonly string[] = [
  "custom_handler",
  "episodic_max_summary_bytes",
  "llm.limits",
  "model",
  "working_memory_max_entries",
  "working_memory_max_scratch_bytes",
];

/** Of a provider: what is looked at, by the provider's name; of every provider the parameters of its models. */
const PROVIDER_USED: Readonly<Record<string, readonly string[]>> = {
  openai: ["api_key_env", "base_url"],
  ollama: ["base_url"],
  anthropic: ["base_url"],
  google: ["base_url"],
};
const MODEL_USED = /^models\..+\.(?:temperature|max_tokens)$/;

/** Every field of a project's configuration with its value and where that comes from, in order of their names. */
export function explainConfig(
  { config, placeOf }: Pick<Project, "config" | "placeOf">,
  overrides: Readonly<Record<string, ConfigOverride>> = {},
): ConfigField[] {
  const values = new Map<string, JsonValue>(OPTIONAL.map((name) => [name, null]));
  for (const [name, value] of Object.entries(config)) if (value !== undefined) collect(name, value as JsonValue, values);
  const fields = new Map<string, ConfigField>();
  for (const [name, value] of values) {
    const place = placeOf(name);
    const origin: ConfigOrigin = place === undefined ? { kind: "default" } : { kind: "file", ...place };
    fields.set(name, { name, value: shown(name, value), origin, isUsed: isUsed(name) });
  }
  for (const [name, { value, origin }] of Object.entries(overrides)) fields.set(name, { name, value: shown(name, value), origin, isUsed: true });
  return Array.from(fields.values()).toSorted((a, b) => (a.name < b.name ? -1 : 1));
}

/** Mappings are told field by field; lists and everything else whole. */
function collect(name: string, value: JsonValue, into: Map<string, JsonValue>): void {
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    into.set(name, value);
    return;
  }
  const entries = Object.entries(value).filter(([, inner]) => inner !== undefined);
  // A group of fields that has none; one that may hold any is told as empty.
  if (entries.length === 0 && (name === "model" || name === "llm.providers")) into.set(name, {});
  for (const [key, inner] of entries) collect(`${name}.${key}`, inner, into);
}

function isUsed(name: string): boolean {
  const [first, second, provider = "", ...rest] = name.split(".");
  if (first === "llm" && second === "providers" && provider !== "")
    return MODEL_USED.test(rest.join(".")) || (PROVIDER_USED[provider]?.includes(rest.join(".")) ?? false);
  return !UNUSED.some((unused) => name === unused || name.startsWith(`${unused}.`));
}

const SECRET_NAME = /(?:key|token|secret|password|credentials?)$/i;

/** What may be read over somebody's shoulder: of a key only that there is one. */
function shown(name: string, value: JsonValue): JsonValue {
  return SECRET_NAME.test(name) && typeof value === "string" && value !== "" ? "(set)" : withoutPassword(value);
}

/** A URL names whom it is for, and not what he is known by. */
function withoutPassword(value: JsonValue): JsonValue {
  if (typeof value !== "string" || !/^[a-z][a-z0-9+.-]*:\/\//i.test(value)) return value;
  return value
    .replace(/^([a-z][a-z0-9+.-]*:\/\/[^/?#@]*?):[^/?#]*@/i, "$1:***@")
    .replaceAll(/([?&][^=&#]*(?:password|token|secret|key)[^=&#]*=)[^&#]*/gi, "$1***");
}
