import { create, type MessageInitShape } from "@bufbuild/protobuf";
import { type ConnectClient, commandHeader, createConnectClient } from "@forge/client";
import { FinishReason, ModelCompletedSchema, ModelStartedSchema, ToolStartedSchema } from "@forge/protocol/event";
import { ListChangesRequestSchema, ReadConversationRequestSchema, Role } from "@forge/protocol/session";
import { ApprovalCategory, ApprovalScope, Decision, RiskLevel, ToolMode, ToolPreviewSchema } from "@forge/protocol/tool";
import { CapabilityKind, CapabilitySchema, ModelResultSchema, ToolResultSchema, UndoResultSchema } from "@forge/protocol/worker";
import { startWorker, type TaskContext, type TaskHandler, type Worker } from "@forge/worker";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Cluster, startCluster } from "../harness/cluster.ts";
import { refusalOf } from "../harness/refusal.ts";
import { eventsUntil, kindsOf, say, sessionStream, turnEnded } from "../harness/work.ts";

const QUEUE = "governed";
const TOOL = "files.put";

/** A workspace in memory: what stands in each file. */
const files = new Map<string, string>();
let cluster: Cluster;
let client: ConnectClient;
let port: ConnectClient;
let worker: Worker;

const sha = (text: string): string => Buffer.from(text.padEnd(32, ".")).toString("hex").slice(0, 64);

/** Asks for the call that the person's last words are, once; then says that it is done. */
const model: TaskHandler = {
  capability: create(CapabilitySchema, { kind: CapabilityKind.MODEL, name: "scripted/*" }),
  async run(context: TaskContext) {
    const { task } = context;
    if (task.kind.case !== "model") throw new Error("no model call");
    const { sessionId, turnId, conversationThroughSeq: throughSeq } = task.kind.value;
    const { messages } = await context.readConversation(create(ReadConversationRequestSchema, { sessionId, turnId, throughSeq }));
    await context.start({ case: "model", value: create(ModelStartedSchema) });
    const last = messages.at(-1);
    const said = last?.parts[0]?.kind;
    const calls = last?.role === Role.USER && said?.case === "text";
    const parts: MessageInitShape<typeof ModelCompletedSchema>["parts"] = calls
      ? [{ kind: { case: "toolCall", value: { tool: TOOL, argumentsJson: said.value.text } } }]
      : [say("Done.")];
    const completed = create(ModelCompletedSchema, { parts, finishReason: calls ? FinishReason.TOOL_CALLS : FinishReason.STOP });
    return { case: "model", value: create(ModelResultSchema, { completed }) };
  },
};

const put: TaskHandler = {
  capability: create(CapabilitySchema, {
    kind: CapabilityKind.TOOL,
    name: TOOL,
    tool: { name: TOOL, description: "Writes a file.", inputSchemaJson: "{}", risk: RiskLevel.CHANGE, previews: true },
  }),
  async run(context: TaskContext) {
    const { task } = context;
    if (task.kind.case !== "tool") throw new Error("no tool call");
    const { argumentsJson, preview, previewed } = task.kind.value;
    const { path, text } = JSON.parse(argumentsJson) as { path: string; text: string };
    const before = files.get(path) ?? "";
    const factsJson = JSON.stringify({ before });
    if (preview) {
      const diff = `-${before}\n+${text}\n`.padEnd(30_000, "~");
      return { case: "preview", value: create(ToolPreviewSchema, { title: `write ${path}`, diff, factsJson, ruleKey: path, paths: [path] }) };
    }
    await context.start({ case: "tool", value: create(ToolStartedSchema) });
    if (previewed !== undefined && previewed.factsJson !== factsJson) throw new Error("the file is another by now");
    files.set(path, text);
    const change = { files: [{ path, beforeSha256: before === "" ? "" : sha(before), afterSha256: sha(text) }] };
    return { case: "tool", value: create(ToolResultSchema, { changes: [change] }) };
  },
};

const undo: TaskHandler = {
  capability: create(CapabilitySchema, { kind: CapabilityKind.WORKSPACE, name: "undo" }),
  async run(context: TaskContext) {
    const { task } = context;
    if (task.kind.case !== "undo") throw new Error("no undo");
    const { sessionId, changeIds } = task.kind.value;
    const { changes } = await context.listChanges(create(ListChangesRequestSchema, { sessionId, changeIds }));
    for (const { files: changed } of changes) for (const { path } of changed) files.delete(path);
    return { case: "undo", value: create(UndoResultSchema, { changeIds: changes.map(({ changeId }) => changeId) }) };
  },
};

beforeAll(async () => {
  cluster = await startCluster();
  client = cluster.client;
  port = createConnectClient({ url: cluster.urls[0] as string, token: cluster.workerToken });
  worker = await startWorker({
    port,
    name: "governed",
    queues: [QUEUE],
    handlers: [model, put, undo],
    slots: 4,
    onProblem: (error) => {
      throw error;
    },
  });
});
afterAll(async () => {
  await worker?.stop();
  await port?.close();
  await cluster?.close();
});

async function session(mode: ToolMode = ToolMode.ACT): Promise<string> {
  const agent = { model: "scripted/model", tools: [TOOL] };
  return (await client.session.createSession({ header: commandHeader(), agent, policy: { mode }, queue: QUEUE })).sessionId;
}

async function turn(sessionId: string, path: string, text: string): Promise<string> {
  const input = [say(JSON.stringify({ path, text }))];
  return (await client.session.startTurn({ header: commandHeader(), sessionId, input })).turnId;
}

