import { create, type MessageInitShape } from "@bufbuild/protobuf";
import { type ConnectClient, commandHeader, createConnectClient, withRetry } from "@forge/client";
import { ForgeError } from "@forge/protocol";
import { ErrorCode, UsageSchema } from "@forge/protocol/common";
import { type Event, FinishReason, HookEditSchema, ModelCompletedSchema, ModelStartedSchema } from "@forge/protocol/event";
import { HookAt, type Message, type Part, PartSchema, ReadConversationRequestSchema, RoleSchema, SubAgentHistory } from "@forge/protocol/session";
import { ToolMode } from "@forge/protocol/tool";
import { CapabilityKind, CapabilitySchema, CompactionResultSchema, HookResultSchema, ModelResultSchema, TaskCancelledSchema } from "@forge/protocol/worker";
import { type Outcome, startWorker, type TaskContext, type TaskHandler, type Worker } from "@forge/worker";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { type Cluster, startCluster } from "../harness/cluster.ts";
import { eventsUntil, factsOf, say, sessionStream, turnEnded } from "../harness/work.ts";

/** What the model of these tests was sent, and what it answers: the test says. */
interface Asked {
  readonly model: string;
  readonly lines: readonly string[];
  readonly signal: AbortSignal;
  /** As it was read, to be read again later. */
  readonly request: { readonly sessionId: string; readonly turnId: string; readonly throughSeq: bigint };
}
type Answer = (asked: Asked) => Promise<Part[]> | Part[];

const asked: Asked[] = [];
let answer: Answer = () => [];
let edit: (view: { readonly hook: string; readonly lines: readonly string[] }) => MessageInitShape<typeof HookEditSchema>["kind"][] = () => [];

let cluster: Cluster;
let client: ConnectClient;
let port: ConnectClient;
let worker: Worker;
beforeAll(async () => {
  cluster = await startCluster({ executors: 0 });
  client = cluster.client;
  port = createConnectClient({ url: cluster.urls[0] as string, token: cluster.workerToken });
  worker = await withRetry(() =>
    startWorker({
      port,
      name: "loop",
      queues: ["default"],
      handlers: [model, hook("guard"), hook("audit")],
      slots: 8,
      onProblem: () => undefined,
    }),
  );
});
/** What any model call was sent can be read again, whatever has become of the conversation since. */
afterEach(async () => {
  for (const { lines, request } of asked) expect(linesOf((await client.session.readConversation(request)).messages)).toStrictEqual(lines);
  asked.length = 0;
});
afterAll(async () => {
  await worker?.stop();
  await port?.close();
  await cluster?.close();
});

const text = (words: string): Part => create(PartSchema, { kind: { case: "text", value: { text: words } } });
const call = (tool: string, args: object): Part =>
  create(PartSchema, { kind: { case: "toolCall", value: { tool, argumentsJson: JSON.stringify(args), providerCallId: "" } } });

function linesOf(messages: readonly Message[]): string[] {
  return messages.map(({ role, parts }) => {
    const words = parts.map(({ kind }) => {
      if (kind.case === "text") return kind.value.text;
      if (kind.case === "toolCall") return `call ${kind.value.tool}`;
      return kind.case === "toolResult" ? kind.value.output : String(kind.case);
    });
    return `${(RoleSchema.value[role]?.name ?? "").replace("ROLE_", "").toLowerCase()}: ${words.join(" | ")}`;
  });
}

async function read(context: TaskContext, sessionId: string, turnId: string, throughSeq: bigint): Promise<string[]> {
  return linesOf((await context.readConversation(create(ReadConversationRequestSchema, { sessionId, turnId, throughSeq }))).messages);
}

const usage = () => create(UsageSchema, { inputTokens: 10n, outputTokens: 5n });

