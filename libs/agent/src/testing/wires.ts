import { anthropicError, anthropicEvent, messageEnd, messageStart, textBlock } from "./anthropic-stream.ts";
import { googleError, googleEvent, googleParts } from "./google-stream.ts";
import { delta, event, finish } from "./openai-stream.ts";
import { KEY } from "./provider-call.ts";

/** One wire format: how its answers and errors are written. */
export interface Wire {
  readonly model: string;
  readonly path: string;
  env(baseUrl: string): Record<string, string>;
  readonly keyVariable: string;
  /** The beginning of an answer with a piece of text. */
  readonly begun: (text: string) => string;
  /** The beginning of an answer without any of its text. */
  readonly opened: string;
  readonly ended: string;
  readonly garbage: string;
  readonly errorInStream: string;
  readonly overflowInStream: string;
  error(status: number, message: string): object;
  readonly overflows: readonly (readonly [number, object | string])[];
  readonly quotas: readonly (readonly [number, object])[];
}

/** Every wire format that Forge speaks. */
export const WIRES: readonly Wire[] = [
  {
    model: "openai/test-model",
    path: "/v1",
    env: (baseUrl) => ({ OPENAI_BASE_URL: baseUrl, OPENAI_API_KEY: KEY }),
    keyVariable: "OPENAI_API_KEY",
    begun: (text) => delta({ content: text }),
    opened: delta({ role: "assistant", content: "" }),
    ended: finish("stop"),
    garbage: event("{nonsense"),
    errorInStream: event({ error: { message: "The server is overloaded.", type: "server_error" } }),
    overflowInStream: event({
      error: { message: "Your input exceeds the context window of this model.", type: "invalid_request_error", code: "context_length_exceeded" },
    }),
    error: (_, message) => ({ error: { message, type: "error" } }),
    overflows: [
      [
        400,
        {
          error: {
            message: "This model's maximum context length is 128000 tokens. However, your messages resulted in 300000 tokens.",
            code: "context_length_exceeded",
          },
        },
      ],
      [400, { error: { message: "the request exceeds the available context size, try increasing it", type: "exceed_context_size_error" } }],
      [413, "Payload Too Large"],
      [
        429,
        {
          error: {
            message: "Request too large for gpt-4o on tokens per min (TPM): Limit 30000, Requested 48034.",
            type: "tokens",
            code: "rate_limit_exceeded",
          },
        },
      ],
    ],
    quotas: [
      [429, { error: { message: "You exceeded your current quota, please check your plan and billing details.", code: "insufficient_quota" } }],
      [402, { error: { message: "Insufficient Balance" } }],
    ],
  },
  {
    model: "anthropic/claude-sonnet-4-5",
    path: "/v1",
    env: (baseUrl) => ({ ANTHROPIC_BASE_URL: baseUrl, ANTHROPIC_API_KEY: KEY }),
    keyVariable: "ANTHROPIC_API_KEY",
    begun: (text) => messageStart() + textBlock(0, text),
    opened: messageStart(),
    ended: messageEnd("end_turn"),
    garbage: "event: content_block_delta\ndata: {nonsense\n\n",
    errorInStream: anthropicEvent(anthropicError("overloaded_error", "Overloaded") as { type: string }),
    overflowInStream:
      messageStart() + anthropicEvent(anthropicError("invalid_request_error", "prompt is too long: 208310 tokens > 200000 maximum") as { type: string }),
    error: (_, message) => anthropicError("api_error", message),
    overflows: [
      [400, anthropicError("invalid_request_error", "prompt is too long: 208310 tokens > 200000 maximum")],
      [400, anthropicError("invalid_request_error", "input length and `max_tokens` exceed context limit: 188240 + 21333 > 200000, decrease input length")],
      [413, anthropicError("request_too_large", "Request exceeds the maximum size")],
    ],
    quotas: [
      [400, anthropicError("invalid_request_error", "Your credit balance is too low to access the Anthropic API. Please go to Plans & Billing.")],
      [402, anthropicError("billing_error", "There is a problem with your payment.")],
    ],
  },
  {
    model: "gemini/gemini-2.5-flash",
    path: "/v1beta",
    env: (baseUrl) => ({ GEMINI_BASE_URL: baseUrl, GEMINI_API_KEY: KEY }),
    keyVariable: "GEMINI_API_KEY",
    begun: (text) => googleParts([JSON.stringify({ text })]),
    opened: googleEvent('{"responseId":"r"}'),
    ended: googleParts([], "STOP"),
    garbage: googleEvent("{nonsense"),
    errorInStream: googleEvent(JSON.stringify(googleError(503, "UNAVAILABLE", "The model is overloaded."))),
    overflowInStream: googleEvent(
      JSON.stringify(googleError(400, "INVALID_ARGUMENT", "The input token count exceeds the maximum number of tokens allowed 1048576.")),
    ),
    error: (status, message) => googleError(status, status === 401 ? "UNAUTHENTICATED" : "INTERNAL", message),
    overflows: [[400, googleError(400, "INVALID_ARGUMENT", "The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).")]],
    quotas: [
      [
        429,
        googleError(429, "RESOURCE_EXHAUSTED", "You exceeded your current quota.", [
          { "@type": "type.googleapis.com/google.rpc.QuotaFailure", violations: [{ quotaId: "GenerateRequestsPerDayPerProjectPerModel-FreeTier" }] },
        ]),
      ],
    ],
  },
  {
    model: "ollama/qwen3:8b",
    path: "/v1",
    env: (baseUrl) => ({ OLLAMA_BASE_URL: baseUrl, OLLAMA_API_KEY: KEY }),
    keyVariable: "OLLAMA_API_KEY",
    begun: (text) => delta({ content: text }),
    opened: delta({ role: "assistant", content: "" }),
    ended: finish("stop"),
    garbage: event("{nonsense"),
    errorInStream: event({ error: { message: "an error was encountered while running the model", type: "api_error" } }),
    overflowInStream: event({ error: { message: "the input length exceeds the context length", type: "invalid_request_error" } }),
    error: (_, message) => ({ error: { message, type: "api_error" } }),
    overflows: [[400, { error: { message: "the input length exceeds the context length", type: "invalid_request_error" } }]],
    quotas: [],
  },
];
