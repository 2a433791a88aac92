import { create } from "@bufbuild/protobuf";
import type { FinishReason } from "@forge/protocol/event";
import { ErrorRecovery, UpdateSessionPolicyRequestSchema } from "@forge/protocol/session";
import { ApprovalCategory, ApprovalScope, Decision, RiskLevel, ToolMode, ToolSpecSchema } from "@forge/protocol/tool";
import { InputRequiredSchema, ToolResultSchema, UndoResultSchema } from "@forge/protocol/worker";
import fc from "fast-check";
import type { SessionCommand } from "../session/session-command.ts";
import type { TaskSettled, WorkTask } from "../task.ts";
import { childEnd, hookOutcome, LOOP_CALLS, loopAgents } from "./random-loop.ts";
import {
  abandonTurn,
  answer,
  callPart,
  cancelled,
  cancelTurn,
  closeSession,
  compactSession,
  continueTurn,
  failure,
  fired,
  lost,
  PREVIEWED,
  pauseTurn,
  pendingInputs,
  preview,
  provideInput,
  reportedLate,
  resolve,
  type SessionInit,
  type SessionStream,
  settled,
  started,
  startTurn,
  steerTurn,
  summarised,
  TOOLS,
  textPart,
  toolResult,
} from "./session-fixture.ts";

type ApprovalMore = NonNullable<Parameters<typeof resolve>[3]>;

/** What may happen to a session next. Numbers choose among what there is at that moment, modulo its count. */
export type Happening =
  | { readonly kind: "startTurn"; readonly text: string }
  | { readonly kind: "begin" | "lose" | "stop" | "late"; readonly pick: number }
  | { readonly kind: "fail"; readonly pick: number; readonly retryable: boolean; readonly unknown: boolean; readonly text: string }
  | {
      readonly kind: "finish";
      readonly pick: number;
      readonly text: string;
      readonly calls: readonly { readonly tool: number; readonly args: string }[];
      readonly reason: number;
    }
  | { readonly kind: "fire"; readonly pick: number }
  | { readonly kind: "resolve"; readonly pick: number; readonly allow: boolean; readonly more: ApprovalMore }
  | { readonly kind: "cancel" | "abandon" | "close" | "stale" | "pause" | "continue" }
  | { readonly kind: "steer" | "input"; readonly pick: number; readonly text: string }
  | { readonly kind: "policy"; readonly decision: Decision; readonly mode: ToolMode; readonly revokeGrants: boolean }
  | { readonly kind: "undo" | "rewind" | "child"; readonly pick: number }
  | { readonly kind: "compact"; readonly pick: number }
  | { readonly kind: "deltas"; readonly count: number };

/** Any UTF-16 text: control characters and halves of surrogate pairs included. */
const hostileText = fc.oneof(
  fc.constantFrom("", "Hello.", "__proto__", "\u0000", "\ud800", '{"a":1}', "{"),
  fc.array(fc.nat(0xffff), { maxLength: 12 }).map((units) => String.fromCharCode(...units)),
);

/** Of `CALLED`, which is made of what is served. */
const CALLED_COUNT = 13;

const saidText = fc.oneof({ weight: 5, arbitrary: fc.constant("Go on.") }, { weight: 1, arbitrary: hostileText });

const pick = fc.nat(1_000);

/** Answers of every scope, and some that make no sense. */
const approvalMore: fc.Arbitrary<ApprovalMore> = fc.oneof(
  { weight: 3, arbitrary: fc.constant({}) },
  {
    weight: 4,
    arbitrary: fc.constantFrom<ApprovalMore>(
      { scope: ApprovalScope.TURN, category: ApprovalCategory.CHANGES },
      { scope: ApprovalScope.SESSION, category: ApprovalCategory.EXECUTION },
      { scope: ApprovalScope.TURN, category: ApprovalCategory.ALL },
      { scope: ApprovalScope.SESSION, rememberRule: true },
      { editedArgumentsJson: '{"question":"Edited?"}' },
      { scope: ApprovalScope.TURN },
    ),
  },
  { weight: 1, arbitrary: fc.record({ editedArgumentsJson: hostileText, stopTurn: fc.boolean() }) },
  { weight: 1, arbitrary: fc.constant({ stopTurn: true }) },
);

const policyUpdate = fc.record({
  kind: fc.constant("policy" as const),
  decision: fc.constantFrom(Decision.ALLOW, Decision.ASK, Decision.DENY),
  mode: fc.constantFrom(ToolMode.UNSPECIFIED, ToolMode.ACT, ToolMode.ACT, ToolMode.PLAN, ToolMode.BYPASS),
  revokeGrants: fc.boolean(),
});

