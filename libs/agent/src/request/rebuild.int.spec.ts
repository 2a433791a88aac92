import { create, type MessageInitShape } from "@bufbuild/protobuf";
import { foldConversation } from "@forge/domain";
import { type Event, EventSchema } from "@forge/protocol/event";
import { ReadConversationResponseSchema, Role } from "@forge/protocol/session";
import { ModelTaskSchema } from "@forge/protocol/worker";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createAnthropicProvider } from "../providers/anthropic.ts";
import { createGoogleProvider } from "../providers/google.ts";
import { anthropicText, messageEnd, messageStart, redactedBlock, textBlock, thinkingBlock, toolBlock } from "../testing/anthropic-stream.ts";
import { createFakeContext } from "../testing/fake-context.ts";
import { GOOGLE_USAGE, googleParts, googleText } from "../testing/google-stream.ts";
import { completedOf, KEY, perform } from "../testing/provider-call.ts";
import { startWireServer, streamReply, type WireServer } from "../testing/wire-server.ts";
import { assembleRequest } from "./assemble.ts";
import { readDialect } from "./dialect.ts";
import { loadFiles } from "./files.ts";
import { inlineArtifacts } from "./inline-artifacts.ts";

const TURN = "turn-1";
const TOOLS = [{ name: "tools.search", description: "Searches.", inputSchemaJson: '{"type":"object","properties":{"pattern":{"type":"string"}}}' }];
const AGENT = { system: "Be brief.", temperature: 0.5, outputSchemaJson: '{"type":"object","properties":{},"additionalProperties":false}' };

let server: WireServer;
beforeEach(async () => {
  server = await startWireServer("/v1");
});
afterEach(() => server.close());

/** A session's stream, as far as model calls have to do with it. */
class Stream {
  readonly events: Event[] = [];
  readonly artifacts = new Map<string, Uint8Array>();

  add(payload: MessageInitShape<typeof EventSchema>["payload"], ids: { turnId?: string; toolCallId?: string } = { turnId: TURN }): void {
    this.events.push(create(EventSchema, { seq: BigInt(this.events.length + 1), ...ids, payload }));
  }

  /** The facts of one model call, out of the events alone: where the model was asked, and what was recorded of it. */
  callAt(startedIndex: number) {
    const started = this.events[startedIndex]?.payload;
    const before = this.events.slice(0, startedIndex);
    const requested = before.findLast((event) => event.payload.case === "modelRequested")?.payload;
    const created = before.find((event) => event.payload.case === "sessionCreated")?.payload;
    const turn = before.findLast((event) => event.payload.case === "turnStarted")?.payload;
    if (started?.case !== "modelStarted" || requested?.case !== "modelRequested" || created?.case !== "sessionCreated" || turn?.case !== "turnStarted")
      throw new Error("No call is recorded there.");
    const { model, conversationThroughSeq } = requested.value;
    const messages = foldConversation(
      before.filter(({ seq }) => seq <= conversationThroughSeq),
      { turnId: TURN },
    );
    const { system = "", temperature, outputSchemaJson } = created.value.agent ?? {};
    const conversation = create(ReadConversationResponseSchema, { messages, system, tools: turn.value.tools });
    const task = create(ModelTaskSchema, { model, temperature, outputSchemaJson, turnId: TURN, conversationThroughSeq });
    return { started: started.value, conversation, task };
  }

  getArtifact = (sha256: string): Promise<Uint8Array> => Promise.resolve(this.artifacts.get(sha256) as Uint8Array);
}

/** Performs one model call as the executor does, and records what came of it as the control plane does. */
async function call(stream: Stream, model: string, env: Record<string, string>): Promise<number> {
  const throughSeq = BigInt(stream.events.length);
  stream.add({ case: "modelRequested", value: { model, conversationThroughSeq: throughSeq } });
  const messages = foldConversation(stream.events, { turnId: TURN });
  const task = { model, temperature: AGENT.temperature, outputSchemaJson: AGENT.outputSchemaJson, turnId: TURN };
  const context = createFakeContext({ task, conversation: { messages, system: AGENT.system, tools: TOOLS } });
  for (const [sha256, content] of stream.artifacts) context.artifacts.set(sha256, content);
  const completed = completedOf(
    await perform(env, context, { models: { [model]: { structured_output: "always", reasoning: "low", max_output_tokens: 9_000 } } }),
  );
  for (const [sha256, content] of context.artifacts) stream.artifacts.set(sha256, content);
  const startedIndex = stream.events.length;
  stream.add({ case: "modelStarted", value: context.starts[0] as NonNullable<(typeof context.starts)[0]> });
  for (const [index, part] of completed.parts.entries()) if (part.kind.case === "toolCall") part.kind.value.toolCallId = `ours-${startedIndex}-${index}`;
  stream.add({ case: "modelCompleted", value: completed });
  for (const part of completed.parts) {
    if (part.kind.case !== "toolCall") continue;
    const { toolCallId, tool, argumentsJson } = part.kind.value;
    stream.add({ case: "toolRequested", value: { tool, argumentsJson } }, { turnId: TURN, toolCallId });
    stream.add({ case: "toolCompleted", value: { output: { kind: { case: "json", value: '{"found":1.50}' } } } }, { turnId: TURN, toolCallId });
  }
  return startedIndex;
}

