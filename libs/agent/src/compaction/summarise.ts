import { create } from "@bufbuild/protobuf";
import { ForgeError } from "@forge/protocol";
import { ErrorCode, type Usage, UsageSchema } from "@forge/protocol/common";
import { ReadConversationRequestSchema } from "@forge/protocol/session";
import { CompactionResultSchema, type CompactionTask, TaskFailureSchema } from "@forge/protocol/worker";
import { interrupted, type Outcome, type TaskContext } from "@forge/worker";
import type { CircuitBreaker } from "../breaker/circuit-breaker.ts";
import { toProviderError } from "../failure/provider-error.ts";
import { parseModelName } from "../model-name.ts";
import { dialectOf } from "../models/dialect-of.ts";
import type { ModelFacts } from "../models/model-table.ts";
import type { ModelProvider } from "../provider.ts";
import { askSummary, type SummaryModel } from "./ask-summary.ts";
import { fitEntries, halve, joinChunk, packChunks } from "./chunks.ts";
import { byteLength, cutMiddle } from "./cut.ts";
import { summaryInstructions } from "./instructions.ts";
import { toTranscript } from "./transcript.ts";

/** Of the summary; what the control plane takes. */
export const SUMMARY_BYTES_MAX = 64 * 1024;

/** Where nobody knows the model's window: what nearly all models have. */
const WINDOW_TOKENS_DEFAULT = 32_768;

/** A window is counted in tokens and text in bytes; dense text has fewer bytes in a token than this, which halving a refused text makes good. */
const BYTES_PER_TOKEN = 3;

/** Of the window, for the instructions and for what the estimate is wrong by. */
const MARGIN = 0.8;

const OUTPUT_TOKENS_MIN = 512;
const OUTPUT_TOKENS_MAX = 16_384;

/** A window in which no sensible part of a conversation has room. */
const CHUNK_BYTES_MIN = 1_024;

/** Requests for one summary's first round; longer conversations have their long messages cut. */
const CHUNKS_MAX = 32;

/** Rounds; each makes at least four texts one, so that 32 need three. */
const ROUNDS_MAX = 8;

/** How often a refused text is halved. */
const HALVINGS_MAX = 6;

export interface SummariseEnvironment {
  readonly provider: ModelProvider;
  readonly facts: ModelFacts;
  readonly breaker: CircuitBreaker;
  /** Milliseconds since 1970. */
  readonly nowMs: () => number;
  /** Silence after which a request is given up, in milliseconds; undefined: 10 minutes. */
  readonly stallMs: number | undefined;
}

function addUsage(sum: Usage, more: Usage): Usage {
  const isPriced = sum.costMicroUsd !== undefined && more.costMicroUsd !== undefined;
  return create(UsageSchema, {
    inputTokens: sum.inputTokens + more.inputTokens,
    outputTokens: sum.outputTokens + more.outputTokens,
    cachedInputTokens: sum.cachedInputTokens + more.cachedInputTokens,
    reasoningTokens: sum.reasoningTokens + more.reasoningTokens,
    costMicroUsd: isPriced ? (sum.costMicroUsd as bigint) + (more.costMicroUsd as bigint) : undefined,
  });
}

/** One summary on its way: a text that is too long for the model is summarised in parts, and their summaries again. */
class Summary {
  readonly #model: SummaryModel;
  readonly #instructions: string;
  readonly #wordsMax: number;
  #chunkBytes: number;

