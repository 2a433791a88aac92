import { create } from "@bufbuild/protobuf";
import { ArtifactRefSchema } from "@forge/protocol/common";
import { FinishReason } from "@forge/protocol/event";
import { Role } from "@forge/protocol/session";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { anthropicText, messageEnd, messageStart, redactedBlock, textBlock, thinkingBlock, toolBlock } from "../testing/anthropic-stream.ts";
import type { FakeContext } from "../testing/fake-context.ts";
import { callOf, completedOf, joined, KEY, perform, resultsOf, tracesOf, usageOf, user } from "../testing/provider-call.ts";
import { startWireServer, streamReply, type WireServer } from "../testing/wire-server.ts";

const MODEL = "anthropic/claude-sonnet-4-5";

let server: WireServer;
beforeEach(async () => {
  server = await startWireServer("/v1");
});
afterEach(() => server.close());

async function run(context: FakeContext = callOf(MODEL)) {
  const outcome = await perform({ ANTHROPIC_BASE_URL: server.baseUrl, ANTHROPIC_API_KEY: KEY }, context);
  const completed = completedOf(outcome);
  return { outcome, completed, usage: usageOf(outcome), kinds: completed.parts.map((part) => part.kind), context };
}

describe("over Anthropic's wire format", () => {
  it("sends the request that was recorded, with the key in its header only", async () => {
    server.enqueue(streamReply([anthropicText("hello")]));
    const { kinds, completed, context, outcome } = await run();
    expect(kinds).toMatchObject([{ case: "text", value: { text: "hello" } }]);
    expect(completed).toMatchObject({ finishReason: FinishReason.STOP, providerModel: "claude-test-2026" });
    const [request] = server.requests;
    expect(request).toMatchObject({ method: "POST", path: "/v1/messages" });
    expect(request?.headers["x-api-key"]).toBe(KEY);
    expect(request?.bodyText).not.toContain(KEY);
    expect(tracesOf(context, outcome)).not.toContain(KEY);
    expect(request?.body).toMatchObject({
      model: "claude-sonnet-4-5",
      max_tokens: 32_000,
      stream: true,
      system: [{ type: "text", text: "Be brief.", cache_control: { type: "ephemeral" } }],
      messages: [{ role: "user", content: [{ type: "text", text: "hi", cache_control: { type: "ephemeral" } }] }],
      tools: [{ name: "tools__search", description: "Searches.", input_schema: { type: "object", properties: { pattern: { type: "string" } } } }],
    });
    expect(context.starts[0]).toMatchObject({ cacheBreakpoints: [0, 1] });
    expect(context.starts[0]?.versions["@ai-sdk/anthropic"]).toMatch(/^\d+\.\d+\.\d+$/);
    expect(JSON.parse(context.starts[0]?.parametersJson ?? "")).toMatchObject({ model: MODEL, max_output_tokens: 32_000 });
  });

  it("keeps thoughts with their signature, text and calls in order, and shows them while they come", async () => {
    server.enqueue(
      streamReply([
        messageStart(),
        thinkingBlock(0, "Let me think: größer", "c2lnbmF0dXJl+/=="),
        redactedBlock(1, "ZW5jcnlwdGVk"),
        textBlock(2, "I will ", "search."),
        toolBlock(3, "toolu_1", "tools__search", '{"patt', 'ern": "x", "n": 1.50}'),
        messageEnd("tool_use"),
      ]),
    );
    const { kinds, completed, context } = await run();
    expect(kinds).toMatchObject([
      { case: "reasoning", value: { text: "Let me think: größer" } },
      { case: "reasoning", value: { text: "" } },
      { case: "text", value: { text: "I will search." } },
      { case: "toolCall", value: { providerCallId: "toolu_1", tool: "tools.search", argumentsJson: '{"pattern": "x", "n": 1.50}' } },
    ]);
    expect(completed.finishReason).toBe(FinishReason.TOOL_CALLS);
    expect(context.deltas.map((delta) => delta.channel.case)).toEqual(["reasoning", "text", "text", "toolArguments", "toolArguments"]);
  });

  it("sends signed and encrypted thoughts, and arguments, back byte for byte to the model that wrote them", async () => {
    // What a parser would change: a number's zeros, an integer beyond 2^53, spaces, a key that looks like an index, an escape, one key twice.
    const argumentsJson = '{ "pattern" : "\\u00e9" , "n": 1.50, "big": 12345678901234567890, "2": 0, "1": 0, "n": 2 }';
    const signature = "EqQBCkgIBRABGAIiQL+/==";
    server.enqueue(
      streamReply([
        messageStart(),
        thinkingBlock(0, "hm \u{1f600}", signature),
        redactedBlock(1, "ZW5jcnlwdGVk"),
        toolBlock(2, "toolu_1", "tools__search", argumentsJson),
        messageEnd("tool_use"),
      ]),
      streamReply([anthropicText("done")]),
      streamReply([anthropicText("done")]),
    );
    const first = await run();
    const answer = joined(first.completed.parts);
    const messages = [user("hi"), answer, resultsOf(answer)];
    await run(callOf(MODEL, messages));
    const sent = server.requests[1]?.bodyText ?? "";
    expect(sent).toContain(`"input":${argumentsJson}`);
    expect(server.requests[1]?.body.messages).toMatchObject([
      { role: "user" },
      {
        role: "assistant",
        content: [
          { type: "thinking", thinking: "hm \u{1f600}", signature },
          { type: "redacted_thinking", data: "ZW5jcnlwdGVk" },
          { type: "tool_use", id: "toolu_1", name: "tools__search" },
        ],
      },
      { role: "user", content: [{ type: "tool_result", tool_use_id: "toolu_1", content: "found" }] },
    ]);
    await run(callOf("anthropic/claude-opus-4-5", messages));
    const toAnother = server.requests[2]?.bodyText ?? "";
    expect(toAnother).not.toMatch(/thinking|EqQBCkgIBRABGAIiQL|ZW5jcnlwdGVk/);
    expect(toAnother).toContain(`"input":${argumentsJson}`);
  });

  it("lets a call whose arguments were no object not spoil the next request", async () => {
    server.enqueue(
      streamReply([messageStart(), toolBlock(0, "toolu_1", "tools__search", '{"pattern":"lo'), messageEnd("max_tokens")]),
      streamReply([anthropicText("I see.")]),
    );
    const first = await run();
    expect(first.kinds).toMatchObject([{ case: "toolCall", value: { argumentsJson: '{"pattern":"lo' } }]);
    expect(first.completed.finishReason).toBe(FinishReason.LENGTH);
    const answer = joined(first.completed.parts);
    await run(callOf(MODEL, [user("hi"), answer, resultsOf(answer, "cut")]));
    expect(server.requests[1]?.bodyText).toContain('"input":{"invalid_arguments":"{\\"pattern\\":\\"lo"}');
  });

  it("keeps both of two calls that came under one id, and tells them apart when they go back", async () => {
    server.enqueue(
      streamReply([messageStart(), toolBlock(0, "same", "tools__search", '{"a":1}'), toolBlock(1, "same", "tools__search", '{"a":2}'), messageEnd("tool_use")]),
      streamReply([anthropicText("done")]),
    );
    const first = await run();
    expect(first.kinds.map((kind) => kind.case === "toolCall" && kind.value.argumentsJson)).toEqual(['{"a":1}', '{"a":2}']);
    const answer = joined(first.completed.parts);
    await run(callOf(MODEL, [user("hi"), answer, resultsOf(answer)]));
    expect(server.requests[1]?.body.messages).toMatchObject([
      {},
      { content: [{ id: "same" }, { id: "ours-1" }] },
      { content: [{ tool_use_id: "same" }, { tool_use_id: "ours-1" }] },
    ]);
  });

  it("counts tokens from the cache, and those written to it, each at its price", async () => {
    const usage = { input_tokens: 100, output_tokens: 50, cache_read_input_tokens: 1000, cache_creation_input_tokens: 200 };
    server.enqueue(streamReply([messageStart({ ...usage, output_tokens: 1 }), textBlock(0, "a"), messageEnd("end_turn", usage)]));
    const context = callOf(MODEL);
    const price = { input: 3_000_000, cached_input: 300_000, cache_write: 3_750_000, output: 15_000_000 };
    const outcome = await perform({ ANTHROPIC_BASE_URL: server.baseUrl, ANTHROPIC_API_KEY: KEY }, context, {
      models: { [MODEL]: { context_window_tokens: 200_000, price } },
    });
    expect(usageOf(outcome)).toMatchObject({ inputTokens: 1300n, outputTokens: 50n, cachedInputTokens: 1000n, costMicroUsd: 300n + 300n + 750n + 750n });
    expect(completedOf(outcome).contextWindowTokens).toBe(200_000);
  });

  it("reports a refusal as a content filter, and a full window as a cut answer", async () => {
    server.enqueue(
      streamReply([messageStart(), textBlock(0, "I "), messageEnd("refusal")]),
      streamReply([messageStart(), textBlock(0, "I "), messageEnd("model_context_window_exceeded")]),
    );
    expect((await run()).completed.finishReason).toBe(FinishReason.CONTENT_FILTER);
    expect((await run()).completed.finishReason).toBe(FinishReason.LENGTH);
  });

  it("begins every request with the bytes of the one before, breakpoints apart, and sets at most four", async () => {
    const messages = [user("go")];
    const bodies: { text: string; marks: number; indexes: readonly number[] }[] = [];
    for (let round = 0; round < 12; round++) {
      const calls = Array.from({ length: 4 }, (_, index) => toolBlock(index, `toolu_${round}_${index}`, "tools__search", `{"pattern":"${round}"}`));
      server.enqueue(streamReply([messageStart(), ...calls, messageEnd("tool_use")]));
      const { completed, context } = await run(callOf(MODEL, messages));
      const text = server.requests.at(-1)?.bodyText ?? "";
      bodies.push({ text, marks: text.split('"cache_control"').length - 1, indexes: context.starts[0]?.cacheBreakpoints ?? [] });
      const answer = joined(completed.parts);
      for (const [index, part] of answer.parts.entries()) if (part.kind.case === "toolCall") part.kind.value.toolCallId = `ours-${round}-${index}`;
      messages.push(answer, resultsOf(answer));
    }
    const bare = bodies.map(({ text }) => text.replaceAll(',"cache_control":{"type":"ephemeral"}', ""));
    const tail = /\]\}?\],"tools".*$/s;
    for (const [index, body] of bare.slice(1).entries()) {
      const before = (bare[index] as string).replace(tail, "");
      expect(before.length).toBeGreaterThan(100);
      expect(body.startsWith(before)).toBe(true);
    }
    expect(bodies.map(({ marks }) => marks)).toEqual([2, 2, 3, 3, 4, 4, 4, 4, 4, 4, 4, 4]);
    expect(bodies.at(-1)?.indexes).toEqual([0, 16, 20, 23]);
    expect(bodies[1]?.indexes).toEqual([0, 3]);
  });

  it("lets the user say what the system has to add in the midst of a conversation", async () => {
    server.enqueue(streamReply([anthropicText("ok")]));
    const reminder = { role: Role.SYSTEM, parts: [{ kind: { case: "text" as const, value: { text: "Remember." } } }] };
    await run(callOf(MODEL, [user("hi"), reminder]));
    expect(server.requests[0]?.body.messages).toMatchObject([
      { role: "user", content: [{ text: "hi" }, { text: "<system-message>\nRemember.\n</system-message>" }] },
    ]);
  });

  it("tells the schema of the answer where the model takes one, beside its tools", async () => {
    server.enqueue(streamReply([anthropicText("{}")]), streamReply([anthropicText("{}")]));
    const outputSchemaJson = '{"type":"object","properties":{"a":{"type":"string"}},"required":["a"],"additionalProperties":false}';
    const { context } = await run(callOf(MODEL, undefined, { task: { outputSchemaJson } }));
    expect(server.requests[0]?.body).toMatchObject({
      output_config: { format: { type: "json_schema", schema: JSON.parse(outputSchemaJson) } },
      tools: [{ name: "tools__search" }],
    });
    expect(server.requests[0]?.body.tool_choice).toBeUndefined();
    expect(JSON.parse(context.starts[0]?.parametersJson ?? "").output_schema_digest).toMatch(/^[0-9a-f]{64}$/);
    await run(callOf("anthropic/claude-old-1", undefined, { task: { outputSchemaJson } }));
    expect(server.requests[1]?.bodyText).not.toContain("json_schema");
    expect(server.requests[1]?.body.tools).toHaveLength(1);
  });

  it("shows the model a picture and a document", async () => {
    server.enqueue(streamReply([anthropicText("a cat")]));
    const context = callOf(MODEL);
    const png = Uint8Array.from([0x89, 0x50, 0x4e, 0x47]);
    const image = await context.putArtifact(png, "image/png");
    const pdf = await context.putArtifact(new TextEncoder().encode("%PDF-1.4"), "application/pdf");
    const parts = [image, pdf].map((value) => ({ kind: { case: "artifact" as const, value: create(ArtifactRefSchema, value) } }));
    const shown = callOf(MODEL, [{ role: Role.USER, turnId: "turn-1", parts: [...(user("what is it?").parts ?? []), ...parts] }]);
    for (const [sha256, content] of context.artifacts) shown.artifacts.set(sha256, content);
    await run(shown);
    expect(server.requests[0]?.body.messages).toMatchObject([
      {
        content: [
          { type: "text", text: "what is it?" },
          { type: "image", source: { type: "base64", media_type: "image/png", data: Buffer.from(png).toString("base64") } },
          { type: "document", source: { type: "base64", media_type: "application/pdf" } },
        ],
      },
    ]);
  });
});
