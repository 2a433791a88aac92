import { setTimeout as delay } from "node:timers/promises";
import {
  APICallError,
  type LanguageModelV4,
  type LanguageModelV4CallOptions,
  type LanguageModelV4FinishReason,
  type LanguageModelV4StreamPart,
  UnsupportedFunctionalityError,
} from "@ai-sdk/provider";
import { type DemoConversation, readPrompt } from "./conversation.ts";
import { inPieces } from "./pieces.ts";
import type { DemoModel, DemoStep } from "./script.ts";
import { isSummaryRequest, summary } from "./summary.ts";

type Written = Exclude<DemoStep, { kind: "finish" | "fail" }>;

const BYTES_PER_TOKEN = 4;

export interface DemoLanguageModelOptions {
  readonly modelId: string;
  readonly model: DemoModel;
  /** Between two pieces, in milliseconds; 0: none. */
  readonly pieceDelayMs: number;
}

function tokens(bytes: number): number {
  return Math.ceil(bytes / BYTES_PER_TOKEN);
}

/** Stops the answer at the number of tokens that was asked for. */
class OutputBudget {
  readonly #bytesMax: number;
  readonly bytes = { text: 0, reasoning: 0, call: 0 };

  constructor(maxOutputTokens: number | undefined) {
    this.#bytesMax = (maxOutputTokens ?? Number.POSITIVE_INFINITY) * BYTES_PER_TOKEN;
  }

  /** Whether the piece still fits; it is counted if so. */
  take(kind: Written["kind"], piece: string): boolean {
    const size = Buffer.byteLength(piece);
    const { text, reasoning, call } = this.bytes;
    if (text + reasoning + call + size > this.#bytesMax) return false;
    this.bytes[kind] += size;
    return true;
  }
}

/** An answer of a provider that fails. */
function failureOf({ status, message, retryAfterMs }: Extract<DemoStep, { kind: "fail" }>): APICallError {
  const responseHeaders: Record<string, string> = retryAfterMs === undefined ? {} : { "retry-after-ms": String(retryAfterMs) };
  return new APICallError({ message, url: "demo:", requestBodyValues: {}, statusCode: status, responseHeaders });
}

async function* writeStep(
  step: Written,
  id: string,
  budget: OutputBudget,
  wait: (pace: number) => Promise<void>,
): AsyncGenerator<LanguageModelV4StreamPart, boolean> {
  const content = step.kind === "call" ? step.input : step.text;
  const pace = step.kind === "call" ? 1 : (step.pace ?? 1);
  let isWhole = true;
  let written = "";
  if (step.kind === "call") yield { type: "tool-input-start", id, toolName: step.tool };
  else yield { type: `${step.kind}-start`, id };
  for (const piece of pace === 0 ? [content] : inPieces(content)) {
    await wait(pace);
    isWhole = budget.take(step.kind, piece);
    if (!isWhole) break;
    written += piece;
    yield step.kind === "call" ? { type: "tool-input-delta", id, delta: piece } : { type: `${step.kind}-delta`, id, delta: piece };
  }
  if (step.kind !== "call") {
    yield { type: `${step.kind}-end`, id };
  } else {
    yield { type: "tool-input-end", id };
    yield { type: "tool-call", toolCallId: id, toolName: step.tool, input: written };
  }
  return isWhole;
}

async function* write(
  steps: readonly DemoStep[],
  conversation: DemoConversation,
  options: DemoLanguageModelOptions,
  call: LanguageModelV4CallOptions,
): AsyncGenerator<LanguageModelV4StreamPart> {
  const signal = call.abortSignal;
  const wait = async (pace: number): Promise<void> => {
    signal?.throwIfAborted();
    const ms = options.pieceDelayMs * pace;
    if (ms > 0) await delay(ms, undefined, { signal });
  };
  yield { type: "stream-start", warnings: [] };
  yield { type: "response-metadata", modelId: options.modelId };
  const budget = new OutputBudget(call.maxOutputTokens);
  let callCount = conversation.calls.length;
  let isWhole = true;
  let stopped: LanguageModelV4FinishReason["unified"] | undefined;
  for (const [index, step] of steps.entries()) {
    if (step.kind === "fail") throw failureOf(step);
    if (step.kind === "finish") {
      stopped = step.reason;
      break;
    }
    if (step.kind === "call") callCount += 1;
    isWhole = yield* writeStep(step, step.kind === "call" ? (step.id ?? `call_${callCount}`) : `part_${index}`, budget, wait);
    if (!isWhole) break;
  }
  const { bytes } = budget;
  const output = tokens(bytes.text + bytes.call) + tokens(bytes.reasoning);
  const reason = stopped ?? (!isWhole ? "length" : steps.some((step) => step.kind === "call") ? "tool-calls" : "stop");
  const input = tokens(conversation.inputBytes);
  yield {
    type: "finish",
    finishReason: { unified: reason, raw: reason },
    usage: {
      inputTokens: { total: input, noCache: input, cacheRead: 0, cacheWrite: 0 },
      outputTokens: { total: output, text: tokens(bytes.text + bytes.call), reasoning: tokens(bytes.reasoning) },
    },
  };
}

/** A demo model behind the interface that real providers implement, so that it is served by the same code. */
export function createDemoLanguageModel(options: DemoLanguageModelOptions): LanguageModelV4 {
  return {
    specificationVersion: "v4",
    provider: "demo",
    modelId: options.modelId,
    supportedUrls: {},
    doGenerate: () => Promise.reject(new UnsupportedFunctionalityError({ functionality: "answers that are not streamed" })),
    async doStream(call) {
      call.abortSignal?.throwIfAborted();
      const conversation = readPrompt(call);
      const steps = isSummaryRequest(conversation) ? summary(conversation) : options.model(conversation);
      const [first] = steps;
      if (first?.kind === "fail") throw failureOf(first);
      return { stream: ReadableStream.from(write(steps, conversation, options, call)) };
    },
  };
}
