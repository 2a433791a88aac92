import type { YamlEntry, YamlReader } from "../yaml/yaml-reader.ts";
import { startOf } from "../yaml/yaml-source.ts";
import { type Providers, unknownModel } from "./provider-models.ts";

const MODEL_LENGTH_MAX = 256;
const FALLBACKS_MAX = 3;

/** What the project says of models. */
export interface ModelDefaults {
  /** Where an agent names no model. */
  readonly model: string | undefined;
  /** Where a model names no provider. */
  readonly provider: string | undefined;
  /** What it says of the models themselves. */
  readonly providers?: Providers;
}

/** A model that stands in for another, and where it is written. */
export interface FallbackModel {
  readonly model: string;
  readonly offset: number;
}

/** The agent's model, or the project's; `at` is the agent. */
export function readModel(reader: YamlReader, entry: YamlEntry | undefined, at: number, { model, provider, providers }: ModelDefaults): string | undefined {
  const written = entry && reader.text(entry.value, "model", MODEL_LENGTH_MAX);
  if (entry !== undefined && written === undefined) return undefined;
  const name = written?.text ?? model;
  if (name !== undefined) return fullName(reader, name, written?.offset ?? at, "model", provider, providers);
  reader.problems.add(at, "agent has no model; expected `model: provider/model`, or default_model in runtime.yaml");
  return undefined;
}

/** An agent's `fallback_models`. */
export function readFallbacks(reader: YamlReader, entry: YamlEntry | undefined, { provider, providers }: ModelDefaults): readonly FallbackModel[] {
  const items = (entry && reader.list(entry.value, "fallback_models")) ?? [];
  if (items.length > FALLBACKS_MAX) reader.problems.add(startOf(entry?.value), `${items.length} fallback_models; at most ${FALLBACKS_MAX} are allowed`);
  const found: FallbackModel[] = [];
  for (const item of items.slice(0, FALLBACKS_MAX)) {
    const written = reader.text(item, "an item of fallback_models", MODEL_LENGTH_MAX);
    const model = written && fullName(reader, written.text, written.offset, "fallback model", provider, providers);
    if (written === undefined || model === undefined) continue;
    if (found.some((other) => other.model === model)) reader.problems.add(written.offset, `fallback model ${model} stands twice in fallback_models`);
    else found.push({ model, offset: written.offset });
  }
  return found;
}

/** Nothing stands in for itself. */
export function checkFallbacks(reader: YamlReader, model: string, fallbacks: readonly FallbackModel[]): void {
  for (const fallback of fallbacks) {
    if (fallback.model === model) reader.problems.add(fallback.offset, `fallback model ${model} is the agent's model itself; expected another one`);
  }
}

function fullName(reader: YamlReader, name: string, offset: number, what: string, provider: string | undefined, providers: Providers = {}): string | undefined {
  const full = name.includes("/") || provider === undefined ? name : `${provider}/${name}`;
  if (full.length > MODEL_LENGTH_MAX) {
    reader.problems.add(offset, `${what} has ${full.length} characters with its provider; at most ${MODEL_LENGTH_MAX} are allowed`);
    return undefined;
  }
  if (/^[!-.0-~]+\/[!-~]+$/.test(full)) {
    const unknown = unknownModel(providers, full);
    if (unknown !== undefined) reader.problems.warn(offset, unknown);
    return full;
  }
  reader.problems.add(offset, `${what} \`${name.slice(0, 80)}\` names no provider; expected provider/model, for example openai/gpt-5`);
  return undefined;
}
