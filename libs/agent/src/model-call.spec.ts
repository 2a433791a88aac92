import type { LanguageModelV4, LanguageModelV4StreamPart } from "@ai-sdk/provider";
import { ForgeError } from "@forge/protocol";
import { ErrorCode } from "@forge/protocol/common";
import { Role } from "@forge/protocol/session";
import { describe, expect, it } from "vitest";
import { createDemoProvider } from "./demo/provider.ts";
import { createModelHandlers } from "./model-handler.ts";
import type { ModelProvider } from "./provider.ts";
import { assembleRequest } from "./request/assemble.ts";
import { readDialect } from "./request/dialect.ts";
import { inlineArtifacts } from "./request/inline-artifacts.ts";
import { createFakeContext, type FakeContext, type FakeContextOptions } from "./testing/fake-context.ts";

const MESSAGES = [{ role: Role.USER, parts: [{ kind: { case: "text" as const, value: { text: "hello" } } }] }];

function run(context: FakeContext, provider: ModelProvider = createDemoProvider({ pieceDelayMs: 0 })) {
  const [handler] = createModelHandlers({ providers: [provider] });
  if (!handler) throw new Error("No handler was made.");
  return handler.run(context);
}

/** A provider whose one model does as told. */
function scripted(doStream: LanguageModelV4["doStream"]): ModelProvider {
  const model: LanguageModelV4 = {
    specificationVersion: "v4",
    provider: "demo",
    modelId: "m",
    supportedUrls: {},
    doGenerate: () => Promise.reject(new Error("unused")),
    doStream,
  };
  return { ...createDemoProvider(), languageModel: () => model };
}

const streamOf = (...parts: LanguageModelV4StreamPart[]) => scripted(async () => ({ stream: ReadableStream.from(parts) }));
const contextWith = (options: FakeContextOptions = {}) => createFakeContext({ conversation: { messages: MESSAGES }, ...options });

describe("a model call", () => {
  it("reads the conversation that the task names", async () => {
    const context = contextWith();
    await run(context);
    expect(context.reads).toMatchObject([{ sessionId: "session-1", turnId: "turn-1", afterSeq: 0n, throughSeq: 7n }]);
  });

  it("records what can be rebuilt from the conversation and the task", async () => {
    const context = contextWith({ task: { model: "demo/chat", temperature: 0.5 }, epoch: 4 });
    await run(context);
    const { kind } = context.task;
    if (kind.case !== "model") throw new Error("The task is no model call.");
    const rebuilt = assembleRequest(await inlineArtifacts(context.conversation, (sha256) => context.getArtifact(sha256)), kind.value, {
      dialect: readDialect(context.starts[0]?.parametersJson ?? ""),
    });
    const [started] = context.starts;
    expect(started).toMatchObject({
      requestDigest: rebuilt.requestDigest,
      partDigests: rebuilt.messageDigests,
      toolCatalogueDigest: rebuilt.toolCatalogueDigest,
      parametersJson: '{"dialect":{"inputs":[],"structuredOutput":"always"},"model":"demo/chat","temperature":0.5}',
      epoch: 4,
    });
    expect(started?.versions["@forge/agent"]).toMatch(/^\d+\.\d+\.\d+$/);
  });

  it("sends nothing where the start was refused", async () => {
    let sent = false;
    const provider = scripted(() => {
      sent = true;
      return Promise.reject(new Error("unused"));
    });
    const refused = run(contextWith({ startError: new ForgeError(ErrorCode.CONFLICT, "no longer leased", { reason: "LEASE_LOST" }) }), provider);
    await expect(refused).rejects.toMatchObject({ reason: "LEASE_LOST" });
    expect(sent).toBe(false);
  });

  it("records the start before it sends", async () => {
    const context = contextWith();
    let startsWhenSent = -1;
    await run(
      context,
      scripted(async () => ({ stream: ReadableStream.from([]), startsWhenSent: (startsWhenSent = context.starts.length) })),
    );
    expect(startsWhenSent).toBe(1);
  });

  it("keeps text of more than 64 KiB as an artifact that the next request holds again", async () => {
    const long = "ü".repeat(40_000);
    const text = (id: string, delta: string): LanguageModelV4StreamPart[] => [
      { type: id.startsWith("r") ? "reasoning-start" : "text-start", id },
      { type: id.startsWith("r") ? "reasoning-delta" : "text-delta", id, delta },
    ];
    const finish: LanguageModelV4StreamPart = {
      type: "finish",
      finishReason: { unified: "stop", raw: "stop" },
      usage: { inputTokens: { total: 1, noCache: 1, cacheRead: 0, cacheWrite: 0 }, outputTokens: { total: 1, text: 1, reasoning: 0 } },
    };
    const context = contextWith({ task: { model: "demo/m" } });
    const outcome = await run(context, streamOf(...text("r", long), ...text("t", long), ...text("u", "short"), finish));
    if (outcome.case !== "model") throw new Error(`The call ended as ${outcome.case}.`);
    const parts = outcome.value.completed?.parts ?? [];
    expect(parts.map((part) => part.kind.case)).toEqual(["artifact", "artifact", "text"]);
    context.conversation.messages.push({ ...context.conversation.messages[0]!, role: Role.ASSISTANT, parts });
    if (context.task.kind.case !== "model") throw new Error("The task is no model call.");
    const next = assembleRequest(await inlineArtifacts(context.conversation, (sha256) => context.getArtifact(sha256)), context.task.kind.value);
    expect(next.options.prompt.at(-1)?.content).toEqual([
      { type: "reasoning", text: long },
      { type: "text", text: long },
      { type: "text", text: "short" },
    ]);
  });

  it("fails a stream that ends before it is finished, retryably only where nothing had come", async () => {
    expect(await run(contextWith(), streamOf())).toMatchObject({
      case: "failure",
      value: { afterOutput: false, error: { reason: "STREAM_BROKEN", retryable: true } },
    });
    expect(await run(contextWith(), streamOf({ type: "text-delta", id: "1", delta: "a" }))).toMatchObject({
      case: "failure",
      value: { afterOutput: true, error: { reason: "STREAM_BROKEN", retryable: false } },
    });
  });

  it("is cancelled in the midst of the demo model's answer", async () => {
    const context = contextWith({
      task: { model: "demo/chat" },
      conversation: { messages: [{ role: Role.USER, parts: [{ kind: { case: "text", value: { text: "count to 10000" } } }] }] },
      onReport: () => context.cancel(),
    });
    expect((await run(context, createDemoProvider({ pieceDelayMs: 1 }))).case).toBe("cancelled");
    expect(context.deltas).toHaveLength(1);
  });

  it("ends at a cancellation though the provider listens to no signal", async () => {
    let isLetGo = false;
    const stream = new ReadableStream<LanguageModelV4StreamPart>({
      cancel: () => {
        isLetGo = true;
      },
    });
    const context = contextWith();
    const outcome = run(
      context,
      scripted(async () => {
        queueMicrotask(() => context.cancel());
        return { stream };
      }),
    );
    expect((await outcome).case).toBe("cancelled");
    expect(isLetGo).toBe(true);
  });

  it("never begins where it was cancelled before", async () => {
    const context = contextWith();
    context.cancel();
    expect((await run(context)).case).toBe("cancelled");
    expect(context.starts).toHaveLength(0);
  });
});
