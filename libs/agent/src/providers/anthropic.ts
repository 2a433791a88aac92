import { createAnthropic, VERSION } from "@ai-sdk/anthropic";
import { JSONParseError, type LanguageModelV4, type LanguageModelV4CallOptions } from "@ai-sdk/provider";
import type { ModelProvider } from "../provider.ts";
import { describeAddress } from "./base-url.ts";
import { createExactModel } from "./exact-model.ts";
import { createScrubber } from "./scrub.ts";

export interface AnthropicProviderOptions {
  /** With `/v1` or whatever comes before `/messages`. */
  readonly baseUrl: string;
  /** Absent: another server that needs none. */
  readonly apiKey?: string;
  readonly listPrices: boolean;
}

/** The package refuses to be without a key. */
const NO_KEY = "none";

/** A schema of the answer is told as such, never as a tool that the model is forced to call: it could call no other then. */
const CALL_OPTIONS = { anthropic: { structuredOutputMode: "outputFormat" } } as const;

/** How the package says that the first event of an answer is not of its format. */
const UNREADABLE = "Expected a normalized Anthropic stream error";

function withCallOptions(model: LanguageModelV4): LanguageModelV4 {
  return {
    ...model,
    async doStream(call: LanguageModelV4CallOptions) {
      try {
        return await model.doStream({ ...call, providerOptions: { ...call.providerOptions, ...CALL_OPTIONS } });
      } catch (error) {
        if (error instanceof Error && error.message === UNREADABLE) throw new JSONParseError({ text: "the answer's first event", cause: error });
        throw error;
      }
    },
  };
}

/** Anthropic's messages. */
export function createAnthropicProvider({ baseUrl, apiKey, listPrices }: AnthropicProviderOptions): ModelProvider {
  return {
    name: "anthropic",
    versions: { "@ai-sdk/anthropic": VERSION },
    keyVariable: "ANTHROPIC_API_KEY",
    address: describeAddress(baseUrl, "ANTHROPIC_BASE_URL"),
    listPrices,
    dialect: { systemMessages: "first", lastMessage: "user", callArguments: "object", cacheBreakpoints: true, inputs: ["image", "pdf"] },
    needsOutputLimit: true,
    credentialRequest: { url: `${baseUrl}/models?limit=1`, headers: { "x-api-key": apiKey ?? NO_KEY, "anthropic-version": "2023-06-01" } },
    languageModel: (modelId) =>
      withCallOptions(
        createExactModel({
          create: (fetch) => createAnthropic({ baseURL: baseUrl, apiKey: apiKey ?? NO_KEY, fetch }).languageModel(modelId),
          isNote: (part) => part.type === "custom" && part.kind === "anthropic.message_start",
        }),
      ),
    scrub: createScrubber(apiKey ? [apiKey] : []),
  };
}
