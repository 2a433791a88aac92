import type { Node } from "yaml";
import { isScalar } from "yaml";
import { compareVersions, normalizeVersion } from "../definition/version.ts";
import { type YamlEntry, YamlReader } from "../yaml/yaml-reader.ts";
import { startOf } from "../yaml/yaml-source.ts";

/** A prompt that agents name as prompts.<id>, or prompts.<id>@v2. */
export interface PromptEntry {
  readonly id: string;
  readonly version: string;
  readonly text: string;
  /** How often it is taken beside the other versions that have a weight; undefined: only where it is named, or is the newest and none has one. */
  readonly weight: number | undefined;
}

export const PROMPT_LENGTH_MAX = 65_536;
const WEIGHT_MAX = 1_000_000;
const ID = /^[A-Za-z0-9_.-]{1,128}$/;

/** A list of prompts: `id`, `version` (v1), `text`, and of those that are tried beside each other `weight`. */
export function readPromptEntries(reader: YamlReader, node: Node | null, what: string): PromptEntry[] {
  const entries: PromptEntry[] = [];
  for (const item of reader.list(node, what) ?? []) {
    const entry = readPromptEntry(reader, item);
    if (entry === undefined) continue;
    if (entries.some(({ id, version }) => id === entry.id && version === entry.version)) {
      reader.problems.add(startOf(item), `prompt ${entry.id}@${entry.version} stands twice in ${what}`);
    } else entries.push(entry);
  }
  return entries;
}

function readPromptEntry(reader: YamlReader, node: Node | null): PromptEntry | undefined {
  const entries = reader.mapping(node, "a prompt");
  if (entries === undefined) return undefined;
  const [id, version, text, weight] = ["id", "version", "text", "weight"].map((key) => entries.get(key));
  for (const [key, entry] of [
    ["id", id],
    ["text", text],
  ] as const)
    if (entry === undefined) reader.problems.add(startOf(node), `a prompt has no ${key}`);
  const idText = id && reader.text(id.value, "a prompt's id", 128);
  if (idText !== undefined && !ID.test(idText.text))
    reader.problems.add(idText.offset, `prompt id \`${idText.text.slice(0, 40)}\`; expected letters, digits, \`_\`, \`-\` and dots`);
  const body = text && reader.text(text.value, "a prompt's text", PROMPT_LENGTH_MAX);
  const given = version === undefined ? "v1" : versionOf(reader, version);
  const share = weight && reader.number(weight.value, "a prompt's weight", 0, WEIGHT_MAX);
  if (idText === undefined || body === undefined || given === undefined) return undefined;
  return { id: idText.text, version: given, text: body.text, weight: share };
}

function versionOf(reader: YamlReader, { value }: YamlEntry): string | undefined {
  const scalar = reader.resolve(value);
  const written = isScalar(scalar) && (typeof scalar.value === "string" || typeof scalar.value === "number") ? (scalar.source ?? String(scalar.value)) : "";
  const version = normalizeVersion(written);
  if (version === undefined) reader.problems.add(startOf(value), `a prompt's version \`${written.slice(0, 40)}\` is no version; expected v1, v2, ...`);
  return version;
}

/** Reads a file of prompts: one under `prompt`, or a list under `prompts`. Throws ForgeError, AGENT_VALIDATION, with every problem's place. */
export function parsePrompts(text: string, file: string, reason: string): PromptEntry[] {
  const reader = new YamlReader(text, file, reason);
  reader.problems.throwIfAny();
  const top = reader.mapping(reader.source.root, "the prompts file");
  const [one, many] = [top?.get("prompt"), top?.get("prompts")];
  if (top !== undefined && one === undefined && many === undefined) reader.problems.add(0, "no `prompt` and no `prompts`; expected one of them");
  const single = one && readPromptEntry(reader, one.value);
  const prompts = [...(single === undefined ? [] : [single]), ...(many === undefined ? [] : readPromptEntries(reader, many.value, "prompts"))];
  reader.problems.throwIfAny();
  return prompts;
}

/** Prompts by id. An agent's own stand before those of its project. */
export class PromptLibrary {
  readonly #own: readonly PromptEntry[];
  readonly #shared: readonly PromptEntry[];

  constructor(own: readonly PromptEntry[], shared: readonly PromptEntry[]) {
    this.#own = own;
    this.#shared = shared;
  }

  /** What a reference stands for: the version that it names; without one those that have a weight, or else the newest. Empty: there is none. */
  find(id: string, version: string | undefined): readonly PromptEntry[] {
    const own = this.#own.filter((entry) => entry.id === id);
    const named = own.length > 0 ? own : this.#shared.filter((entry) => entry.id === id);
    if (version !== undefined) return named.filter((entry) => entry.version === version);
    const weighted = named.filter(({ weight }) => weight !== undefined && weight > 0);
    return weighted.length > 0 ? weighted : named.toSorted((a, b) => compareVersions(a.version, b.version)).slice(-1);
  }

  /** What references may name. */
  get known(): readonly string[] {
    const all = [...this.#own, ...this.#shared];
    return Array.from(new Set(all.flatMap(({ id, version }) => [`prompts.${id}`, `prompts.${id}@${version}`])));
  }
}
