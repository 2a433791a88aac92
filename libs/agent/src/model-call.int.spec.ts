import { create } from "@bufbuild/protobuf";
import { FinishReason } from "@forge/protocol/event";
import { MessageSchema, Role } from "@forge/protocol/session";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { delta, event, finish, type OpenAiServer, startOpenAiServer, streamReply, textAnswer, toolCallAnswer } from "./testing/index.ts";
import { completedOf, contextWith, KEY, runAt, user } from "./testing/openai-call.ts";
import { callOf, joined, perform, usageOf } from "./testing/provider-call.ts";

let server: OpenAiServer;

beforeEach(async () => {
  server = await startOpenAiServer();
});

afterEach(() => server.close());

async function answered(context = contextWith()) {
  const outcome = await runAt(server.baseUrl, context);
  const completed = completedOf(outcome);
  const usage = outcome.case === "model" ? outcome.value.usage : undefined;
  return { completed, usage, kinds: completed.parts.map((part) => part.kind), context };
}

describe("over the OpenAI wire format", () => {
  it("sends the request that was recorded, with the key in its header only", async () => {
    server.enqueue(streamReply([textAnswer("hello")]));
    const { kinds, completed } = await answered();
    expect(kinds).toMatchObject([{ case: "text", value: { text: "hello" } }]);
    expect(completed).toMatchObject({ finishReason: FinishReason.STOP, providerModel: "test-model-2024" });
    const [request] = server.requests;
    expect(request?.headers.authorization).toBe(`Bearer ${KEY}`);
    expect(request?.bodyText).not.toContain(KEY);
    expect(request?.body).toEqual({
      model: "test-model",
      messages: [
        { role: "system", content: "Be brief." },
        { role: "user", content: "hi" },
      ],
      tools: [
        {
          type: "function",
          function: { name: "tools__search", description: "Searches.", parameters: { type: "object", properties: { pattern: { type: "string" } } } },
        },
      ],
      stream: true,
      stream_options: { include_usage: true },
    });
  });

  it("sends the same bytes for the same conversation", async () => {
    server.enqueue(streamReply([textAnswer("a")]), streamReply([textAnswer("b")]));
    const first = await answered();
    const second = await answered();
    expect(server.requests[1]?.bodyText).toBe(server.requests[0]?.bodyText);
    expect(second.context.starts[0]?.requestDigest).toBe(first.context.starts[0]?.requestDigest);
  });

  it.each(["\n", "\r\n"])("reads characters and line ends split over chunks, lines ending in %j", async (newline) => {
    const stream = delta({ content: "größer 漢字 " }, null, newline) + delta({ content: "\u{1f600}!" }, null, newline) + finish("stop", undefined, newline);
    server.enqueue(streamReply(Array.from(Buffer.from(stream), (byte) => Uint8Array.of(byte))));
    const { kinds, context } = await answered();
    expect(kinds).toMatchObject([{ case: "text", value: { text: "größer 漢字 \u{1f600}!" } }]);
    expect(context.deltas.map((piece) => [Number(piece.offset), piece.channel.value])).toEqual([
      [0, "größer 漢字 "],
      [10, "\u{1f600}!"],
    ]);
  });

  it("puts a surrogate pair together that the server split over events", async () => {
    server.enqueue(
      streamReply([
        event('{"choices":[{"index":0,"delta":{"content":"a\\ud83d"}}]}'),
        event('{"choices":[{"index":0,"delta":{"content":"\\ude00b"}}]}'),
        finish("stop"),
      ]),
    );
    const { kinds, context } = await answered();
    expect(kinds).toMatchObject([{ case: "text", value: { text: "a\u{1f600}b" } }]);
    expect(context.deltas.map((piece) => piece.channel.value)).toEqual(["a", "\u{1f600}b"]);
  });

  it("puts the fragments of two calls' arguments together and knows the tools by their own names", async () => {
    const start = (index: number, id: string, name: string) => delta({ tool_calls: [{ index, id, type: "function", function: { name, arguments: "" } }] });
    const more = (index: number, text: string) => delta({ tool_calls: [{ index, function: { arguments: text } }] });
    server.enqueue(
      streamReply([
        delta({ content: "Let me see." }),
        start(0, "call_a", "tools__search"),
        more(0, '{"patt'),
        start(1, "call_b", "unknown_tool"),
        more(1, '{ "n": 1'),
        more(0, 'ern":"x"}'),
        more(1, ".50 }"),
        finish("tool_calls"),
      ]),
    );
    const { kinds, completed } = await answered();
    expect(kinds).toMatchObject([
      { case: "text", value: { text: "Let me see." } },
      { case: "toolCall", value: { toolCallId: "", providerCallId: "call_a", tool: "tools.search", argumentsJson: '{"pattern":"x"}' } },
      { case: "toolCall", value: { toolCallId: "", providerCallId: "call_b", tool: "unknown_tool", argumentsJson: '{ "n": 1.50 }' } },
    ]);
    expect(completed.finishReason).toBe(FinishReason.TOOL_CALLS);
  });

  it("keeps both of two calls that the provider gave one id", async () => {
    const call = (index: number, text: string) => ({ index, id: "same", type: "function" as const, function: { name: "tools__search", arguments: text } });
    server.enqueue(streamReply([delta({ tool_calls: [call(0, '{"pattern":"a"}'), call(1, '{"pattern":"b"}')] }), finish("tool_calls")]));
    const { kinds } = await answered();
    expect(kinds.map((kind) => kind.case === "toolCall" && kind.value.argumentsJson)).toEqual(['{"pattern":"a"}', '{"pattern":"b"}']);
  });

  it("keeps arguments that a length stop cut as they are, and says why", async () => {
    const call = { index: 0, id: "call_a", type: "function" as const, function: { name: "tools__search", arguments: '{"pattern":"lo' } };
    server.enqueue(streamReply([delta({ tool_calls: [call] }), finish("length")]));
    const { kinds, completed } = await answered();
    expect(kinds).toMatchObject([{ case: "toolCall", value: { argumentsJson: '{"pattern":"lo' } }]);
    expect(completed.finishReason).toBe(FinishReason.LENGTH);
  });

  it("reports a content filter", async () => {
    server.enqueue(streamReply([delta({ content: "I " }), finish("content_filter")]));
    expect((await answered()).completed.finishReason).toBe(FinishReason.CONTENT_FILTER);
  });

  it("takes the usage from the last chunk, with cached and reasoning tokens and their cost", async () => {
    const counted = {
      prompt_tokens: 1000,
      completion_tokens: 50,
      prompt_tokens_details: { cached_tokens: 400 },
      completion_tokens_details: { reasoning_tokens: 20 },
    };
    server.enqueue(streamReply([delta({ content: "a" }), finish("stop", counted)]));
    const { usage } = await answered();
    expect(usage).toMatchObject({ inputTokens: 1000n, outputTokens: 50n, cachedInputTokens: 400n, reasoningTokens: 20n, costMicroUsd: 600n + 40n + 500n });
  });

  it("knows no cost where the server counts nothing", async () => {
    server.enqueue(streamReply([delta({ content: "a" }) + delta({}, "stop") + event("[DONE]")]));
    const { usage } = await answered();
    expect(usage?.inputTokens).toBe(0n);
    expect(usage?.costMicroUsd).toBeUndefined();
  });

  it("keeps reasoning as a part of its own and sends it back to the model that wrote it", async () => {
    server.enqueue(
      streamReply([delta({ reasoning_content: "Let me " }), delta({ reasoning_content: "think." }), delta({ content: "Yes." }), finish("stop")]),
      streamReply([textAnswer("b")]),
    );
    const first = await answered();
    expect(first.kinds).toMatchObject([
      { case: "reasoning", value: { text: "Let me think." } },
      { case: "text", value: { text: "Yes." } },
    ]);
    expect(first.context.deltas.map((piece) => [piece.channel.case, Number(piece.offset)])).toEqual([
      ["reasoning", 0],
      ["reasoning", 7],
      ["text", 0],
    ]);
    await answered(contextWith([user("hi"), joined(first.completed.parts), user("again")]));
    expect(server.requests[1]?.body.messages).toContainEqual({ role: "assistant", content: "Yes.", reasoning_content: "Let me think." });
  });

  it("sends a provider's own metadata of a call back to it", async () => {
    const call = {
      index: 0,
      id: "call_a",
      type: "function",
      function: { name: "tools__search", arguments: "{}" },
      extra_content: { google: { thought_signature: "sig" } },
    };
    server.enqueue(streamReply([event({ choices: [{ index: 0, delta: { tool_calls: [call] } }] }), finish("tool_calls")]), streamReply([textAnswer("b")]));
    const { completed } = await answered();
    await answered(contextWith([user("hi"), joined(completed.parts)]));
    expect(server.requests[1]?.bodyText).toContain('"extra_content":{"google":{"thought_signature":"sig"}}');
  });

  it("sends a call and its result as the wire requires, the arguments byte for byte", async () => {
    server.enqueue(streamReply([toolCallAnswer("call_a", "tools__search", '{ "pattern" : 1.0 }')]), streamReply([textAnswer("done")]));
    const { completed } = await answered();
    const result = {
      case: "toolResult" as const,
      value: { toolCallId: "ours-0", providerCallId: "call_a", tool: "tools.search", output: "denied", isError: true },
    };
    await answered(contextWith([user("hi"), joined(completed.parts), { role: Role.TOOL, parts: [{ kind: result }] }]));
    expect(server.requests[1]?.body.messages).toEqual([
      { role: "system", content: "Be brief." },
      { role: "user", content: "hi" },
      {
        role: "assistant",
        content: null,
        tool_calls: [{ id: "call_a", type: "function", function: { name: "tools__search", arguments: '{ "pattern" : 1.0 }' } }],
      },
      { role: "tool", tool_call_id: "call_a", content: "denied" },
    ]);
  });

  it("shows the model a picture", async () => {
    server.enqueue(streamReply([textAnswer("a cat")]));
    const context = contextWith();
    const value = await context.putArtifact(Uint8Array.of(1, 2, 3), "image/png");
    context.conversation.messages.push(create(MessageSchema, { role: Role.USER, turnId: "turn-1", parts: [{ kind: { case: "artifact", value } }] }));
    await answered(context);
    expect(server.requests[0]?.body.messages).toMatchObject([
      {},
      {},
      { role: "user", content: [{ type: "image_url", image_url: { url: "data:image/png;base64,AQID" } }] },
    ]);
  });

  it("is not told the answer's schema where nobody knows whether the server takes one, and is where that is known", async () => {
    server.enqueue(streamReply([textAnswer("{}")]), streamReply([textAnswer("{}")]));
    const context = () => callOf("openai/test-model", [user("hi")], { task: { outputSchemaJson: '{"type":"object"}' } });
    await runAt(server.baseUrl, context());
    expect(server.requests[0]?.body.response_format).toBeUndefined();
    const models = { "openai/test-model": { structured_output: "always" as const } };
    completedOf(await perform({ OPENAI_BASE_URL: server.baseUrl }, context(), { models }));
    expect(server.requests[1]?.body.response_format).toEqual({
      type: "json_schema",
      json_schema: { name: "answer", schema: { type: "object" }, strict: false },
    });
  });

  it("knows a listed model's window wherever it is served, and its price only at its own provider", async () => {
    server.enqueue(streamReply([delta({ content: "a" }), finish("stop", { prompt_tokens: 10, completion_tokens: 5 })]));
    const outcome = await perform({ OPENAI_BASE_URL: server.baseUrl }, callOf("openai/gpt-5"));
    expect(completedOf(outcome).contextWindowTokens).toBe(272_000);
    expect(usageOf(outcome)?.inputTokens).toBe(10n);
    expect(usageOf(outcome)?.costMicroUsd).toBeUndefined();
  });
});
