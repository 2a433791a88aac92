import type { LanguageModelV4CallOptions, LanguageModelV4StreamPart } from "@ai-sdk/provider";
import { APICallError } from "@ai-sdk/provider";
import { create } from "@bufbuild/protobuf";
import { ErrorCode } from "@forge/protocol/common";
import { Role } from "@forge/protocol/session";
import { CompactionTaskSchema, type Task, TaskSchema } from "@forge/protocol/worker";
import type { Outcome } from "@forge/worker";
import { describe, expect, it } from "vitest";
import { createDemoProvider } from "../demo/provider.ts";
import { createModelHandlers } from "../model-handler.ts";
import type { ModelFacts } from "../models/model-table.ts";
import type { ModelProvider } from "../provider.ts";
import { createFakeContext, type FakeContext } from "../testing/fake-context.ts";
import { failureOf, type MessageInit, user } from "../testing/provider-call.ts";
import { SUMMARY_BYTES_MAX } from "./summarise.ts";

interface Asked {
  readonly system: string;
  readonly text: string;
}

/** A model that counts a token for so many bytes, refuses what is more than its window, and answers as told. */
function countingModel(windowTokens: number, bytesPerToken: number, answer: (asked: Asked, index: number) => string) {
  const asked: Asked[] = [];
  const doStream = async ({ prompt }: LanguageModelV4CallOptions) => {
    const [system, user] = prompt.map(({ content }) =>
      typeof content === "string" ? content : content.map((part) => ("text" in part ? part.text : "")).join(""),
    );
    const request = { system: system ?? "", text: user ?? "" };
    if (Buffer.byteLength(request.system + request.text) / bytesPerToken > windowTokens) {
      throw new APICallError({ message: "prompt is too long", url: "u", requestBodyValues: {}, statusCode: 400 });
    }
    asked.push(request);
    const text = answer(request, asked.length - 1);
    const parts: LanguageModelV4StreamPart[] = [
      { type: "text-delta", id: "1", delta: text },
      {
        type: "finish",
        finishReason: { unified: "stop", raw: "stop" },
        usage: { inputTokens: { total: 10, noCache: 10, cacheRead: 0, cacheWrite: 0 }, outputTokens: { total: 5, text: 5, reasoning: 0 } },
      },
    ];
    return { stream: ReadableStream.from(parts) };
  };
  const unused = () => Promise.reject(new Error("unused"));
  const languageModel = (modelId: string) => ({ specificationVersion: "v4" as const, provider: "p", modelId, supportedUrls: {}, doGenerate: unused, doStream });
  const provider: ModelProvider = { name: "p", versions: {}, listPrices: false, languageModel, scrub: (text) => text };
  return { provider, asked };
}

function contextOf(messages: MessageInit[], model = "p/m", instructions = "", contextWindowTokens = 0): FakeContext {
  const context = createFakeContext({ conversation: { messages } });
  const value = create(CompactionTaskSchema, { sessionId: "session-1", compactionId: "c", model, throughSeq: 9n, instructions, contextWindowTokens });
  const task: Task = create(TaskSchema, { kind: { case: "compaction", value } });
  return { ...context, task };
}

async function run(context: FakeContext, provider: ModelProvider, facts: ModelFacts = {}): Promise<Outcome> {
  const [handler] = createModelHandlers({ providers: [provider], models: { "p/m": facts } });
  return (await handler?.run(context)) as Outcome;
}

function summaryOf(outcome: Outcome) {
  if (outcome.case !== "compaction") throw new Error(`It ended as ${outcome.case}: ${outcome.case === "failure" ? outcome.value.error?.message : ""}`);
  return outcome.value;
}

const price = { input: 1_000_000, cached_input: 0, output: 1_000_000 };