/** Mostly what moves a turn on, so that stories get far; among it everything that goes wrong. */
const happening: fc.Arbitrary<Happening> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({ kind: fc.constant("startTurn" as const), text: saidText }),
  },
  { weight: 12, arbitrary: fc.record({ kind: fc.constant("begin" as const), pick }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constantFrom("lose" as const, "stop" as const, "late" as const), pick }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant("fail" as const), pick, retryable: fc.boolean(), unknown: fc.boolean(), text: hostileText }) },
  {
    weight: 20,
    arbitrary: fc.record({
      kind: fc.constant("finish" as const),
      pick,
      text: hostileText,
      calls: fc.array(
        fc.record({
          tool: fc.nat(CALLED_COUNT - 1),
          args: fc.oneof(
            {
              weight: 8,
              arbitrary: fc.constantFrom('{"question":"Which?"}', '{"question":"Which?","task":"Do it.","plan":[{"step":"a","status":"pending"}]}'),
            },
            { weight: 1, arbitrary: hostileText },
          ),
        }),
        {
          minLength: 1,
          maxLength: 4,
        },
      ),
      reason: fc.constantFrom(1, 1, 1, 3, 3, 3, 3, 3, 3, 3, 3, 3, 2, 4, 5, 6, 99),
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("fire" as const), pick }) },
  { weight: 8, arbitrary: fc.record({ kind: fc.constant("resolve" as const), pick, allow: fc.boolean(), more: approvalMore }) },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constantFrom("cancel" as const, "cancel" as const, "abandon" as const, "close" as const, "stale" as const, "stale" as const),
    }),
  },
  { weight: 3, arbitrary: fc.record({ kind: fc.constantFrom("steer" as const, "input" as const, "input" as const), pick, text: saidText }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constantFrom("pause" as const, "continue" as const, "continue" as const) }) },
  { weight: 1, arbitrary: policyUpdate },
  { weight: 2, arbitrary: fc.record({ kind: fc.constantFrom("undo" as const, "rewind" as const), pick }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant("compact" as const), pick }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant("child" as const), pick }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("deltas" as const), count: fc.nat(5) }) },
);

export const happenings = fc.array(happening, { minLength: 10, maxLength: 80, size: "max" });

const USED = [...TOOLS, ...PREVIEWED].map(({ name }) => name);

/** Sessions of all sorts: with a parent, with tight budgets, with every policy. */
export const sessionInit: fc.Arbitrary<SessionInit> = fc.record(
  {
    policy: fc.constantFrom<NonNullable<SessionInit["policy"]>[]>(
      {},
      { defaultDecision: Decision.ALLOW },
      { defaultDecision: Decision.ASK },
      { rules: [{ tool: "tools.w*", decision: Decision.DENY }], defaultDecision: Decision.ALLOW },
      { rules: [{ tool: "tools.run", decision: Decision.DENY, ruleKey: "k2" }], mode: ToolMode.PLAN },
      { rules: [{ tool: "tools.run", decision: Decision.DENY, ruleKey: "k2" }], mode: ToolMode.BYPASS },
    ),
    parent: fc.constant({ runId: "00000000-0000-8000-8000-000000000123", stepId: "s" }),
    agent: fc.constantFrom<NonNullable<SessionInit["agent"]>[]>(
      { model: "demo/a", tools: [...USED, "tools.ask"] },
      { model: "demo/a", tools: [...USED, "tools.ask"], errorRecovery: ErrorRecovery.RETRY },
      { model: "demo/a", tools: [...USED, "tools.ask"], errorRecovery: ErrorRecovery.ASK },
      { model: "demo/a", tools: USED, errorRecovery: ErrorRecovery.STOP },
      ...loopAgents(USED),
      { model: "demo/a", tools: [...USED, "tools.nobody"], budget: { modelCalls: 3, toolCalls: 4, tokens: 100n } },
    ),
  },
  { requiredKeys: ["policy", "agent"] },
);

const REASONS = ["RATE_LIMIT", "CONTEXT_OVERFLOW", "BAD_REQUEST", "PREVIEW_STALE"];

/** Tools that are served: one of each sort, and one more that the agents may not use. */
export const served = [...TOOLS, ...PREVIEWED, create(ToolSpecSchema, { name: "tools.other", risk: RiskLevel.READ })];
const CALLED = [...served.map(({ name }) => name), "tools.nobody", "tools.ask", ...LOOP_CALLS];

