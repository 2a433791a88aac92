import { FinishReason } from "@forge/protocol/event";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { FakeContext } from "../testing/fake-context.ts";
import { event, finish, textAnswer } from "../testing/openai-stream.ts";
import { callOf, completedOf, joined, perform, resultsOf, user } from "../testing/provider-call.ts";
import { startWireServer, streamReply, type WireServer } from "../testing/wire-server.ts";

const MODEL = "ollama/qwen3:8b";

let server: WireServer;
beforeEach(async () => {
  server = await startWireServer("/v1");
});
afterEach(() => server.close());

async function run(context: FakeContext = callOf(MODEL)) {
  const completed = completedOf(await perform({ OLLAMA_BASE_URL: server.baseUrl }, context));
  return { completed, kinds: completed.parts.map((part) => part.kind), context };
}

/** As Ollama writes its pieces: thoughts under `reasoning`, a call whole in one piece. */
const piece = (delta: object, finishReason: string | null = null) =>
  event({ id: "chatcmpl-1", object: "chat.completion.chunk", created: 1, model: "qwen3:8b", choices: [{ index: 0, delta, finish_reason: finishReason }] });

describe("over Ollama's wire format", () => {
  it("needs no key, and keeps thoughts and calls", async () => {
    const call = { index: 0, id: "call_x", type: "function", function: { name: "tools__search", arguments: '{"pattern":"a"}' } };
    server.enqueue(streamReply([piece({ role: "assistant", content: "", reasoning: "hm" }), piece({ content: "", tool_calls: [call] }), finish("tool_calls")]));
    const { kinds, completed } = await run();
    expect(kinds).toMatchObject([
      { case: "reasoning", value: { text: "hm" } },
      { case: "toolCall", value: { providerCallId: "call_x", tool: "tools.search", argumentsJson: '{"pattern":"a"}' } },
    ]);
    expect(completed.finishReason).toBe(FinishReason.TOOL_CALLS);
    expect(server.requests[0]?.headers.authorization).toBeUndefined();
    expect(server.requests[0]).toMatchObject({ path: "/v1/chat/completions", body: { model: "qwen3:8b" } });
  });

  it("sends arguments back as they were, but never what it would refuse the whole request for", async () => {
    const call = (index: number, id: string, text: string) => ({ index, id, type: "function", function: { name: "tools__search", arguments: text } });
    server.enqueue(
      streamReply([piece({ tool_calls: [call(0, "a", '{ "n": 1.50 }'), call(1, "b", "not json")] }), finish("tool_calls")]),
      streamReply([textAnswer("done")]),
    );
    const answer = joined((await run()).completed.parts);
    await run(callOf(MODEL, [user("hi"), answer, resultsOf(answer)]));
    expect(server.requests[1]?.body.messages).toMatchObject([
      {},
      {},
      { tool_calls: [{ function: { arguments: '{ "n": 1.50 }' } }, { function: { arguments: '{"invalid_arguments":"not json"}' } }] },
      { role: "tool" },
      { role: "tool" },
    ]);
  });

  it("is told the schema of the answer where it has no tools to choose from", async () => {
    server.enqueue(streamReply([textAnswer("{}")]));
    const context = callOf(MODEL, undefined, { task: { outputSchemaJson: '{"type":"object"}' } });
    context.conversation.tools.splice(0);
    await run(context);
    expect(server.requests[0]?.body.response_format).toMatchObject({
      type: "json_schema",
      json_schema: { name: "answer", schema: { type: "object" }, strict: false },
    });
  });
});
