import type { LanguageModelV4StreamPart, LanguageModelV4Usage } from "@ai-sdk/provider";
import type { TurnOutputDelta } from "@forge/protocol/event";
import { describe, expect, it } from "vitest";
import { createToolNames } from "../request/tool-names.ts";
import { Answer, OUTPUT_CHARACTERS_MAX, OUTPUT_PARTS_MAX } from "./answer.ts";

const usage: LanguageModelV4Usage = { inputTokens: { total: 1, noCache: 1, cacheRead: 0, cacheWrite: 0 }, outputTokens: { total: 1, text: 1, reasoning: 0 } };
const finish: LanguageModelV4StreamPart = { type: "finish", usage, finishReason: { unified: "stop", raw: "stop" } };

function take(...stream: LanguageModelV4StreamPart[]) {
  const deltas: TurnOutputDelta[] = [];
  const answer = new Answer({
    toolNames: createToolNames(["tools.search"]),
    epoch: 3,
    report: (kind) => kind.case === "turn" && deltas.push(kind.value),
    onFirstOutput: () => {},
  });
  for (const part of stream) answer.accept(part);
  return { answer, deltas };
}

describe("Answer", () => {
  it("keeps parts in the order they were begun, and the latest metadata of each", () => {
    const { answer } = take(
      { type: "reasoning-start", id: "0", providerMetadata: { p: { id: "r" } } },
      { type: "reasoning-delta", id: "0", delta: "hm" },
      { type: "text-start", id: "1" },
      { type: "text-delta", id: "1", delta: "a" },
      { type: "reasoning-end", id: "0", providerMetadata: { p: { signature: "s" } } },
      { type: "text-end", id: "1" },
      { type: "text-start", id: "1" },
      { type: "text-delta", id: "1", delta: "b" },
      finish,
    );
    expect(answer.parts).toEqual([
      { kind: "reasoning", text: "hm", metadata: { p: { signature: "s" } } },
      { kind: "text", text: "a", metadata: undefined },
      { kind: "text", text: "b", metadata: undefined },
    ]);
  });

  it("reports one offset per channel, over all parts of it, and the attempt's epoch", () => {
    const { deltas } = take(
      { type: "text-start", id: "1" },
      { type: "text-delta", id: "1", delta: "ab" },
      { type: "reasoning-start", id: "2" },
      { type: "reasoning-delta", id: "2", delta: "x" },
      { type: "text-start", id: "3" },
      { type: "text-delta", id: "3", delta: "c" },
    );
    expect(deltas.map((delta) => [delta.channel.case, Number(delta.offset), delta.epoch])).toEqual([
      ["text", 0, 3],
      ["reasoning", 0, 3],
      ["text", 2, 3],
    ]);
  });

  it("keeps the argument text as it was streamed, under our name of the tool, also where the call was cut", () => {
    const { answer, deltas } = take(
      { type: "tool-input-start", id: "c1", toolName: "tools__search" },
      { type: "tool-input-delta", id: "c1", delta: '{ "pattern" ' },
      { type: "tool-input-delta", id: "c1", delta: ': "lo' },
      { ...finish, finishReason: { unified: "length", raw: "length" } },
    );
    expect(answer.parts).toEqual([{ kind: "call", providerCallId: "c1", tool: "tools.search", arguments: '{ "pattern" : "lo', metadata: undefined }]);
    expect(deltas.map((delta) => delta.channel.value)).toMatchObject([
      { providerCallId: "c1", tool: "tools.search", argumentsJson: '{ "pattern" ' },
      { providerCallId: "c1", tool: "tools.search", argumentsJson: ': "lo' },
    ]);
  });

  it("reports arguments once where the call repeats them whole", () => {
    const { deltas } = take(
      { type: "tool-input-start", id: "c1", toolName: "t" },
      { type: "tool-input-delta", id: "c1", delta: "{}" },
      { type: "tool-call", toolCallId: "c1", toolName: "t", input: "{}" },
    );
    expect(deltas).toHaveLength(1);
  });

  it("keeps two calls under one id, and a call that was not streamed", () => {
    const { answer, deltas } = take(
      { type: "tool-call", toolCallId: "same", toolName: "tools__search", input: '{"a":1}' },
      { type: "tool-call", toolCallId: "same", toolName: "invented", input: '{"a":2}' },
    );
    expect(answer.parts.map((part) => part.kind === "call" && [part.providerCallId, part.tool, part.arguments])).toEqual([
      ["same", "tools.search", '{"a":1}'],
      ["same", "invented", '{"a":2}'],
    ]);
    expect(deltas.map((delta) => delta.offset)).toEqual([0n, 0n]);
  });

  it("leaves out empty text but keeps empty reasoning that its provider wants back", () => {
    const { answer } = take(
      { type: "text-start", id: "1" },
      { type: "text-end", id: "1" },
      { type: "reasoning-start", id: "2", providerMetadata: { p: { redacted: "x" } } },
      { type: "reasoning-end", id: "2" },
    );
    expect(answer.parts).toEqual([{ kind: "reasoning", text: "", metadata: { p: { redacted: "x" } } }]);
  });

  it("counts as output what a person could have seen, not what goes before it", () => {
    expect(take({ type: "stream-start", warnings: [] }, { type: "response-metadata", modelId: "m" }, { type: "text-start", id: "1" }).answer.hasOutput).toBe(
      false,
    );
    expect(take({ type: "tool-input-start", id: "1", toolName: "t" }).answer.hasOutput).toBe(true);
  });

  it("is bounded in characters and in parts", () => {
    const half = "x".repeat(OUTPUT_CHARACTERS_MAX / 2);
    const delta: LanguageModelV4StreamPart = { type: "text-delta", id: "1", delta: half };
    expect(() => take(delta, delta)).not.toThrow();
    expect(() => take(delta, delta, { ...delta, delta: "y" })).toThrow(/larger than 4194304 characters/);
    expect(() =>
      take(...Array.from({ length: OUTPUT_PARTS_MAX + 1 }, (_, index): LanguageModelV4StreamPart => ({ type: "text-start", id: `${index}` }))),
    ).toThrow(/parts/);
  });

  it("throws what the stream reports as an error, and what Forge can't keep", () => {
    const failure = new Error("broken");
    expect(() => take({ type: "error", error: failure })).toThrow(failure);
    expect(() => take({ type: "tool-call", toolCallId: "1", toolName: "web", input: "{}", providerExecuted: true })).toThrow(/the provider runs/);
    expect(() => take({ ...finish, finishReason: { unified: "interrupted", raw: undefined } })).toThrow(/without a finish reason/);
  });
});
