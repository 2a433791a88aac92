import { create } from "@bufbuild/protobuf";
import { MessageSchema, type ReadConversationRequest, ReadConversationResponseSchema, Role } from "@forge/protocol/session";
import { ToolSpecSchema } from "@forge/protocol/tool";
import { ModelTaskSchema } from "@forge/protocol/worker";
import type { TaskContext } from "@forge/worker";
import { describe, expect, it } from "vitest";
import { ConversationCache } from "./conversation-cache.ts";

const said = [
  { seq: 3n, turnId: "a", text: "one", ephemeral: false },
  { seq: 4n, turnId: "a", text: "hint", ephemeral: true },
  { seq: 8n, turnId: "a", text: "two", ephemeral: false },
  { seq: 12n, turnId: "b", text: "three", ephemeral: false },
];

/** A conversation of which each read is noted. */
function conversation() {
  const reads: [bigint, bigint][] = [];
  const context = {
    readConversation: async ({ afterSeq, throughSeq, turnId }: ReadConversationRequest) => {
      reads.push([afterSeq, throughSeq]);
      const messages = said
        .filter((message) => message.seq > afterSeq && message.seq <= throughSeq && (!message.ephemeral || message.turnId === turnId))
        .map(({ text, ...rest }) => create(MessageSchema, { ...rest, role: Role.USER, parts: [{ kind: { case: "text", value: { text } } }] }));
      const starts = turnId === "a" ? 2n : 11n;
      const tools = afterSeq < starts ? [create(ToolSpecSchema, { name: `tool-of-${turnId}` })] : [];
      return create(ReadConversationResponseSchema, { messages, system: "be brief", tools, throughSeq });
    },
    getArtifact: () => Promise.reject(new Error("no artifact here")),
  } as unknown as TaskContext;
  return { reads, context };
}

const task = (turnId: string, conversationThroughSeq: bigint) => create(ModelTaskSchema, { sessionId: "s", turnId, conversationThroughSeq });

const texts = (messages: readonly { parts: readonly { kind: { case?: string; value?: unknown } }[] }[]) =>
  messages.map((message) => (message.parts[0]?.kind.value as { text: string } | undefined)?.text);

describe("ConversationCache", () => {
  it("reads only what was said since the last call, and keeps the turn's tools", async () => {
    const { reads, context } = conversation();
    const cache = new ConversationCache();
    await cache.read(context, task("a", 4n));
    const second = await cache.read(context, task("a", 8n));
    expect(reads).toEqual([
      [0n, 4n],
      [4n, 8n],
    ]);
    expect(texts(second.messages)).toEqual(["one", "hint", "two"]);
    expect(second.tools.map((tool) => tool.name)).toEqual(["tool-of-a"]);
  });

  it("leaves another turn's ephemeral messages out and takes the new turn's tools", async () => {
    const { context } = conversation();
    const cache = new ConversationCache();
    await cache.read(context, task("a", 8n));
    const next = await cache.read(context, task("b", 12n));
    expect(texts(next.messages)).toEqual(["one", "two", "three"]);
    expect(next.tools.map((tool) => tool.name)).toEqual(["tool-of-b"]);
  });

  it("answers the same as a fresh read, also for an earlier seq", async () => {
    const { context } = conversation();
    const cache = new ConversationCache();
    await cache.read(context, task("b", 12n));
    const earlier = await cache.read(context, task("a", 4n));
    expect(earlier).toEqual(await new ConversationCache().read(context, task("a", 4n)));
  });
});