/** The command that a happening amounts to now; undefined where there is nothing that it could happen to. */
export function commandOf(stream: SessionStream, what: Happening, seen: readonly string[]): SessionCommand | undefined {
  const work = stream.work();
  const task = "pick" in what ? work[what.pick % Math.max(1, work.length)] : undefined;
  const turnId = stream.state.turn?.turnId ?? "none";
  switch (what.kind) {
    case "startTurn":
      return startTurn(what.text);
    case "begin":
      return task && started(task);
    case "lose":
      return task && lost(task);
    case "stop":
      return task && settled(task, cancelled());
    case "late":
      return reportedLate(seen[what.pick % Math.max(1, seen.length)] ?? "tool:none");
    case "fail":
      return (
        task && settled(task, failure({ retryable: what.retryable, unknown: what.unknown, message: what.text, reason: REASONS[what.pick % REASONS.length] }))
      );
    case "finish":
      return task && settled(task, resultOf(stream, task, what));
    case "fire": {
      const timers = stream.timers();
      return timers.length === 0 ? undefined : fired(timers[what.pick % timers.length] ?? "");
    }
    case "resolve": {
      const turn = stream.state.turn;
      const ids = [
        ...(turn?.toolCalls ?? []).flatMap((call) => call.approval?.approvalId ?? []),
        ...(turn?.resolutions ?? []).map(({ approvalId }) => approvalId),
      ];
      return resolve(ids[what.pick % Math.max(1, ids.length)] ?? "none", what.allow ? Decision.ALLOW : Decision.DENY, "", what.more);
    }
    case "cancel":
      return cancelTurn(turnId);
    case "abandon":
      return abandonTurn(turnId);
    case "close":
      return closeSession();
    case "stale": {
      const open = new Set(stream.outstanding().map(({ key }) => key));
      const gone = seen.findLast((key) => !open.has(key));
      return gone === undefined ? undefined : settled({ key: gone }, toolResult());
    }
    case "pause":
      return pauseTurn(turnId);
    case "continue":
      return continueTurn(turnId);
    case "steer":
      return steerTurn(turnId, what.text);
    case "input": {
      const ids = [...pendingInputs(stream), ...(stream.state.turn?.inputs ?? []).map(({ inputId }) => inputId)];
      return provideInput(turnId, ids[what.pick % Math.max(1, ids.length)] ?? "none", what.text);
    }
    case "policy":
      return create(UpdateSessionPolicyRequestSchema, { policy: { defaultDecision: what.decision, mode: what.mode }, revokeGrants: what.revokeGrants });
    case "undo":
      return { $typeName: "session.undo_these", changeIds: standing(stream).slice(0, 1 + (what.pick % 3)), readSeq: stream.seq };
    case "rewind": {
      const throughSeq = what.pick % (stream.seq + 2);
      const changeIds = what.pick % 2 === 0 ? [] : standing(stream, throughSeq);
      return { $typeName: "session.rewind_to", throughSeq, changeIds, readSeq: stream.seq };
    }
    case "child":
      return childEnd(stream, what.pick);
    case "compact":
      return compactSession(what.pick % 2 === 0 ? "They spoke." : "", what.pick % 3 === 0 ? 0 : what.pick % (stream.seq + 2));
    case "deltas":
      return undefined;
    default:
      return what satisfies never;
  }
}

/** Changes of files that were not undone, newest first. */
function standing(stream: SessionStream, afterSeq = 0): string[] {
  const undone = new Set(stream.events.flatMap(({ payload }) => (payload.case === "workspaceChangeUndone" ? payload.value.changeIds : [])));
  return stream.events
    .flatMap(({ payload, seq }) => (payload.case === "workspaceChangeRecorded" && Number(seq) > afterSeq ? payload.value.changeId : []))
    .filter((id) => !undone.has(id))
    .toReversed();
}

function resultOf(stream: SessionStream, task: WorkTask, what: Extract<Happening, { kind: "finish" }>): TaskSettled["outcome"] {
  const { kind } = task.task;
  if (kind.case === "hook") return hookOutcome(stream, kind.value, what.pick, what.text);
  if (kind.case === "compaction") return summarised(what.reason === 99 ? what.text : "They spoke.");
  if (kind.case === "undo") return { case: "undo", value: create(UndoResultSchema, { changeIds: kind.value.changeIds.slice(what.pick % 2) }) };
  if (kind.case === "tool" && kind.value.preview) return preview(previewOf(what));
  if (kind.case === "tool") return toolOutcome(what);
  // An answer that says that it is whole has no calls, so that turns end as well.
  const calls = (what.reason === 1 ? [] : what.calls).map((call) => callPart(CALLED[call.tool % CALLED.length] ?? "", call.args, "same"));
  return answer([textPart(what.text), ...calls], what.reason as FinishReason, BigInt(7 + (what.pick % 3) * 100));
}

/** Previews of every risk; now and then one that can't be used. */
function previewOf({ pick: chosen, reason, text }: Extract<Happening, { kind: "finish" }>): Parameters<typeof preview>[0] {
  return { title: reason === 99 ? text : "Does it.", risk: (chosen % 4) as RiskLevel, ruleKey: ["", "k1", "k1", "k2"][chosen % 4] };
}

function toolOutcome({ pick: chosen, reason, text }: Extract<Happening, { kind: "finish" }>): TaskSettled["outcome"] {
  if (reason === 2) return { case: "inputRequired", value: create(InputRequiredSchema, { question: "Which?", resumeJson: "{}" }) };
  const json = text === "" ? "null" : JSON.stringify(text);
  const files = [{ path: "a", afterSha256: "a".repeat(64) }];
  const output = { kind: { case: "json" as const, value: json } };
  return { case: "tool", value: create(ToolResultSchema, { output, breakTurn: chosen % 3 === 0, changes: chosen % 2 === 0 ? [{ files }] : [] }) };
}
