import type { LanguageModelV4 } from "@ai-sdk/provider";
import { createScrubber, type ModelCall, type PriceTable } from "@forge/agent";
import { checkName, DEFINITION, type ProviderDefinition } from "./definition.ts";

/** What a model provider is made of. */
export interface ProviderOptions {
  /** The part of a model's name before the first slash: 1 to 64 of letters, digits, `.`, `_` and `-`. */
  readonly name: string;
  /**
   * The model of an id (without the provider's name), as the provider packages of the AI SDK make them: it is asked to stream, and must stop when its signal
   * aborts. Tool-call inputs in the prompt are the argument text exactly. Throw a ForgeError (not_found) where there is no such model.
   */
  languageModel(modelId: string, call: ModelCall): LanguageModelV4;
  /** Packages that turn a request into the provider's, with their versions; recorded with every call. */
  readonly versions?: Readonly<Record<string, string>>;
  /** The environment variable with its key, to be named where the provider refuses the caller. */
  readonly keyVariable?: string;
  /** Removed from every message, for example its key. */
  readonly secrets?: readonly string[];
  /** By `provider/model`; absent: no cost is known. */
  readonly prices?: PriceTable;
}

/** Somebody who serves models, under `<name>/*`. Errors: validation, DEFINITION, naming the field. */
export function defineProvider(options: ProviderOptions): ProviderDefinition {
  const { name, versions = {}, keyVariable, secrets = [], prices = {} } = options;
  checkName("provider", name, /^[\w.-]{1,64}$/, "1 to 64 of letters, digits, dots, underscores and hyphens");
  return {
    [DEFINITION]: "provider",
    name,
    prices,
    provider: {
      name,
      versions,
      keyVariable,
      // The list that comes with Forge has prices of others.
      listPrices: false,
      languageModel: (modelId, call) => options.languageModel(modelId, call),
      scrub: createScrubber(secrets),
    },
  };
}
