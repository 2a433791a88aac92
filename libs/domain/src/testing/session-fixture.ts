import { create, type MessageInitShape } from "@bufbuild/protobuf";
import { ErrorCode, ForgeErrorSchema, UsageSchema } from "@forge/protocol/common";
import { FinishReason, HookEditSchema, ModelCompletedSchema, ModelStartedSchema, ResolveApprovalRequestSchema } from "@forge/protocol/event";
import {
  AbandonTurnRequestSchema,
  CancelTurnRequestSchema,
  CloseSessionRequestSchema,
  CompactSessionRequestSchema,
  ContinueTurnRequestSchema,
  CreateSessionRequestSchema,
  type Part,
  PartSchema,
  PauseTurnRequestSchema,
  ProvideInputRequestSchema,
  StartTurnRequestSchema,
  SteerTurnRequestSchema,
  UpdateSessionPolicyRequestSchema,
} from "@forge/protocol/session";
import { Decision, RiskLevel, ToolPreviewSchema, type ToolSpec, ToolSpecSchema } from "@forge/protocol/tool";
import { CompactionResultSchema, HookResultSchema, ModelResultSchema, TaskCancelledSchema, TaskFailureSchema, ToolResultSchema } from "@forge/protocol/worker";
import type { SessionCommand, SessionResult } from "../session/session-command.ts";
import { sessionDecider } from "../session/session-decider.ts";
import type { SessionState } from "../session/state.ts";
import type { TaskLost, TaskReportedLate, TaskSettled, TaskStarted, TimerFired, WorkTask } from "../task.ts";
import { TestStream } from "./test-stream.ts";

/** Words for the specs of sessions: commands in one line, and a stream to send them to. */

export const SESSION_ID = "00000000-0000-8000-8000-00000000005e";

const tool = (name: string, risk: RiskLevel, idempotent = false): ToolSpec =>
  create(ToolSpecSchema, { name, description: `Does ${name}.`, inputSchemaJson: '{"type":"object"}', risk, idempotent });

export const READ = tool("tools.read", RiskLevel.READ, true);
export const SEARCH = tool("tools.search", RiskLevel.READ);
export const WRITE = tool("tools.write", RiskLevel.CHANGE);
export const SHELL = tool("tools.shell", RiskLevel.EXECUTE);
export const TOOLS = [READ, SEARCH, WRITE, SHELL];

/** Tools whose worker can tell what a call would do. */
export const PATCH = create(ToolSpecSchema, { ...tool("tools.patch", RiskLevel.CHANGE), previews: true });
export const RUN = create(ToolSpecSchema, { ...tool("tools.run", RiskLevel.EXECUTE), previews: true });
export const PREVIEWED = [PATCH, RUN];

export type SessionStream = TestStream<SessionState, SessionCommand, SessionResult>;
export type SessionInit = Exclude<MessageInitShape<typeof CreateSessionRequestSchema>, { $typeName: string }>;

export function createSession(init: SessionInit = {}): SessionCommand {
  return create(CreateSessionRequestSchema, { agent: { model: "demo/triage", system: "Be brief.", tools: TOOLS.map(({ name }) => name) }, ...init });
}

export function startTurn(text = "Hello."): SessionCommand {
  return create(StartTurnRequestSchema, { sessionId: SESSION_ID, input: [textPart(text)] });
}

export const cancelTurn = (turnId: string): SessionCommand => create(CancelTurnRequestSchema, { sessionId: SESSION_ID, turnId });
export const abandonTurn = (turnId: string): SessionCommand => create(AbandonTurnRequestSchema, { sessionId: SESSION_ID, turnId, reason: "The host is gone." });
export const closeSession = (): SessionCommand => create(CloseSessionRequestSchema, { sessionId: SESSION_ID });

export const steerTurn = (turnId: string, text = "Be quick."): SessionCommand =>
  create(SteerTurnRequestSchema, { sessionId: SESSION_ID, turnId, input: [textPart(text)] });
