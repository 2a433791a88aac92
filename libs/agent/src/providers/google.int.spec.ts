import { create } from "@bufbuild/protobuf";
import { FinishReason } from "@forge/protocol/event";
import { MessageSchema, Role } from "@forge/protocol/session";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { FakeContext } from "../testing/fake-context.ts";
import { GOOGLE_USAGE, googleEvent, googleParts, googleText } from "../testing/google-stream.ts";
import { callOf, completedOf, joined, KEY, perform, resultsOf, tracesOf, usageOf, user } from "../testing/provider-call.ts";
import { startWireServer, streamReply, type WireServer } from "../testing/wire-server.ts";

const MODEL = "google/gemini-3-pro-preview";

let server: WireServer;
beforeEach(async () => {
  server = await startWireServer("/v1beta");
});
afterEach(() => server.close());

async function run(context: FakeContext = callOf(MODEL)) {
  const outcome = await perform({ GEMINI_BASE_URL: server.baseUrl, GEMINI_API_KEY: KEY }, context);
  const completed = completedOf(outcome);
  return { outcome, completed, usage: usageOf(outcome), kinds: completed.parts.map((part) => part.kind), context };
}

describe("over Google's wire format", () => {
  it.each(["google", "gemini"])("sends the request of a %s model, with the key in its header only", async (name) => {
    server.enqueue(streamReply([googleText("hello")]));
    const { kinds, completed, context, outcome } = await run(callOf(`${name}/gemini-2.5-flash`));
    expect(kinds).toMatchObject([{ case: "text", value: { text: "hello" } }]);
    expect(completed.finishReason).toBe(FinishReason.STOP);
    const [request] = server.requests;
    expect(request).toMatchObject({ method: "POST", path: "/v1beta/models/gemini-2.5-flash:streamGenerateContent?alt=sse" });
    expect(request?.headers["x-goog-api-key"]).toBe(KEY);
    expect(request?.bodyText).not.toContain(KEY);
    expect(tracesOf(context, outcome)).not.toContain(KEY);
    expect(request?.body).toMatchObject({
      systemInstruction: { parts: [{ text: "Be brief." }] },
      contents: [{ role: "user", parts: [{ text: "hi" }] }],
      tools: [{ functionDeclarations: [{ name: "tools__search", description: "Searches." }] }],
    });
  });

  it("keeps thoughts, text and calls in order, and the arguments as they were written", async () => {
    const args = '{ "pattern" : "x", "n": 1.50, "big": 12345678901234567890, "2": 0, "1": [1.0, {"args": "no"}] }';
    server.enqueue(
      streamReply([
        googleParts(['{"text":"Let me ","thought":true}']),
        googleParts(['{"text":"think.","thought":true}']),
        googleParts(['{"text":"I will search."}']),
        googleParts([`{"functionCall":{"id":"fc_1","name":"tools__search","args":${args}},"thoughtSignature":"c2ln"}`], "STOP", GOOGLE_USAGE),
      ]),
    );
    const { kinds, completed, context } = await run();
    expect(kinds).toMatchObject([
      { case: "reasoning", value: { text: "Let me think." } },
      { case: "text", value: { text: "I will search." } },
      { case: "toolCall", value: { providerCallId: "fc_1", tool: "tools.search", argumentsJson: args } },
    ]);
    expect(completed.finishReason).toBe(FinishReason.TOOL_CALLS);
    expect(context.deltas.map((delta) => delta.channel.case)).toEqual(["reasoning", "reasoning", "text", "toolArguments"]);
  });

  it("sends signatures and arguments back byte for byte to the model that wrote them, under either of its provider's names, and to no other", async () => {
    const args = '{"pattern": "\\u00e9", "n": 1.50, "big": 12345678901234567890, "2": 0, "1": 0}';
    const signature = "Ci4BVKhc7vT+/x==";
    server.enqueue(
      streamReply([
        googleParts([`{"functionCall":{"id":"fc_1","name":"tools__search","args":${args}},"thoughtSignature":"${signature}"}`], "STOP", GOOGLE_USAGE),
      ]),
      streamReply([googleText("done")]),
      streamReply([googleText("done")]),
    );
    const answer = joined((await run()).completed.parts);
    const messages = [user("hi"), answer, resultsOf(answer)];
    await run(callOf("gemini/gemini-3-pro-preview", messages));
    expect(server.requests[1]?.bodyText).toContain(`"args":${args}`);
    expect(server.requests[1]?.body.contents).toMatchObject([
      { role: "user" },
      { role: "model", parts: [{ functionCall: { id: "fc_1", name: "tools__search" }, thoughtSignature: signature }] },
      { role: "user", parts: [{ functionResponse: { id: "fc_1", name: "tools__search", response: { content: "found" } } }] },
    ]);
    await run(callOf("google/gemini-3.5-flash", messages));
    expect(server.requests[2]?.bodyText).not.toContain(signature);
    expect(server.requests[2]?.bodyText).toContain(`"args":${args}`);
  });

  it("knows calls without arguments, and without an id", async () => {
    server.enqueue(
      streamReply([googleParts(['{"functionCall":{"name":"tools__search"}}', '{"functionCall":{"name":"tools__search","args":{}}}'], "STOP", GOOGLE_USAGE)]),
    );
    const { kinds } = await run();
    expect(kinds).toMatchObject([
      { case: "toolCall", value: { tool: "tools.search", argumentsJson: "{}" } },
      { case: "toolCall", value: { tool: "tools.search", argumentsJson: "{}" } },
    ]);
    const ids = kinds.map((kind) => kind.case === "toolCall" && kind.value.providerCallId);
    expect(new Set(ids).size).toBe(2);
  });

  it("keeps both of two calls that came under one id", async () => {
    const call = (n: number) => `{"functionCall":{"id":"same","name":"tools__search","args":{"n":${n}}}}`;
    server.enqueue(streamReply([googleParts([call(1)]), googleParts([call(2)], "STOP", GOOGLE_USAGE)]));
    expect((await run()).kinds.map((kind) => kind.case === "toolCall" && kind.value.argumentsJson)).toEqual(['{"n":1}', '{"n":2}']);
  });

  it("counts cached and thought tokens, and knows the window", async () => {
    const usage = { promptTokenCount: 1000, candidatesTokenCount: 50, totalTokenCount: 1070, cachedContentTokenCount: 400, thoughtsTokenCount: 20 };
    server.enqueue(streamReply([googleParts(['{"text":"a"}'], "STOP", usage)]));
    const context = callOf("gemini/gemini-2.5-flash");
    const models = { "google/gemini-2.5-flash": { context_window_tokens: 1_048_576, price: { input: 300_000, cached_input: 30_000, output: 2_500_000 } } };
    const outcome = await perform({ GEMINI_BASE_URL: server.baseUrl, GEMINI_API_KEY: KEY }, context, { models });
    expect(usageOf(outcome)).toMatchObject({
      inputTokens: 1000n,
      outputTokens: 70n,
      cachedInputTokens: 400n,
      reasoningTokens: 20n,
      costMicroUsd: 180n + 12n + 175n,
    });
    expect(completedOf(outcome).contextWindowTokens).toBe(1_048_576);
  });

  it.each(["SAFETY", "PROHIBITED_CONTENT"])("reports %s as a content filter", async (reason) => {
    server.enqueue(streamReply([googleParts(['{"text":"I "}'], reason, GOOGLE_USAGE)]));
    expect((await run()).completed.finishReason).toBe(FinishReason.CONTENT_FILTER);
  });

  it("reports a prompt that was blocked before anything was written as a content filter", async () => {
    server.enqueue(
      streamReply([googleEvent('{"promptFeedback":{"blockReason":"PROHIBITED_CONTENT"},"usageMetadata":{"promptTokenCount":4,"totalTokenCount":4}}')]),
    );
    expect((await run()).completed.finishReason).toBe(FinishReason.CONTENT_FILTER);
  });

  it("reads events whose JSON spans lines, in pieces of single bytes", async () => {
    const event =
      'data: {"candidates":[{"content":{"parts":[{"functionCall":\ndata: {"name":"tools__search","args":{"n": 1.50}}}]},\ndata: "finishReason":"STOP"}]}\n\n';
    server.enqueue(streamReply(Array.from(Buffer.from(event), (byte) => Uint8Array.of(byte))));
    expect((await run()).kinds).toMatchObject([{ case: "toolCall", value: { argumentsJson: '{"n": 1.50}' } }]);
  });

  it("tells the schema of the answer, where the model takes one beside its tools", async () => {
    server.enqueue(streamReply([googleText("{}")]), streamReply([googleText("{}")]));
    const outputSchemaJson = '{"type":"object","properties":{"a":{"type":"string"}},"required":["a"]}';
    await run(callOf(MODEL, undefined, { task: { outputSchemaJson } }));
    expect(server.requests[0]?.body.generationConfig).toMatchObject({ responseMimeType: "application/json", responseJsonSchema: JSON.parse(outputSchemaJson) });
    await run(callOf("google/gemini-2.5-flash", undefined, { task: { outputSchemaJson } }));
    expect(server.requests[1]?.bodyText).not.toContain("application/json");
    expect(server.requests[1]?.bodyText).not.toContain("toolConfig");
  });

  it("shows the model a film", async () => {
    server.enqueue(streamReply([googleText("a cat")]));
    const context = callOf(MODEL);
    const value = await context.putArtifact(Uint8Array.of(1, 2, 3), "video/mp4");
    context.conversation.messages.push(create(MessageSchema, { role: Role.USER, turnId: "turn-1", parts: [{ kind: { case: "artifact", value } }] }));
    await run(context);
    expect(server.requests[0]?.body.contents).toMatchObject([{}, { role: "user", parts: [{ inlineData: { mimeType: "video/mp4", data: "AQID" } }] }]);
  });
});
