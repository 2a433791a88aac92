import { setTimeout as delay } from "node:timers/promises";
import type { LanguageModelV4 } from "@ai-sdk/provider";
import { durationMs } from "@bufbuild/protobuf/wkt";
import { ForgeError } from "@forge/protocol";
import { ErrorCode, type Usage } from "@forge/protocol/common";
import { Answer } from "../answer/answer.ts";
import { readAnswer } from "../answer/read-answer.ts";
import { toUsage } from "../answer/usage.ts";
import { type CircuitBreaker, circuitOutcome } from "../breaker/circuit-breaker.ts";
import { toProviderError } from "../failure/provider-error.ts";
import type { ModelPrice } from "../models/model-table.ts";
import type { ModelProvider } from "../provider.ts";
import { createToolNames } from "../request/tool-names.ts";

/** Attempts of one request in all. A summary of many parts would otherwise be lost to one busy moment. */
const ATTEMPTS_MAX = 3;

const RETRY_MS = 1_000;

/** Who has to wait longer is better told than kept waiting. */
const RETRY_MS_MAX = 30_000;

export interface SummaryModel {
  readonly provider: ModelProvider;
  readonly modelId: string;
  readonly breaker: CircuitBreaker;
  readonly price: ModelPrice | undefined;
  /** Of one answer; undefined: as the provider likes. */
  readonly maxOutputTokens: number | undefined;
  readonly signal: AbortSignal;
  /** Told of every attempt that used something, failed ones included. */
  onUsage(usage: Usage): void;
  /** Told of every sign of life. */
  onProgress(): void;
  /** Milliseconds since 1970. */
  nowMs(): number;
  /** Silence after which a request is given up, in milliseconds; undefined: 10 minutes. */
  readonly stallMs: number | undefined;
}

function failed(reason: string, message: string): ForgeError {
  return new ForgeError(ErrorCode.PROVIDER_ERROR, message, { reason, origin: "worker" });
}

/** The text, or what is wrong with an answer that has none to give. */
function textOf(answer: Answer, name: string): string {
  if (answer.finishReason?.unified === "content-filter") throw failed("COMPACTION_REFUSED", `${name} refused to summarise the conversation.`);
  const text = answer.parts.map((part) => (part.kind === "text" ? part.text : "")).join("");
  if (text.trim() === "") throw failed("COMPACTION_EMPTY", `${name} answered with no summary.`);
  return text.trim();
}

async function attempt(model: LanguageModelV4, system: string, text: string, options: SummaryModel): Promise<string> {
  const pass = options.breaker.enter();
  const answer = new Answer({ toolNames: createToolNames([]), epoch: 0, report: () => options.onProgress(), onFirstOutput: () => undefined });
  try {
    const { maxOutputTokens } = options;
    const prompt = [
      { role: "system" as const, content: system },
      { role: "user" as const, content: [{ type: "text" as const, text }] },
    ];
    await readAnswer(model, { prompt, ...(maxOutputTokens === undefined ? {} : { maxOutputTokens }) }, options.signal, answer, options.stallMs);
    pass.end("answered");
  } catch (error) {
    if (options.signal.aborted) {
      pass.end("unknown");
      throw options.signal.reason;
    }
    // Nobody has seen what came before it broke off, so it may always be asked again.
    const providerError = toProviderError(error, options.provider, false, options.nowMs());
    pass.end(circuitOutcome(providerError));
    throw providerError;
  } finally {
    if (answer.usage) options.onUsage(toUsage(answer.usage, options.price));
  }
  return textOf(answer, `${options.provider.name}/${options.modelId}`);
}

/** Asks the model for one summary, again where that may help. Rejects with a ForgeError, or with the signal's reason. */
export async function askSummary(system: string, text: string, options: SummaryModel): Promise<string> {
  for (let attempts = 1; ; attempts++) {
    const model = options.provider.languageModel(options.modelId, { failedAttempts: attempts - 1 });
    try {
      return await attempt(model, system, text, options);
    } catch (error) {
      if (options.signal.aborted || !(error instanceof ForgeError) || !error.detail.retryable || attempts >= ATTEMPTS_MAX) throw error;
      const asked = error.detail.retryAfter ? durationMs(error.detail.retryAfter) : RETRY_MS * attempts;
      if (asked > RETRY_MS_MAX) throw error;
      options.onProgress();
      await delay(asked, undefined, { signal: options.signal });
    }
  }
}