/** A model that answers as the test says, and summarises by counting. */
const model: TaskHandler = {
  capability: create(CapabilitySchema, { kind: CapabilityKind.MODEL, name: "loop/*" }),
  async run(context): Promise<Outcome> {
    const { kind } = context.task;
    if (kind.case === "compaction") {
      const { sessionId, turnId, throughSeq } = kind.value;
      const lines = await read(context, sessionId, turnId, throughSeq);
      return { case: "compaction", value: create(CompactionResultSchema, { summary: `${lines.length} messages`, usage: usage() }) };
    }
    if (kind.case !== "model") throw new Error(`a ${kind.case} came to the model`);
    const { sessionId, turnId, conversationThroughSeq, model: name } = kind.value;
    const lines = await read(context, sessionId, turnId, conversationThroughSeq);
    await context.start({ case: "model", value: create(ModelStartedSchema) });
    const one = { model: name, lines, signal: context.signal, request: { sessionId, turnId, throughSeq: conversationThroughSeq } };
    asked.push(one);
    try {
      const parts = await answer(one);
      const completed = create(ModelCompletedSchema, { parts, finishReason: FinishReason.STOP });
      return { case: "model", value: create(ModelResultSchema, { completed, usage: usage() }) };
    } catch (error) {
      if (context.signal.aborted) return { case: "cancelled", value: create(TaskCancelledSchema) };
      throw error;
    }
  },
};

function hook(name: string): TaskHandler {
  return {
    capability: create(CapabilitySchema, { kind: CapabilityKind.HOOK, name }),
    async run(context) {
      const { kind } = context.task;
      if (kind.case !== "hook") throw new Error(`a ${kind.case} came to the hook`);
      const { sessionId, turnId, conversationThroughSeq } = kind.value;
      const lines = await read(context, sessionId, turnId, conversationThroughSeq);
      const edits = edit({ hook: name, lines }).map((change) => create(HookEditSchema, { kind: change }));
      return { case: "hook", value: create(HookResultSchema, { edits }) };
    },
  };
}

type Agent = NonNullable<Parameters<ConnectClient["session"]["createSession"]>[0]["agent"]>;

async function created(agent: Omit<Agent, "$typeName" | "model">): Promise<string> {
  return (await withRetry(() => client.session.createSession({ header: commandHeader(), agent: { model: "loop/a", ...agent } as Agent }))).sessionId;
}

async function turn(sessionId: string, words: string): Promise<string> {
  return (await withRetry(() => client.session.startTurn({ header: commandHeader(), sessionId, input: [say(words)] }))).turnId;
}

async function facts(events: readonly Event[], turnId: string): Promise<readonly string[]> {
  return factsOf(events.filter((event) => event.turnId === turnId && event.kind !== "turn.checkpointed"));
}

async function expectInOrder(sessionId: string): Promise<void> {
  expect(await cluster.inspector.violations({ id: sessionId, kind: "session" }, true)).toStrictEqual([]);
}

describe("hooks of a worker", () => {
  it("change what the model reads and what becomes of its answer, and read no further than they may", async () => {
    const views: string[] = [];
    edit = ({ hook: name, lines }) => {
      views.push(`${name} ${lines.at(-1)}`);
      if (name === "guard") return [{ case: "replaceText", value: "the key is ***" }];
      return [{ case: "replaceText", value: "It is ***." }];
    };
    answer = () => [text("It is 123.")];
    const hooks = [
      { name: "guard", at: [HookAt.USER_MESSAGE] },
      { name: "forge.reminder", at: [HookAt.PRE_LLM], configJson: '{"text":"Be brief."}' },
      { name: "audit", at: [HookAt.POST_LLM] },
    ];
    const sessionId = await created({ hooks });
    const turnId = await turn(sessionId, "the key is 123");
    const events = await turnEnded(client, sessionId, turnId);
    expect(views).toStrictEqual(["guard user: the key is 123", "audit assistant: It is 123."]);
    expect(asked.map(({ lines }) => lines)).toStrictEqual([["user: the key is ***", "system: Be brief."]]);
    expect(await facts(events, turnId)).toStrictEqual([
      "turn.started",
      "message.added",
      "hook.requested",
      "hook.completed",
      "hook.completed",
      "model.requested",
      "model.started",
      "model.completed",
      "model.usage_recorded",
      "hook.requested",
      "hook.completed",
      "turn.completed",
    ]);
    const whole = await client.session.readConversation({ sessionId });
    expect(linesOf(whole.messages)).toStrictEqual(["user: the key is ***", "assistant: It is ***."]);
    await expectInOrder(sessionId);
  });
});