/** The approval that a turn waits for. */
async function asked(sessionId: string, turnId: string): Promise<string> {
  const isAsked = (event: { readonly kind: string; readonly turnId: string }) => event.kind === "tool.approval_required" && event.turnId === turnId;
  const last = (await eventsUntil(client, sessionStream(sessionId), isAsked)).at(-1)?.payload;
  if (last?.case !== "toolApprovalRequired") throw new Error("nobody was asked");
  return last.value.approvalId;
}

const ofTurn = async (sessionId: string, turnId: string) => kindsOf((await turnEnded(client, sessionId, turnId)).filter((event) => event.turnId === turnId));

describe("a call that changes a file", () => {
  it("is shown before it is decided on, may be edited, granted for the session, and undone", async () => {
    const sessionId = await session();
    const first = await turn(sessionId, "a.txt", "one");
    const approvalId = await asked(sessionId, first);
    const { approvals } = await client.approval.listPendingApprovals({ stream: sessionStream(sessionId) });
    expect(approvals).toMatchObject([
      { approvalId, category: ApprovalCategory.CHANGES, preview: { title: "write a.txt", diff: expect.stringContaining("+one"), paths: ["a.txt"] } },
    ]);
    expect(files.has("a.txt")).toBe(false);
    await client.approval.resolveApproval({
      header: commandHeader(),
      stream: sessionStream(sessionId),
      approvalId,
      decision: Decision.ALLOW,
      scope: ApprovalScope.SESSION,
      category: ApprovalCategory.CHANGES,
      editedArgumentsJson: '{"path":"a.txt","text":"two"}',
    });
    const kinds = await ofTurn(sessionId, first);
    expect(kinds.filter((kind) => /^(?:tool|approval|workspace)\./.test(kind))).toEqual([
      "tool.requested",
      "tool.previewed",
      "tool.approval_required",
      "tool.arguments_edited",
      "approval.resolved",
      "tool.previewed",
      "tool.started",
      "workspace.change_recorded",
      "tool.completed",
    ]);
    expect(files.get("a.txt")).toBe("two");

    // The grant lets the next call pass.
    const second = await turn(sessionId, "b.txt", "three");
    expect(await ofTurn(sessionId, second)).not.toContain("tool.approval_required");
    const { changes } = await client.session.listChanges({ sessionId });
    expect(changes).toMatchObject([
      { turnId: first, tool: TOOL, files: [{ path: "a.txt" }], undone: false },
      { turnId: second, undone: false },
    ]);

    const { undoId } = await client.session.undoChanges({ header: commandHeader(), sessionId });
    const told = await eventsUntil(client, sessionStream(sessionId), ({ kind }) => kind === "workspace.change_undone");
    expect(told.at(-1)?.payload.value).toMatchObject({ undoId, changeIds: [changes[1]?.changeId] });
    expect([...files.keys()]).toEqual(["a.txt"]);
    expect((await client.session.listChanges({ sessionId })).changes.map((change) => change.undone)).toEqual([false, true]);
    const { session: shown } = await client.session.getSessionSnapshot({ sessionId });
    expect(shown).toMatchObject({ changeCount: 1, undoId: "", grants: [{ approvalId, scope: ApprovalScope.SESSION }] });

    // Back to before all: the files first, then the conversation.
    await client.session.rewindSession({ header: commandHeader(), sessionId, throughSeq: 1n });
    await eventsUntil(client, sessionStream(sessionId), ({ kind }) => kind === "session.rewound");
    expect(files.size).toBe(0);
    expect((await client.session.readConversation({ sessionId })).messages).toEqual([]);
    expect(await refusalOf(client.session.undoChanges({ header: commandHeader(), sessionId }))).toBe("CONFLICT NOTHING_TO_UNDO");
    expect(await cluster.inspector.violations({ id: sessionId, kind: "session" }, true)).toStrictEqual([]);
  });

  it("is not executed in plan mode, though its preview is looked at", async () => {
    const sessionId = await session(ToolMode.PLAN);
    const turnId = await turn(sessionId, "c.txt", "one");
    expect((await ofTurn(sessionId, turnId)).filter((kind) => kind.startsWith("tool."))).toEqual(["tool.requested", "tool.previewed", "tool.denied"]);
    expect(files.has("c.txt")).toBe(false);
  });

  it("is not executed where the file is another by then", async () => {
    const sessionId = await session();
    const turnId = await turn(sessionId, "d.txt", "one");
    const approvalId = await asked(sessionId, turnId);
    files.set("d.txt", "somebody else's");
    await client.approval.resolveApproval({ header: commandHeader(), stream: sessionStream(sessionId), approvalId, decision: Decision.ALLOW });
    expect(await ofTurn(sessionId, turnId)).toContain("tool.failed");
    expect(files.get("d.txt")).toBe("somebody else's");
  });

  it("is not undone where no worker could", async () => {
    const agent = { model: "demo/chat" };
    const { sessionId } = await client.session.createSession({ header: commandHeader(), agent });
    expect(await refusalOf(client.session.undoChanges({ header: commandHeader(), sessionId }))).toBe("CONFLICT NOTHING_TO_UNDO");
    expect(await refusalOf(client.session.undoChanges({ header: commandHeader(), sessionId, changeIds: ["x"] }))).toBe("NOT_FOUND CHANGE_NOT_FOUND");
    expect(await refusalOf(port.session.listChanges({ sessionId }))).toBe("PERMISSION_DENIED LEASE_REQUIRED");
  });
});
