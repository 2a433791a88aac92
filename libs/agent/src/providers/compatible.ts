import { createOpenAICompatible, VERSION } from "@ai-sdk/openai-compatible";
import type { ModelProvider } from "../provider.ts";
import { boundedFetch } from "./bounded-fetch.ts";
import { createScrubber } from "./scrub.ts";

export interface CompatibleProviderOptions {
  readonly name: string;
  /** With `/v1` or whatever comes before `/chat/completions`. */
  readonly baseUrl: string;
  /** The variable that overrides the base URL, for messages. */
  readonly baseUrlVariable: string;
  readonly apiKey?: string;
  readonly keyVariable?: string;
  readonly listPrices: boolean;
  /** OpenAI itself refuses `max_tokens` for its newer models; other servers know only that. */
  readonly hasCompletionTokenLimit: boolean;
}

function renameTokenLimit(body: Record<string, unknown>): Record<string, unknown> {
  const { max_tokens: limit, ...rest } = body;
  return limit === undefined ? body : { ...rest, max_completion_tokens: limit };
}

/** Anything that speaks OpenAI's chat completions. */
export function createCompatibleProvider(options: CompatibleProviderOptions): ModelProvider {
  const provider = createOpenAICompatible({
    name: options.name,
    baseURL: options.baseUrl,
    apiKey: options.apiKey,
    includeUsage: true,
    fetch: boundedFetch,
    transformRequestBody: options.hasCompletionTokenLimit ? renameTokenLimit : undefined,
  });
  return {
    name: options.name,
    versions: { "@ai-sdk/openai-compatible": VERSION },
    keyVariable: options.keyVariable,
    address: `${options.baseUrl}; ${isHere(options.baseUrl) ? "is it running? " : ""}${options.baseUrlVariable} sets another address`,
    listPrices: options.listPrices,
    languageModel: (modelId) => provider.languageModel(modelId),
    scrub: createScrubber(options.apiKey ? [options.apiKey] : []),
  };
}

function isHere(url: string): boolean {
  return /^(?:localhost|127(?:\.\d+){3}|\[::1\])$/.test(new URL(url).hostname);
}