describe("a conversation that is too long", () => {
  it("is summarised by the model, and the call made again", async () => {
    let calls = 0;
    answer = () => {
      calls += 1;
      if (calls === 2) throw new ForgeError(ErrorCode.PROVIDER_ERROR, "The prompt is too long.", { reason: "CONTEXT_OVERFLOW" });
      return [text("Said.")];
    };
    const sessionId = await created({});
    await turnEnded(client, sessionId, await turn(sessionId, "One."));
    const turnId = await turn(sessionId, "Two.");
    const events = await turnEnded(client, sessionId, turnId);
    expect(await facts(events, turnId)).toStrictEqual([
      "turn.started",
      "message.added",
      "model.requested",
      "model.started",
      "model.failed",
      "session.compaction_requested",
      "session.compacted",
      "model.requested",
      "model.started",
      "model.completed",
      "model.usage_recorded",
      "turn.completed",
    ]);
    const summary = "user: [A summary of the conversation up to here, which it stands for]\n\n2 messages";
    expect(asked.at(-1)?.lines).toStrictEqual([summary, "user: Two."]);
    const { compactionId } = await client.session.compactSession({ header: commandHeader(), sessionId });
    const compacted = (await eventsUntil(client, sessionStream(sessionId), (event) => event.kind === "session.compacted" && event.turnId === "")).at(-1);
    expect(compacted?.payload.value).toMatchObject({ compactionId, summary: "3 messages", model: "loop/a" });
    const { session } = await client.session.getSessionSnapshot({ sessionId });
    expect(session?.usage?.inputTokens).toBe(40n);
    await expectInOrder(sessionId);
  });
});

