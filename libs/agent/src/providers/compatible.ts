import { createOpenAICompatible, VERSION } from "@ai-sdk/openai-compatible";
import type { LanguageModelV4 } from "@ai-sdk/provider";
import type { ModelProvider } from "../provider.ts";
import type { Dialect } from "../request/dialect.ts";
import { describeAddress } from "./base-url.ts";
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
  readonly dialect: Partial<Dialect>;
}

/** Schemas are passed on as people write them; strict ones would have to name every property as required. */
const CALL_OPTIONS = { openaiCompatible: { strictJsonSchema: false } } as const;

function withCallOptions(model: LanguageModelV4): LanguageModelV4 {
  return {
    specificationVersion: "v4",
    provider: model.provider,
    modelId: model.modelId,
    supportedUrls: {},
    doGenerate: (call) => model.doGenerate(call),
    doStream: (call) => model.doStream({ ...call, providerOptions: { ...call.providerOptions, ...CALL_OPTIONS } }),
  };
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
    supportsStructuredOutputs: true,
    fetch: boundedFetch,
    transformRequestBody: options.hasCompletionTokenLimit ? renameTokenLimit : undefined,
  });
  return {
    name: options.name,
    versions: { "@ai-sdk/openai-compatible": VERSION },
    keyVariable: options.keyVariable,
    address: describeAddress(options.baseUrl, options.baseUrlVariable),
    listPrices: options.listPrices,
    dialect: options.dialect,
    credentialRequest: {
      url: `${options.baseUrl.replace(/\/+$/, "")}/models`,
      headers: options.apiKey ? { authorization: `Bearer ${options.apiKey}` } : {},
    },
    languageModel: (modelId) => withCallOptions(provider.languageModel(modelId)),
    scrub: createScrubber(options.apiKey ? [options.apiKey] : []),
  };
}