export const pauseTurn = (turnId: string): SessionCommand => create(PauseTurnRequestSchema, { sessionId: SESSION_ID, turnId });
export const continueTurn = (turnId: string): SessionCommand => create(ContinueTurnRequestSchema, { sessionId: SESSION_ID, turnId });
export const provideInput = (turnId: string, inputId: string, text = "Yes."): SessionCommand =>
  create(ProvideInputRequestSchema, { sessionId: SESSION_ID, turnId, inputId, text });
export const updatePolicy = (policy?: SessionInit["policy"], revokeGrants = false): SessionCommand =>
  create(UpdateSessionPolicyRequestSchema, { sessionId: SESSION_ID, policy, revokeGrants });
export const compactSession = (summary = "They spoke.", throughSeq = 0): SessionCommand =>
  create(CompactSessionRequestSchema, { sessionId: SESSION_ID, summary, throughSeq: BigInt(throughSeq) });

export function resolve(
  approvalId: string,
  decision: Decision,
  comment = "",
  more: Exclude<MessageInitShape<typeof ResolveApprovalRequestSchema>, { $typeName: string }> = {},
): SessionCommand {
  return create(ResolveApprovalRequestSchema, { approvalId, decision, comment, ...more });
}

export function textPart(text: string): Part {
  return create(PartSchema, { kind: { case: "text", value: { $typeName: "forge.session.v1.TextPart", text } } });
}

export function callPart(name: string, argumentsJson = "{}", providerCallId = ""): Part {
  const value = { $typeName: "forge.session.v1.ToolCallPart" as const, toolCallId: "", providerCallId, tool: name, argumentsJson };
  return create(PartSchema, { kind: { case: "toolCall", value } });
}

/** A session with its first turn started and its model call under way. */
export function sessionInTurn(init: SessionInit = {}, tools: readonly ToolSpec[] = TOOLS, capabilities: readonly string[] = []): SessionStream {
  const stream = newSession(init, tools, capabilities);
  stream.must(startTurn());
  return stream;
}

export function newSession(init: SessionInit = {}, tools: readonly ToolSpec[] = TOOLS, capabilities: readonly string[] = []): SessionStream {
  const stream = new TestStream(sessionDecider, { streamId: SESSION_ID, tools, capabilities });
  stream.must(createSession(init));
  return stream;
}

export function turnIdOf(stream: SessionStream): string {
  return stream.state.turn?.turnId ?? "";
}

export function modelTask(stream: SessionStream): WorkTask {
  const task = stream.work().find((work) => work.task.kind.case === "model");
  if (task === undefined) throw new Error("No model call is outstanding.");
  return task;
}

export function hookTask(stream: SessionStream, name?: string): WorkTask {
  const task = stream.work().find((work) => work.task.kind.case === "hook" && (name === undefined || work.capability === `hook:${name}`));
  if (task === undefined) throw new Error("No hook is asked.");
  return task;
}

export function compactionTask(stream: SessionStream): WorkTask {
  const task = stream.work().find((work) => work.task.kind.case === "compaction");
  if (task === undefined) throw new Error("No summary is being written.");
  return task;
}

/** A hook's answer. */
export function edited(edits: MessageInitShape<typeof HookEditSchema>["kind"][], durationMs = 3n): TaskSettled["outcome"] {
  return { case: "hook", value: create(HookResultSchema, { edits: edits.map((kind) => create(HookEditSchema, { kind })), durationMs }) };
}

/** A model's summary. */
export function summarised(summary = "They spoke.", tokens = 20n): TaskSettled["outcome"] {
  return { case: "compaction", value: create(CompactionResultSchema, { summary, usage: create(UsageSchema, { inputTokens: tokens, outputTokens: tokens }) }) };
}

export function toolTask(stream: SessionStream, name: string): WorkTask {
  const task = stream.work().find(({ key, capability }) => key.startsWith("tool:") && capability === `tool:${name}`);
  if (task === undefined) throw new Error(`No call of ${name} is outstanding.`);
  return task;
}

export function started(task: WorkTask, epoch = 1): TaskStarted {
  const start: TaskStarted["start"] = task.task.kind.case === "model" ? { case: "model", value: create(ModelStartedSchema) } : { case: undefined };
  return { $typeName: "task.started", key: task.key, worker: "executor", epoch, start };
}

