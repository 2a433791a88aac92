import type { LanguageModelV4 } from "@ai-sdk/provider";

/** What a provider is told of a call beside the request itself; none of it is sent. */
export interface ModelCall {
  /** Attempts of this model call that failed before this one. */
  readonly failedAttempts: number;
}

/** Somebody who serves models: one worker capability, `<name>/*`. */
export interface ModelProvider {
  /** The part of a model's name before the first slash. */
  readonly name: string;
  /** Packages that turn our request into the provider's, with their versions; recorded with every call. */
  readonly versions: Readonly<Record<string, string>>;
  /** The environment variable with its key, to be named where the provider refuses the caller. */
  readonly keyVariable?: string;
  /** Where it is reached and how to change that, for messages. */
  readonly address?: string;
  /** Whether the price list that comes with Forge holds here: not where the name is borrowed by another server. */
  readonly listPrices: boolean;
  /**
   * The model of this id (without the provider's name). Tool-call inputs in the prompt are the argument text exactly, not a parsed object.
   * Throws a ForgeError (not_found) where it is known that there is no such model.
   */
  languageModel(modelId: string, call: ModelCall): LanguageModelV4;
  /** The text without anything secret that this provider was configured with. */
  scrub(text: string): string;
}