const WIRES = [
  {
    model: "anthropic/claude-sonnet-4-5",
    env: (url: string) => ({ ANTHROPIC_BASE_URL: url, ANTHROPIC_API_KEY: KEY }),
    provider: (baseUrl: string) => createAnthropicProvider({ baseUrl, apiKey: KEY, listPrices: false }),
    answer: [
      messageStart(),
      thinkingBlock(0, "hm", "c2ln"),
      redactedBlock(1, "ZW5j"),
      textBlock(2, "x".repeat(70_000)),
      toolBlock(3, "same", "tools__search", '{"n": 1.50}'),
      toolBlock(4, "same", "tools__search", "{bad"),
      messageEnd("tool_use"),
    ],
    end: anthropicText("{}"),
  },
  {
    model: "gemini/gemini-3-pro-preview",
    env: (url: string) => ({ GEMINI_BASE_URL: url, GEMINI_API_KEY: KEY }),
    provider: (baseUrl: string) => createGoogleProvider({ name: "gemini", baseUrl, apiKey: KEY, listPrices: false }),
    answer: [
      googleParts(['{"text":"hm","thought":true,"thoughtSignature":"c2ln"}', JSON.stringify({ text: "x".repeat(70_000) })]),
      googleParts(['{"functionCall":{"name":"tools__search","args":{"n": 1.50}},"thoughtSignature":"c2lnMg=="}'], "STOP", GOOGLE_USAGE),
    ],
    end: googleText("{}"),
  },
] as const;

describe.each(WIRES)("the requests of a turn with $model", ({ model, env, provider, answer, end }) => {
  it("are rebuilt from the session's events alone, to the byte", async () => {
    const stream = new Stream();
    const image = await createFakeContext().putArtifact(Uint8Array.of(1, 2, 3), "image/png");
    stream.artifacts.set(image.sha256, Uint8Array.of(1, 2, 3));
    stream.add({ case: "sessionCreated", value: { agent: { model, ...AGENT } } }, {});
    stream.add({ case: "turnStarted", value: { tools: TOOLS } });
    stream.add({
      case: "messageAdded",
      value: { message: { role: Role.USER, ephemeral: true, parts: [{ kind: { case: "text", value: { text: "rules" } } }] } },
    });
    const parts = [{ kind: { case: "text" as const, value: { text: "what is it?" } } }, { kind: { case: "artifact" as const, value: image } }];
    stream.add({ case: "messageAdded", value: { message: { role: Role.USER, parts } } });
    server.enqueue(streamReply(answer), streamReply([end]));
    const calls = [await call(stream, model, env(server.baseUrl)), await call(stream, model, env(server.baseUrl))];
    const sent = server.requests.map(({ bodyText }) => bodyText);
    for (const [index, startedIndex] of calls.entries()) {
      const { started, conversation, task } = stream.callAt(startedIndex);
      const dialect = readDialect(started.parametersJson);
      const inlined = await inlineArtifacts(conversation, stream.getArtifact);
      const files = await loadFiles(inlined, { model, inputs: dialect.inputs, turnId: TURN }, stream.getArtifact);
      const rebuilt = assembleRequest(inlined, task, { dialect, files });
      expect(rebuilt).toMatchObject({
        requestDigest: started.requestDigest,
        toolCatalogueDigest: started.toolCatalogueDigest,
        parametersJson: started.parametersJson,
      });
      expect([rebuilt.messageDigests, rebuilt.cacheBreakpoints]).toEqual([started.partDigests, started.cacheBreakpoints]);
      server.enqueue(streamReply([end]));
      const { stream: again } = await provider(server.baseUrl).languageModel(rebuilt.modelId, { failedAttempts: 0 }).doStream(rebuilt.options);
      await again.cancel();
      expect(server.requests.at(-1)?.bodyText).toBe(sent[index]);
    }
    expect(new Set(sent).size).toBe(2);
  });
});