export function settled(task: Pick<WorkTask, "key">, outcome: TaskSettled["outcome"]): TaskSettled {
  return { $typeName: "task.settled", key: task.key, worker: "executor", outcome };
}

export const lost = (task: Pick<WorkTask, "key">): TaskLost => ({ $typeName: "task.lost", key: task.key, epoch: 1 });
export const fired = (key: string): TimerFired => ({ $typeName: "timer.fired", key });

export function reportedLate(key: string, outcome: TaskReportedLate["outcome"] = toolResult()): TaskReportedLate {
  return { $typeName: "task.reported_late", key, worker: "executor", outcome };
}

export function toolResult(json = '"done"'): TaskSettled["outcome"] {
  return { case: "tool", value: create(ToolResultSchema, { output: { kind: { case: "json", value: json } }, durationMs: 5n }) };
}

export function failure(
  init: { retryable?: boolean; afterOutput?: boolean; unknown?: boolean; retryAfterSeconds?: number; message?: string; reason?: string } = {},
): TaskSettled["outcome"] {
  const error = create(ForgeErrorSchema, {
    code: ErrorCode.PROVIDER_ERROR,
    reason: init.reason ?? "RATE_LIMIT",
    message: init.message ?? "Too many requests.",
    retryable: init.retryable ?? false,
    retryAfter: init.retryAfterSeconds === undefined ? undefined : { seconds: BigInt(init.retryAfterSeconds) },
  });
  return { case: "failure", value: create(TaskFailureSchema, { error, afterOutput: init.afterOutput, unknown: init.unknown }) };
}

export function preview(init: Exclude<MessageInitShape<typeof ToolPreviewSchema>, { $typeName: string }> = {}): TaskSettled["outcome"] {
  return { case: "preview", value: create(ToolPreviewSchema, { title: "does it", diff: "-a\n+b\n", factsJson: '{"a":1}', ...init }) };
}

/** Lets the worker say what the first call of the tool that is asked about would do. */
export function tellPreview(stream: SessionStream, name: string, init: Parameters<typeof preview>[0] = {}) {
  return stream.must(settled(previewTask(stream, name), preview(init)), "worker:executor");
}

export function previewTask(stream: SessionStream, name: string): WorkTask {
  const task = stream.work().find(({ key, capability }) => key.startsWith("preview:") && capability === `tool:${name}`);
  if (task === undefined) throw new Error(`No preview of ${name} is outstanding.`);
  return task;
}

export const cancelled = (): TaskSettled["outcome"] => ({ case: "cancelled", value: create(TaskCancelledSchema) });

export function answer(parts: Part[], finishReason: FinishReason = FinishReason.STOP, tokens = 10n): TaskSettled["outcome"] {
  const completed = create(ModelCompletedSchema, { parts, finishReason });
  return { case: "model", value: create(ModelResultSchema, { completed, usage: create(UsageSchema, { inputTokens: tokens, outputTokens: tokens }) }) };
}

/** Starts the model call that is outstanding and lets it answer. */
export function answerWith(stream: SessionStream, parts: Part[], finishReason?: FinishReason, tokens?: bigint) {
  const task = modelTask(stream);
  stream.must(started(task));
  return stream.must(settled(task, answer(parts, finishReason, tokens)), "worker:executor");
}

/** Starts a tool call that is outstanding and lets it return. */
export function runTool(stream: SessionStream, name: string, json?: string) {
  const task = toolTask(stream, name);
  if (task.task.needsStart) stream.must(started(task));
  return stream.must(settled(task, toolResult(json)));
}

export function pendingApprovals(stream: SessionStream): string[] {
  return (stream.state.turn?.toolCalls ?? []).flatMap((call) => call.approval?.approvalId ?? []);
}

export function pendingInputs(stream: SessionStream): string[] {
  return (stream.state.turn?.toolCalls ?? []).flatMap((call) => call.input?.inputId ?? []);
}

/** A call of tools.ask. */
export const askPart = (question = "Which one?"): Part => callPart("tools.ask", JSON.stringify({ question }));

export const ALLOW_ALL = { rules: [{ tool: "*", decision: Decision.ALLOW }] };
