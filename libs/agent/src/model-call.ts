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
import { toProviderError } from "./failure/provider-error.ts";
import type { ModelPrice } from "./prices.ts";
import type { ModelProvider } from "./provider.ts";
import { type AssembledRequest, assembleRequest } from "./request/assemble.ts";
import type { ConversationCache } from "./request/conversation-cache.ts";

export interface ModelCallEnvironment {
  readonly provider: ModelProvider;
  /** Undefined where no price is known. */
  readonly price: ModelPrice | undefined;
  readonly conversations: ConversationCache;
  /** Milliseconds since 1970. */
  nowMs(): number;
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
  return assembleRequest(await environment.conversations.read(context, task), task);
}

function describeStart(request: AssembledRequest, provider: ModelProvider, epoch: number): ModelStarted {
  return create(ModelStartedSchema, {
    requestDigest: request.requestDigest,
    partDigests: [...request.messageDigests],
    toolCatalogueDigest: request.toolCatalogueDigest,
    parametersJson: request.parametersJson,
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
  });
  return { case: "model", value: create(ModelResultSchema, { completed, usage: toUsage(usage, environment.price) }) };
}

function settleFailed(error: unknown, answer: Answer | undefined, context: TaskContext, environment: ModelCallEnvironment, times: Times): Outcome {
  const { signal } = context;
  const cause: unknown = signal.aborted ? signal.reason : error;
  if (signal.aborted && (!(cause instanceof ForgeError) || cause.code === ErrorCode.CANCELLED))
    return { case: "cancelled", value: create(TaskCancelledSchema) };
  const hasOutput = answer?.hasOutput ?? false;
  const failure = create(TaskFailureSchema, {
    error: toProviderError(cause, environment.provider, hasOutput, environment.nowMs()).detail,
    durationMs: wholeMs(performance.now() - times.startedAt),
    afterOutput: hasOutput,
    usage: answer?.usage ? toUsage(answer.usage, environment.price) : undefined,
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
  try {
    context.signal.throwIfAborted();
    request = await prepareRequest(context, task, environment);
    model = provider.languageModel(request.modelId, { failedAttempts: task.failedAttempts });
    context.signal.throwIfAborted();
  } catch (error) {
    return settleFailed(error, undefined, context, environment, times);
  }
  const { epoch } = context.lease;
  await context.start({ case: "model", value: describeStart(request, provider, epoch) });
  times.startedAt = performance.now();
  const onFirstOutput = (): void => {
    times.firstOutputAt = performance.now();
  };
  const answer = new Answer({ toolNames: request.toolNames, epoch, report: (kind) => context.report(kind), onFirstOutput });
  try {
    await readAnswer(model, request.options, context.signal, answer);
    return await settleCompleted(answer, request, context, environment, times);
  } catch (error) {
    return settleFailed(error, answer, context, environment, times);
  }
}
