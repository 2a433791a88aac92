import type { LanguageModelV4 } from "@ai-sdk/provider";
import { create } from "@bufbuild/protobuf";
import { ForgeError } from "@forge/protocol";
import { ErrorCode } from "@forge/protocol/common";
import { ModelCompletedSchema, type ModelStarted, ModelStartedSchema } from "@forge/protocol/event";
import { ModelResultSchema, type ModelTask, TaskCancelledSchema, TaskFailureSchema } from "@forge/protocol/worker";
import type { Outcome, TaskContext } from "@forge/worker";
import packageJson from "../package.json" with { type: "json" };
import { Answer } from "./answer/answer.ts";
import { toFinishReason } from "./answer/finish-reason.ts";
import { readAnswer } from "./answer/read-answer.ts";
import { storeParts } from "./answer/store-parts.ts";
import { toUsage } from "./answer/usage.ts";
import { type CircuitBreaker, type CircuitPass, circuitOutcome } from "./breaker/circuit-breaker.ts";
import { toProviderError } from "./failure/provider-error.ts";
import { dialectOf } from "./models/dialect-of.ts";
import type { ModelFacts } from "./models/model-table.ts";
import type { ModelProvider } from "./provider.ts";
import type { ArtifactCache } from "./request/artifact-cache.ts";
import { type AssembledRequest, assembleRequest } from "./request/assemble.ts";
import type { ConversationCache } from "./request/conversation-cache.ts";
import { loadFiles } from "./request/files.ts";

export interface ModelCallEnvironment {
  readonly provider: ModelProvider;
  /** What is known of the model. */
  readonly facts: ModelFacts;
  readonly conversations: ConversationCache;
  readonly artifacts: ArtifactCache;
  readonly breaker: CircuitBreaker;
  /** Milliseconds since 1970. */
  nowMs(): number;
  /** Silence after which the call is given up, in milliseconds; undefined: 10 minutes. */
  readonly stallMs: number | undefined;
}

/** When what happened, in milliseconds of the monotonic clock. */
interface Times {
  startedAt: number;
  firstOutputAt: number | undefined;
}

function wholeMs(ms: number): bigint {
  return BigInt(Math.max(0, Math.round(ms)));
}

async function prepareRequest(context: TaskContext, task: ModelTask, environment: ModelCallEnvironment): Promise<AssembledRequest> {
  const conversation = await environment.conversations.read(context, task);
  const dialect = dialectOf(environment.provider, environment.facts);
  const reader = { model: task.model, inputs: dialect.inputs, turnId: task.turnId };
  const files = await loadFiles(conversation, reader, (sha256) => environment.artifacts.get(sha256, () => context.getArtifact(sha256)));
  return assembleRequest(conversation, task, { dialect, files });
}

function describeStart(request: AssembledRequest, provider: ModelProvider, epoch: number): ModelStarted {
  return create(ModelStartedSchema, {
    requestDigest: request.requestDigest,
    partDigests: [...request.messageDigests],
    toolCatalogueDigest: request.toolCatalogueDigest,
    parametersJson: request.parametersJson,
    cacheBreakpoints: [...request.cacheBreakpoints],
    versions: { ...provider.versions, [packageJson.name]: packageJson.version },
    epoch,
  });
}

async function settleCompleted(
  answer: Answer,
  request: AssembledRequest,
  context: TaskContext,
  environment: ModelCallEnvironment,
  times: Times,
): Promise<Outcome> {
  const { usage, finishReason, metadata, responseId: response_id } = answer;
  if (!usage || !finishReason) throw new TypeError("An answer without an end can't be settled.");
  const { provider, modelId } = request;
  const parts = await storeParts(answer.parts, { provider, modelId, putArtifact: (content, mediaType) => context.putArtifact(content, mediaType) });
  const completed = create(ModelCompletedSchema, {
    parts,
    finishReason: toFinishReason(finishReason),
    providerModel: answer.providerModel,
    providerMetadataJson: JSON.stringify({ provider, model: modelId, response_id, finish_reason: finishReason.raw, metadata }),
    durationMs: wholeMs(performance.now() - times.startedAt),
    firstOutputMs: wholeMs((times.firstOutputAt ?? performance.now()) - times.startedAt),
    contextWindowTokens: environment.facts.context_window_tokens ?? 0,
  });
  return { case: "model", value: create(ModelResultSchema, { completed, usage: toUsage(usage, environment.facts.price) }) };
}

function settleFailed(
  error: unknown,
  answer: Answer | undefined,
  context: TaskContext,
  environment: ModelCallEnvironment,
  times: Times,
  pass?: CircuitPass,
): Outcome {
  const { signal } = context;
  const cause: unknown = signal.aborted ? signal.reason : error;
  if (signal.aborted && (!(cause instanceof ForgeError) || cause.code === ErrorCode.CANCELLED)) {
    pass?.end("unknown");
    return { case: "cancelled", value: create(TaskCancelledSchema) };
  }
  const hasOutput = answer?.hasOutput ?? false;
  const providerError = toProviderError(cause, environment.provider, hasOutput, environment.nowMs());
  pass?.end(signal.aborted ? "unknown" : circuitOutcome(providerError));
  const failure = create(TaskFailureSchema, {
    error: providerError.detail,
    durationMs: wholeMs(performance.now() - times.startedAt),
    afterOutput: hasOutput,
    usage: answer?.usage ? toUsage(answer.usage, environment.facts.price) : undefined,
  });
  return { case: "failure", value: failure };
}

/**
 * Performs one model call: reads the conversation, assembles the request, records its digests and only then sends it, reports the answer while it comes.
 * Never tries again by itself; whether to is decided by who settles, from the failure. Resolves once the connection to the provider is given up. Rejects
 * where the start is refused: then nothing was sent.
 */
export async function performModelCall(context: TaskContext, task: ModelTask, environment: ModelCallEnvironment): Promise<Outcome> {
  const { provider } = environment;
  const times: Times = { startedAt: performance.now(), firstOutputAt: undefined };
  let request: AssembledRequest;
  let model: LanguageModelV4;
  let pass: CircuitPass;
  try {
    context.signal.throwIfAborted();
    request = await prepareRequest(context, task, environment);
    model = provider.languageModel(request.modelId, { failedAttempts: task.failedAttempts });
    context.signal.throwIfAborted();
    pass = environment.breaker.enter();
  } catch (error) {
    return settleFailed(error, undefined, context, environment, times);
  }
  const { epoch } = context.lease;
  try {
    await context.start({ case: "model", value: describeStart(request, provider, epoch) });
  } catch (error) {
    pass.end("unknown");
    throw error;
  }
  times.startedAt = performance.now();
  const onFirstOutput = (): void => {
    times.firstOutputAt = performance.now();
  };
  const answer = new Answer({ toolNames: request.toolNames, epoch, report: (kind) => context.report(kind), onFirstOutput });
  try {
    await readAnswer(model, request.options, context.signal, answer, environment.stallMs);
    const outcome = await settleCompleted(answer, request, context, environment, times);
    pass.end("answered");
    return outcome;
  } catch (error) {
    return settleFailed(error, answer, context, environment, times, pass);
  }
}
