import { delta, finish, type OpenAiServer, startOpenAiServer, statusReply, streamReply, textAnswer, toolCallAnswer } from "@forge/agent/testing";
import type { ConnectClient } from "@forge/client";
import { TurnOutcome } from "@forge/protocol/session";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Cluster, startCluster } from "../harness/cluster.ts";
import { createSession, factsOf, kindsOf, startTurn, turnEnded } from "../harness/work.ts";

const KEY = "test-key-do-not-show";

let provider: OpenAiServer;
let cluster: Cluster;
let client: ConnectClient;
beforeAll(async () => {
  provider = await startOpenAiServer();
  cluster = await startCluster({ environment: { OPENAI_BASE_URL: provider.baseUrl, OPENAI_API_KEY: KEY } });
  client = cluster.client;
});
afterAll(async () => {
  await cluster?.close();
  await provider?.close();
});

async function turn(text = "hello") {
  const sessionId = await createSession(client, { agent: { model: "openai/test-model" } });
  const turnId = await startTurn(client, sessionId, text);
  const events = await turnEnded(client, sessionId, turnId);
  expect(await cluster.inspector.violations({ id: sessionId, kind: "session" }, true)).toStrictEqual([]);
  return { events, end: events.at(-1)?.payload };
}

describe("a model provider", () => {
  it("that asks to come back later is asked again after that time, within the one turn", async () => {
    provider.enqueue(statusReply(429, { error: { message: "slow down" } }, { "retry-after": "1" }), streamReply([textAnswer("Here I am.")]));
    const { events, end } = await turn();
    expect(factsOf(events).filter((kind) => kind.startsWith("model.") || kind.startsWith("turn."))).toStrictEqual([
      "turn.started",
      "turn.checkpointed",
      "turn.checkpointed",
      "model.requested",
      "model.started",
      "model.attempt_failed",
      "model.started",
      "model.completed",
      "model.usage_recorded",
      "turn.completed",
    ]);
    expect(end).toMatchObject({ case: "turnCompleted", value: { outcome: TurnOutcome.TASK_COMPLETED, textPreview: "Here I am." } });
    const failed = events.find((event) => event.payload.case === "modelAttemptFailed");
    const startedAgain = events.findLast((event) => event.kind === "model.started");
    expect(Number(startedAgain?.occurredAt?.seconds) - Number(failed?.occurredAt?.seconds)).toBeGreaterThanOrEqual(1);
  });

  it("whose stream breaks off fails the turn, and is not asked again", async () => {
    const before = provider.requests.length;
    provider.enqueue(streamReply([delta({ role: "assistant", content: "" }), delta({ content: "Half an ans" })], "reset"));
    const { events, end } = await turn();
    expect(end).toMatchObject({ case: "turnFailed", value: { outcome: TurnOutcome.TASK_FAILED } });
    expect(kindsOf(events)).toContain("model.failed");
    expect(provider.requests.length - before).toBe(1);
  });

  it("whose tool call is cut by the length never has it executed, and the model is told", async () => {
    const cut = { index: 0, id: "call_cut", type: "function" as const, function: { name: "test__append", arguments: '{"delays":{}' } };
    provider.enqueue(streamReply([delta({ role: "assistant", tool_calls: [cut] }), finish("length")]), streamReply([textAnswer("I see.")]));
    const { events } = await turn();
    const calls = events.filter((event) => event.toolCallId !== "");
    expect(kindsOf(calls)).toStrictEqual(["tool.requested", "tool.failed"]);
    expect(calls.at(-1)?.payload).toMatchObject({ case: "toolFailed", value: { error: { reason: "ARGUMENTS_CUT" } } });
    expect(await cluster.effects()).toStrictEqual(new Map());
    expect(provider.requests.at(-1)?.bodyText).toMatch(/was not executed/);
  });

  it("that calls a tool gets its result, and no secret is anywhere in the events", async () => {
    provider.enqueue(streamReply([toolCallAnswer("call_1", "test__append", "{}")]), streamReply([textAnswer("Done.")]));
    const { events, end } = await turn();
    expect(end).toMatchObject({ case: "turnCompleted", value: { textPreview: "Done." } });
    const callId = events.find((event) => event.kind === "tool.completed")?.toolCallId as string;
    expect((await cluster.effects()).get(callId)).toBe(1);
    expect(JSON.stringify(provider.requests.at(-1)?.body)).toContain(callId);
    expect(provider.requests.at(-1)?.headers.authorization).toBe(`Bearer ${KEY}`);
    expect(JSON.stringify(events, (_, value: unknown) => (typeof value === "bigint" ? String(value) : value))).not.toContain(KEY);
  });
});
