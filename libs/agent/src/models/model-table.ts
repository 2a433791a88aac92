import listed from "./models.json" with { type: "json" };

/** Micro-USD per million tokens: $1.25 per million is 1,250,000. */
export interface ModelPrice {
  readonly input: number;
  /** Of input tokens that the provider's cache answered. */
  readonly cached_input: number;
  /** Of input tokens that were put into the provider's cache; absent: as other input. */
  readonly cache_write?: number;
  /** Reasoning tokens are output tokens. */
  readonly output: number;
}

/** By `provider/model`, or by a beginning of it followed by `*`; the longest that matches holds. */
export type PriceTable = Readonly<Record<string, ModelPrice>>;

/** What a model can read beside text. */
export const INPUT_KINDS = ["image", "pdf", "audio", "video"] as const;
export type InputKind = (typeof INPUT_KINDS)[number];

/** Whether a model can be told the schema of its answer; some can't while they have tools. */
export const STRUCTURED_OUTPUT = ["always", "without_tools", "never"] as const;
export type StructuredOutput = (typeof STRUCTURED_OUTPUT)[number];

/** How much a model is asked to think before it answers; absent: as its provider likes. */
export const REASONING_LEVELS = ["none", "minimal", "low", "medium", "high", "xhigh"] as const;
export type ReasoningLevel = (typeof REASONING_LEVELS)[number];

/** What is known of a model. */
export interface ModelFacts {
  /** Tokens that one request may hold. */
  readonly context_window_tokens?: number;
  /** Tokens that one answer may hold. */
  readonly max_output_tokens?: number;
  readonly inputs?: readonly InputKind[];
  readonly structured_output?: StructuredOutput;
  readonly reasoning?: ReasoningLevel;
  readonly price?: ModelPrice;
}

/** By `provider/model`, or by a beginning of it followed by `*`; the longest that matches holds. */
export type ModelTable = Readonly<Record<string, ModelFacts>>;

/** The table that comes with Forge. */
export const LISTED_MODELS: ModelTable = (listed as { models: ModelTable }).models;

/** The entry of a model, or undefined where the table has none. */
export function entryOf<Entry>(model: string, table: Readonly<Record<string, Entry>>): Entry | undefined {
  if (Object.hasOwn(table, model)) return table[model];
  let best = "";
  for (const key of Object.keys(table)) {
    if (key.endsWith("*") && model.startsWith(key.slice(0, -1)) && key.length > best.length) best = key;
  }
  return Object.hasOwn(table, best) ? table[best] : undefined;
}

/** What several tables know of a model, the first that names a fact holds. */
export function factsOf(model: string, tables: readonly ModelTable[]): ModelFacts {
  return Object.assign({}, ...tables.toReversed().map((table) => entryOf(model, table) ?? {}));
}
