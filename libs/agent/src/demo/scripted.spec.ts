import { FinishReason } from "@forge/protocol/event";
import { describe, expect, it } from "vitest";
import { createModelHandlers } from "../model-handler.ts";
import { createFakeContext } from "../testing/fake-context.ts";
import { completedOf, failureOf, joined, type MessageInit, resultsOf, user } from "../testing/provider-call.ts";
import { createDemoProvider } from "./provider.ts";

function run(messages: MessageInit[]) {
  const [handler] = createModelHandlers({ providers: [createDemoProvider({ pieceDelayMs: 0 })] });
  const tools = [{ name: "tools.search", inputSchemaJson: '{"type":"object"}' }];
  return handler?.run(createFakeContext({ task: { model: "demo/script" }, conversation: { messages, tools } })) ?? Promise.reject(new Error("no handler"));
}

const answer = async (script: unknown, ...more: MessageInit[]) => completedOf(await run([user(`Do this: ${JSON.stringify(script)}`), ...more]));

describe("demo/script", () => {
  it("calls what is not there, writes arguments that are no JSON, and gives one id twice", async () => {
    const { parts, finishReason } = await answer([
      [
        { call: "nowhere.tool", arguments: "{not json" },
        { call: "tools.search", arguments: { a: 1 }, id: "same" },
        { call: "tools.search", id: "same" },
      ],
    ]);
    expect(parts.map((part) => part.kind)).toMatchObject([
      { case: "toolCall", value: { tool: "nowhere.tool", argumentsJson: "{not json" } },
      { case: "toolCall", value: { tool: "tools.search", argumentsJson: '{"a":1}', providerCallId: "same" } },
      { case: "toolCall", value: { tool: "tools.search", argumentsJson: "{}", providerCallId: "same" } },
    ]);
    expect(finishReason).toBe(FinishReason.TOOL_CALLS);
  });

  it("makes fifty calls at once", async () => {
    const { parts } = await answer([[{ call: "tools.search", times: 50 }]]);
    expect(new Set(parts.map((part) => part.kind.case === "toolCall" && part.kind.value.providerCallId)).size).toBe(50);
  });

  it("gives its answers one after the other, and says when there are no more", async () => {
    const script = [[{ call: "tools.search" }], [{ reasoning: "hm" }, { text: "done" }]];
    const first = joined((await answer(script)).parts);
    const second = await answer(script, first, resultsOf(first));
    expect(second.parts.map((part) => part.kind.value)).toMatchObject([{ text: "hm" }, { text: "done" }]);
    const third = await answer(script, first, resultsOf(first), joined(second.parts));
    expect(third.parts[0]?.kind.value).toMatchObject({ text: "The script is over." });
  });

  it("stops for the reason it is told, and fails as it is told, before output or in its midst", async () => {
    expect((await answer([[{ text: "I " }, { finish: "content-filter" }]])).finishReason).toBe(FinishReason.CONTENT_FILTER);
    const fail = (...steps: object[]) => run([user(JSON.stringify([steps]))]);
    const before = failureOf(await fail({ fail: 429, message: "slow", retry_after_ms: 5 }));
    expect(before).toMatchObject({ afterOutput: false, error: { reason: "RATE_LIMITED", retryable: true, retryAfter: { nanos: 5_000_000 } } });
    expect(failureOf(await fail({ fail: 400, message: "prompt is too long" })).error.reason).toBe("CONTEXT_OVERFLOW");
    expect(failureOf(await fail({ text: "half" }, { fail: 500 }))).toMatchObject({ afterOutput: true, error: { retryable: false } });
  });

  it("says what it makes of a message without a script", async () => {
    expect(completedOf(await run([user("hello")])).parts[0]?.kind.value).toMatchObject({ text: expect.stringContaining("no script") });
    expect((await answer([[{ dance: true }]])).parts[0]?.kind.value).toMatchObject({ text: expect.stringContaining('{"dance":true}') });
  });
});