  constructor(model: SummaryModel, instructions: string, windowTokens: number) {
    this.#model = model;
    this.#instructions = instructions;
    const outputTokens = Math.min(Math.max(Math.floor(windowTokens / 8), OUTPUT_TOKENS_MIN), OUTPUT_TOKENS_MAX);
    this.#wordsMax = Math.min(2_000, Math.floor(outputTokens / 2));
    const fixed = byteLength(this.#system(false, true)) / BYTES_PER_TOKEN;
    this.#chunkBytes = Math.floor((windowTokens - outputTokens - fixed) * MARGIN * BYTES_PER_TOKEN);
    if (this.#chunkBytes < CHUNK_BYTES_MIN) {
      throw new ForgeError(ErrorCode.VALIDATION, `The model's window of ${windowTokens} tokens is too small to summarise a conversation in.`, {
        reason: "WINDOW_TOO_SMALL",
        origin: "worker",
      });
    }
  }

  /** The summary of the entries, at most 64 KiB. */
  async of(entries: readonly string[]): Promise<string> {
    let texts: readonly string[] = fitEntries(entries, CHUNKS_MAX * this.#chunkBytes);
    for (let round = 0; round < ROUNDS_MAX; round++) {
      const chunks = packChunks(texts, this.#chunkBytes);
      const summaries: string[] = [];
      for (const chunk of chunks) summaries.push(...(await this.#ofChunk(chunk, round > 0, chunks.length > 1)));
      const [only] = summaries;
      if (summaries.length === 1 && only !== undefined) return cutMiddle(only, SUMMARY_BYTES_MAX);
      // So much shorter than a chunk that the rounds come to an end, whatever the model writes.
      texts = summaries.map((summary) => cutMiddle(summary, Math.floor(this.#chunkBytes / 4)));
    }
    throw new ForgeError(ErrorCode.PROVIDER_ERROR, `The conversation could not be summarised in ${ROUNDS_MAX} rounds.`, {
      reason: "COMPACTION_TOO_DEEP",
      origin: "worker",
    });
  }

  /** One summary, or several where the model refused the text as too long after all. */
  async #ofChunk(chunk: readonly string[], isOfSummaries: boolean, isPart: boolean, halvings = 0): Promise<string[]> {
    try {
      return [await askSummary(this.#system(isOfSummaries, isPart), joinChunk(chunk), this.#model)];
    } catch (error) {
      const isTooLong = error instanceof ForgeError && error.reason === "CONTEXT_OVERFLOW";
      if (!isTooLong || halvings >= HALVINGS_MAX) throw error;
      this.#chunkBytes = Math.max(CHUNK_BYTES_MIN, Math.floor(this.#chunkBytes / 2));
      const [first, second] = halve(chunk);
      return [...(await this.#ofChunk(first, isOfSummaries, true, halvings + 1)), ...(await this.#ofChunk(second, isOfSummaries, true, halvings + 1))];
    }
  }

  #system(isOfSummaries: boolean, isPart: boolean): string {
    return summaryInstructions({ isOfSummaries, isPart, wordsMax: this.#wordsMax, instructions: this.#instructions });
  }
}

async function readEntries(context: TaskContext, task: CompactionTask): Promise<string[]> {
  const { sessionId, throughSeq } = task;
  const { messages } = await context.readConversation(create(ReadConversationRequestSchema, { sessionId, throughSeq }));
  return toTranscript(messages, (sha256) => context.getArtifact(sha256));
}

/**
 * Lets a model write what stands for a conversation from now on. It never overflows itself: what is too long is summarised in parts, and what the model refuses
 * as too long all the same is halved. Settled with the summary (at most 64 KiB) and what all requests together used, or with a failure.
 */
export async function summarise(context: TaskContext, task: CompactionTask, environment: SummariseEnvironment): Promise<Outcome> {
  const startedAt = performance.now();
  const { provider, facts, breaker, nowMs, stallMs } = environment;
  let usage: Usage | undefined;
  try {
    context.signal.throwIfAborted();
    const model: SummaryModel = {
      provider,
      modelId: parseModelName(task.model).modelId,
      breaker,
      price: facts.price,
      maxOutputTokens: dialectOf(provider, facts).maxOutputTokens || undefined,
      signal: context.signal,
      onUsage: (used) => {
        usage = usage === undefined ? used : addUsage(usage, used);
      },
      onProgress: () => context.heartbeat(),
      nowMs,
      stallMs,
    };
    const window = task.contextWindowTokens || facts.context_window_tokens || WINDOW_TOKENS_DEFAULT;
    const summary = new Summary(model, task.instructions, window);
    const entries = await readEntries(context, task);
    if (entries.length === 0) throw ForgeError.validation("through_seq", "There is nothing to summarise.", { reason: "NOTHING_TO_COMPACT", origin: "worker" });
    return { case: "compaction", value: create(CompactionResultSchema, { summary: await summary.of(entries), usage }) };
  } catch (error) {
    const stopped = interrupted(context.signal);
    if (stopped) return stopped;
    const cause: unknown = context.signal.aborted ? context.signal.reason : error;
    const durationMs = BigInt(Math.round(performance.now() - startedAt));
    return { case: "failure", value: create(TaskFailureSchema, { error: toProviderError(cause, provider, false, nowMs()).detail, durationMs, usage }) };
  }
}
