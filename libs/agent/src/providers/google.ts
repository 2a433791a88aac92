import { createGoogle, VERSION } from "@ai-sdk/google";
import type { ModelProvider } from "../provider.ts";
import { describeAddress } from "./base-url.ts";
import { createExactModel } from "./exact-model.ts";
import { keepArguments } from "./google-arguments.ts";
import { createScrubber } from "./scrub.ts";

export interface GoogleProviderOptions {
  /** `google`, or its second name `gemini`. */
  readonly name: string;
  /** With `/v1beta` or whatever comes before `/models`. */
  readonly baseUrl: string;
  /** Absent: another server that needs none. */
  readonly apiKey?: string;
  readonly listPrices: boolean;
}

/** The package refuses to be without a key. */
const NO_KEY = "none";

/** Gemini over Google's generative language interface. */
export function createGoogleProvider({ name, baseUrl, apiKey, listPrices }: GoogleProviderOptions): ModelProvider {
  return {
    name,
    versions: { "@ai-sdk/google": VERSION },
    keyVariable: "GEMINI_API_KEY",
    address: describeAddress(baseUrl, "GEMINI_BASE_URL"),
    listPrices,
    dialect: {
      systemMessages: "first",
      lastMessage: "user",
      callArguments: "object",
      inputs: ["image", "pdf", "audio", "video"],
      structuredOutput: "without_tools",
    },
    credentialRequest: { url: `${baseUrl}/models?pageSize=1`, headers: { "x-goog-api-key": apiKey ?? NO_KEY } },
    languageModel: (modelId) =>
      createExactModel({
        create: (fetch) => createGoogle({ baseURL: baseUrl, apiKey: apiKey ?? NO_KEY, fetch }).languageModel(modelId),
        onResponse: keepArguments,
      }),
    scrub: createScrubber(apiKey ? [apiKey] : []),
  };
}