describe("a sub-agent", () => {
  const subAgents = [
    { name: "finder", agent: { model: "loop/small" } },
    { name: "thinker", agent: { model: "loop/small" }, history: SubAgentHistory.FORKED },
  ];

  it("works in a session of its own, forked or fresh, and its answer is the call's output", async () => {
    answer = ({ model: name, lines }) => {
      if (name === "loop/small") return [text(`I was told ${lines.length} things.`)];
      return lines.length === 1 ? [call("agent.finder", { task: "Find it." }), call("agent.thinker", { task: "Think." })] : [text("Done.")];
    };
    const sessionId = await created({ subAgents });
    const turnId = await turn(sessionId, "Go.");
    const events = await turnEnded(client, sessionId, turnId);
    expect(asked.at(-1)?.lines).toStrictEqual([
      "user: Go.",
      "assistant: call agent.finder | call agent.thinker",
      'tool: "I was told 1 things." | "I was told 2 things."',
    ]);
    const ids = events.flatMap((event) => (event.payload.case === "toolRequested" ? event.toolCallId : []));
    const { session } = await client.session.getSessionSnapshot({ sessionId: ids[1] as string });
    expect(session).toMatchObject({ labels: { "forge.parent_session_id": sessionId, "forge.root_session_id": sessionId }, parentCall: { depth: 1 } });
    expect((await client.session.getSessionSnapshot({ sessionId })).session?.usage?.inputTokens).toBe(40n);
    for (const id of [sessionId, ...ids]) await expectInOrder(id);
  });

  it("stops when its caller's turn is cancelled, which ends after it", async () => {
    const reached = Promise.withResolvers<void>();
    answer = ({ model: name, signal }) => {
      if (name !== "loop/small") return [call("agent.finder", { task: "Wait." })];
      reached.resolve();
      return new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason as Error)));
    };
    const sessionId = await created({ subAgents });
    const turnId = await turn(sessionId, "Go.");
    await reached.promise;
    await client.session.cancelTurn({ header: commandHeader(), sessionId, turnId });
    const events = await turnEnded(client, sessionId, turnId);
    expect((await facts(events, turnId)).slice(-3)).toStrictEqual(["turn.cancel_requested", "tool.cancelled", "turn.cancelled"]);
    const childId = events.find((event) => event.payload.case === "toolRequested")?.toolCallId as string;
    const { session } = await client.session.getSessionSnapshot({ sessionId: childId });
    expect(session?.turn?.openCalls).toStrictEqual([]);
    for (const id of [sessionId, childId]) await expectInOrder(id);
  });

  it("only reads from when its caller is put into plan mode", async () => {
    const reached = Promise.withResolvers<void>();
    const released = Promise.withResolvers<void>();
    answer = async ({ model: name, lines }) => {
      if (name !== "loop/small") return lines.length === 1 ? [call("agent.finder", { task: "Find it." })] : [text("Done.")];
      reached.resolve();
      await released.promise;
      return [text("Found.")];
    };
    const sessionId = await created({ subAgents });
    const turnId = await turn(sessionId, "Go.");
    await reached.promise;
    const [childId = ""] = (await client.session.getSessionSnapshot({ sessionId })).session?.turn?.openCalls.map(({ id }) => id) ?? [];
    await client.session.updateSessionPolicy({ header: commandHeader(), sessionId, policy: { mode: ToolMode.PLAN }, revokeGrants: true });
    const [updated] = (await eventsUntil(client, sessionStream(childId), ({ kind }) => kind === "session.policy_updated")).slice(-1);
    expect(updated?.payload.value).toMatchObject({ policy: { mode: ToolMode.PLAN }, grantsRevoked: true });
    expect((await client.session.getSessionSnapshot({ sessionId: childId })).session?.policy?.mode).toBe(ToolMode.PLAN);
    released.resolve();
    await turnEnded(client, sessionId, turnId);
    for (const id of [sessionId, childId]) await expectInOrder(id);
  });

  it("and its caller go on when the control plane is killed under both", async () => {
    const reached = Promise.withResolvers<void>();
    const released = Promise.withResolvers<void>();
    answer = async ({ model: name, lines }) => {
      if (name !== "loop/small") return lines.length === 1 ? [call("agent.thinker", { task: "Think." })] : [text("Done.")];
      reached.resolve();
      await released.promise;
      return [text("Thought.")];
    };
    const sessionId = await created({ subAgents });
    const turnId = await turn(sessionId, "Go.");
    await reached.promise;
    await cluster.controlPlanes[0]?.kill();
    await cluster.controlPlanes[0]?.start();
    released.resolve();
    const events = await turnEnded(client, sessionId, turnId);
    expect((await facts(events, turnId)).filter((kind) => kind.startsWith("tool.") || kind.startsWith("turn."))).toStrictEqual([
      "turn.started",
      "tool.requested",
      "tool.started",
      "tool.completed",
      "turn.completed",
    ]);
    const childId = events.find((event) => event.payload.case === "toolRequested")?.toolCallId as string;
    for (const id of [sessionId, childId]) await expectInOrder(id);
  });

  it("can't be made up by a client", async () => {
    const parentCall = { sessionId: "a", turnId: "b", toolCallId: "c", rootSessionId: "d", depth: 1 };
    const request = { header: commandHeader(), agent: { model: "loop/a" }, parentCall };
    await expect(client.session.createSession(request)).rejects.toMatchObject({ code: ErrorCode.VALIDATION });
    await expect(created({ fallbackModels: ["nobody/x"] })).rejects.toMatchObject({ reason: "MODEL_NOT_SERVED" });
  });
});