describe("a summary by a model", () => {
  it("is asked for once where all fits, with what the person and the agent said and did, and the wish of whoever asked", async () => {
    const { provider, asked } = countingModel(100_000, 3, () => "  Goal: x  ");
    const call = { case: "toolCall" as const, value: { toolCallId: "o", tool: "tools.file", argumentsJson: '{"path":"a.ts"}' } };
    const result = { case: "toolResult" as const, value: { toolCallId: "o", tool: "tools.file", output: "line 1", isError: true } };
    const context = contextOf(
      [
        user("Fix it."),
        {
          role: Role.ASSISTANT,
          parts: [{ kind: { case: "reasoning", value: { text: "secret thought" } } }, { kind: { case: "text", value: { text: "I look." } } }, { kind: call }],
        },
        { role: Role.TOOL, parts: [{ kind: result }] },
      ],
      "p/m",
      "keep the file names",
    );
    const outcome = await run(context, provider, { context_window_tokens: 100_000, price });
    expect(summaryOf(outcome)).toMatchObject({ summary: "Goal: x", usage: { inputTokens: 10n, outputTokens: 5n, costMicroUsd: 15n } });
    expect(context.reads).toMatchObject([{ sessionId: "session-1", throughSeq: 9n, turnId: "" }]);
    expect(asked).toHaveLength(1);
    expect(asked[0]?.text).toBe('User: Fix it.\n\nAgent: I look.\nCall of tools.file with {"path":"a.ts"}\n\nTool: Error of tools.file: line 1');
    expect(asked[0]?.system).toMatch(
      /You are given all of it\.[\s\S]*Goal:[\s\S]*Decisions:[\s\S]*Files:[\s\S]*Open:[\s\S]*Names:[\s\S]*also wants this: keep the file names/,
    );
  });

  it("is made of summaries where the conversation is three times the window, every message of it read once", async () => {
    const { provider, asked } = countingModel(8_000, 3, (_, index) => `part ${index}`);
    const messages = Array.from({ length: 400 }, (_, index) => user(`message ${index} ${"x".repeat(180)}`));
    const { summary, usage } = summaryOf(await run(contextOf(messages), provider, { context_window_tokens: 8_000 }));
    const [parts, last] = [asked.slice(0, -1), asked.at(-1)];
    expect(parts.length).toBeGreaterThan(3);
    for (const index of messages.keys()) expect(parts.filter(({ text }) => text.includes(`message ${index} `))).toHaveLength(1);
    expect(last?.text).toBe(parts.map((_, index) => `part ${index}`).join("\n\n"));
    expect(last?.system).toContain("summaries of its consecutive parts");
    expect(summary).toBe(`part ${parts.length}`);
    expect(usage?.inputTokens).toBe(BigInt(asked.length * 10));
  });

  it("keeps to the window that the session knows, before any other", async () => {
    const messages = Array.from({ length: 100 }, (_, index) => user(`message ${index} ${"x".repeat(180)}`));
    const { provider, asked } = countingModel(100_000, 3, () => "short");
    summaryOf(await run(contextOf(messages, "p/m", "", 4_000), provider, { context_window_tokens: 100_000 }));
    expect(asked.length).toBeGreaterThan(2);
    for (const { system, text } of asked) expect(Buffer.byteLength(system + text) / 3).toBeLessThan(4_000);
  });

  it("never overflows where text is denser than was thought: what is refused is halved", async () => {
    // Each byte a token, so that three times as much is needed as was estimated.
    const { provider, asked } = countingModel(8_000, 1, () => "short");
    const messages = Array.from({ length: 100 }, (_, index) => user(`message ${index} ${"x".repeat(180)}`));
    expect(summaryOf(await run(contextOf(messages), provider, { context_window_tokens: 8_000 })).summary).toBe("short");
    for (const index of messages.keys()) expect(asked.some(({ text }) => text.includes(`message ${index} `))).toBe(true);
  });

  it("cuts a single message that is larger than the window in its middle, and says so", async () => {
    const { provider, asked } = countingModel(4_000, 3, () => "short");
    const text = `begin ${"x".repeat(1_000_000)} end`;
    expect(summaryOf(await run(contextOf([user(text)]), provider, { context_window_tokens: 4_000 })).summary).toBe("short");
    expect(asked).toHaveLength(1);
    expect(asked[0]?.text).toMatch(/^User: begin x+\n\[\d+ bytes left out\]\nx+ end$/);
  });

  it("comes to an end where the model writes more than it was given, and is at most 64 KiB", async () => {
    const { provider, asked } = countingModel(20_000, 3, ({ text }) => `${text}${text}`.slice(0, 200_000));
    const messages = Array.from({ length: 300 }, (_, index) => user(`${index} ${"ü".repeat(400)}`));
    const { summary } = summaryOf(await run(contextOf(messages), provider, { context_window_tokens: 20_000 }));
    expect(Buffer.byteLength(summary)).toBeLessThanOrEqual(SUMMARY_BYTES_MAX);
    expect(summary).not.toContain("\ufffd");
    expect(asked.length).toBeLessThan(60);
    const one = countingModel(200_000, 3, () => "ü".repeat(100_000));
    const long = summaryOf(await run(contextOf([user("a")]), one.provider)).summary;
    expect([Buffer.byteLength(long) <= SUMMARY_BYTES_MAX, long.includes("bytes left out")]).toEqual([true, true]);
  });

  it("is bounded in its requests for a conversation of any length", async () => {
    const { provider, asked } = countingModel(4_000, 3, () => "short");
    const messages = Array.from({ length: 20_000 }, (_, index) => user(`${index} ${"x".repeat(500)}`));
    summaryOf(await run(contextOf(messages), provider, { context_window_tokens: 4_000 }));
    expect(asked.length).toBeLessThan(80);
    expect(asked[0]?.text).toContain("User: 0 ");
    expect(asked.some(({ text }) => text.includes("User: 19999 "))).toBe(true);
    expect(asked.some(({ text }) => text.includes("messages left out"))).toBe(true);
  });

  it("is asked for again where that may help, and fails with its kind where it does not", async () => {
    let failures = 2;
    const { provider } = countingModel(100_000, 3, () => {
      if (failures-- > 0)
        throw new APICallError({ message: "busy", url: "u", requestBodyValues: {}, statusCode: 503, responseHeaders: { "retry-after-ms": "1" } });
      return "done";
    });
    expect(summaryOf(await run(contextOf([user("a")]), provider)).summary).toBe("done");
    const refused = countingModel(100_000, 3, () => {
      throw new APICallError({ message: "no", url: "u", requestBodyValues: {}, statusCode: 401 });
    });
    expect(failureOf(await run(contextOf([user("a")]), refused.provider)).error).toMatchObject({ reason: "PROVIDER_UNAUTHENTICATED", retryable: false });
    const later = countingModel(100_000, 3, () => {
      throw new APICallError({ message: "no", url: "u", requestBodyValues: {}, statusCode: 429, responseHeaders: { "retry-after": "3600" } });
    });
    expect(failureOf(await run(contextOf([user("a")]), later.provider)).error).toMatchObject({ reason: "RATE_LIMITED", retryable: true });
    expect(failureOf(await run(contextOf([user("a")]), countingModel(100_000, 3, () => " ").provider)).error).toMatchObject({ reason: "COMPACTION_EMPTY" });
    expect(failureOf(await run(contextOf([]), countingModel(100_000, 3, () => "x").provider)).error).toMatchObject({
      code: ErrorCode.VALIDATION,
      reason: "NOTHING_TO_COMPACT",
    });
    expect(failureOf(await run(contextOf([user("a")]), countingModel(100, 3, () => "x").provider, { context_window_tokens: 100 })).error.reason).toBe(
      "WINDOW_TOO_SMALL",
    );
  });

  it("tells what was used where a later part failed", async () => {
    const { provider } = countingModel(4_000, 3, (_, index) => {
      if (index === 2) throw new APICallError({ message: "no", url: "u", requestBodyValues: {}, statusCode: 401 });
      return "short";
    });
    const messages = Array.from({ length: 200 }, (_, index) => user(`${index} ${"x".repeat(200)}`));
    const outcome = await run(contextOf(messages), provider, { context_window_tokens: 4_000, price });
    expect(outcome).toMatchObject({ case: "failure", value: { usage: { inputTokens: 20n, costMicroUsd: 30n } } });
  });

  it("stops at a cancellation, and at its deadline with that error", async () => {
    for (const [stop, expected] of [
      ["cancel", { case: "cancelled" }],
      ["passDeadline", { case: "failure", value: { error: { code: ErrorCode.DEADLINE_EXCEEDED } } }],
    ] as const) {
      const context = contextOf([user("a")]);
      const { provider } = countingModel(100_000, 3, () => {
        context[stop]();
        throw new APICallError({ message: "busy", url: "u", requestBodyValues: {}, statusCode: 503 });
      });
      expect(await run(context, provider)).toMatchObject(expected);
    }
  });

  it("is written by rules by every demo model, the same each time", async () => {
    const messages = [user("Fix login."), user("Thanks.")];
    const write = async (model: string) => {
      const context = contextOf(messages, model, "names");
      const [handler] = createModelHandlers({ providers: [createDemoProvider({ pieceDelayMs: 0 })] });
      return summaryOf((await handler?.run(context)) as Outcome);
    };
    const first = await write("demo/chat");
    expect(first.summary).toBe("Goal: Fix login.\nFiles: none\nState: tools called: none\nOpen: Thanks.\nAsked for: names");
    expect(first.usage?.costMicroUsd).toBe(0n);
    for (const model of ["demo/chat", "demo/echo", "demo/triage", "demo/script"]) expect((await write(model)).summary).toBe(first.summary);
  });
});
