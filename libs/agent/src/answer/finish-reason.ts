import type { LanguageModelV4FinishReason } from "@ai-sdk/provider";
import { FinishReason } from "@forge/protocol/event";

const REASONS: Readonly<Record<LanguageModelV4FinishReason["unified"], FinishReason>> = {
  stop: FinishReason.STOP,
  length: FinishReason.LENGTH,
  "tool-calls": FinishReason.TOOL_CALLS,
  "content-filter": FinishReason.CONTENT_FILTER,
  error: FinishReason.ERROR,
  interrupted: FinishReason.ERROR,
  other: FinishReason.OTHER,
};

export function toFinishReason(reason: LanguageModelV4FinishReason): FinishReason {
  return REASONS[reason.unified];
}
