import type { LanguageModelV4, LanguageModelV4StreamPart } from "@ai-sdk/provider";

/** A model that answers with what was said last, in capitals. */
export function shoutingModel(modelId: string): LanguageModelV4 {
  return {
    specificationVersion: "v4",
    provider: "shout",
    modelId,
    supportedUrls: {},
    doGenerate: () => Promise.reject(new Error("only streams")),
    doStream: async ({ prompt }) => {
      const said = prompt.findLast(({ role }) => role === "user")?.content ?? "";
      const text = typeof said === "string" ? said : said.map((part) => (part.type === "text" ? part.text : "")).join("");
      const parts: LanguageModelV4StreamPart[] = [
        { type: "stream-start", warnings: [] },
        { type: "text-start", id: "1" },
        { type: "text-delta", id: "1", delta: text.toUpperCase() },
        { type: "text-end", id: "1" },
        {
          type: "finish",
          finishReason: { unified: "stop", raw: "stop" },
          usage: { inputTokens: { total: 3, noCache: 3, cacheRead: 0, cacheWrite: 0 }, outputTokens: { total: 2, text: 2, reasoning: 0 } },
        },
      ];
      return { stream: ReadableStream.from(parts) };
    },
  };
}
