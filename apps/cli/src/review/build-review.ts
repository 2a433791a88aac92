import { timestampDate } from "@bufbuild/protobuf/wkt";
import type { Usage } from "@forge/protocol/common";
import type { Event } from "@forge/protocol/event";
import { HookAtSchema, PlanStepStatusSchema, Role, TurnOutcomeSchema } from "@forge/protocol/session";
import { ApprovalCategory, ToolMode, ToolModeSchema, type ToolSpec } from "@forge/protocol/tool";
import { categoryOf } from "../approvals/category.ts";
import { callText } from "../chat/call-text.ts";
import { partsText } from "../events/event-summary.ts";
import { enumName } from "../output/message-json.ts";
import { objectOf } from "../output/value.ts";
import type { Review, ReviewedCall, ReviewedChange, ReviewedTurn, ReviewedUsage } from "./review.ts";

/** A review is read by a person, or by another model: each bound is far more than either takes in at once. */
const TURNS_MAX = 200;
const CALLS_MAX = 2_000;
const CHANGES_MAX = 1_000;
const TEXT_MAX = 8_192;
const DIFF_MAX = 16_384;
const DIFFS_MAX = 262_144;

type Writable<T> = { -readonly [K in keyof T]: T[K] extends readonly (infer E)[] ? E[] : T[K] };

interface Building {
  session: Writable<Review["session"]>;
  turns: Writable<ReviewedTurn>[];
  changes: Writable<ReviewedChange>[];
  history: string[];
  calls: Map<string, Writable<ReviewedCall>>;
  callTurns: Map<string, string>;
  diffs: Map<string, string>;
  tools: readonly ToolSpec[];
  omitted: { turns: number; calls: number; changes: number; diffs: number };
  callCount: number;
  usage: ReviewedUsage;
}

/** Folds a session's events, deltas left out, into a review. `diffOf` tells the diff of a change that no preview told. */
export function buildReview(events: Iterable<Event>, diffOf: (change: ReviewedChange) => string = () => ""): Review {
  const building: Building = {
    session: { id: "", title: "", model: "", mode: "act", created_at: null },
    turns: [],
    changes: [],
    history: [],
    calls: new Map(),
    callTurns: new Map(),
    diffs: new Map(),
    tools: [],
    omitted: { turns: 0, calls: 0, changes: 0, diffs: 0 },
    callCount: 0,
    usage: usageOf(undefined),
  };
  for (const event of events) {
    sessionEvent(building, event);
    turnEvent(building, event);
    callEvent(building, event);
  }
  const { session, turns, changes, history, omitted, usage } = building;
  return { session, turns, changes: withDiffs(building, changes, diffOf), history, usage, omitted };
}

function sessionEvent(building: Building, { payload, stream, seq, occurredAt }: Event): void {
  const { history } = building;
  switch (payload.case) {
    case "sessionCreated": {
      const { agent, title, policy } = payload.value;
      building.session = {
        id: stream?.id ?? "",
        title,
        model: agent?.model ?? "",
        mode: modeName(policy?.mode),
        created_at: occurredAt === undefined ? null : timestampDate(occurredAt).toISOString(),
      };
      break;
    }
    case "sessionPolicyUpdated":
      building.session.mode = modeName(payload.value.policy?.mode);
      history.push(`policy replaced, mode ${building.session.mode}${payload.value.grantsRevoked ? ", grants revoked" : ""}, at ${seq}`);
      break;
    case "sessionCompacted":
      history.push(`compacted through ${payload.value.throughSeq}${payload.value.model === "" ? "" : ` by ${payload.value.model}`}, at ${seq}`);
      break;
    case "sessionRewound":
      history.push(`rewound to ${payload.value.throughSeq}, at ${seq}`);
      break;
    case "sessionForked":
      history.push(`forked from ${payload.value.sourceSessionId} through ${payload.value.throughSeq}`);
      break;
    case "workspaceChangeUndone": {
      const { changeIds, refused } = payload.value;
      for (const change of building.changes) if (changeIds.includes(change.id)) change.undone = true;
      history.push(
        `${changeIds.length} changes taken back, ${refused.length} refused${refused.map(({ path, reason }) => `; ${path} ${reason}`).join("")}, at ${seq}`,
      );
      break;
    }
    case "workspaceUndoFailed":
      history.push(`undo failed: ${payload.value.error?.message ?? ""}, at ${seq}`);
      break;
    default:
      break;
  }
}

function turnEvent(building: Building, { payload, turnId }: Event): void {
  const turn = building.turns.findLast(({ id }) => id === turnId);
  switch (payload.case) {
    case "turnStarted":
      building.tools = payload.value.tools;
      if (building.turns.length >= TURNS_MAX) {
        building.omitted.turns++;
        building.turns.shift();
      }
      building.turns.push({
        id: turnId,
        asked: "",
        steered: [],
        context: [...payload.value.contextSources],
        planned: [],
        calls: [],
        hooks: [],
        answer: "",
        outcome: "open",
        error: null,
        usage: usageOf(undefined),
      });
      break;
    case "messageAdded": {
      const { message } = payload.value;
      if (turn !== undefined && message?.role === Role.USER && !message.ephemeral && turn.asked === "") turn.asked = bounded(partsText(message.parts));
      break;
    }
    case "turnSteered":
      turn?.steered.push(bounded(partsText(payload.value.message?.parts ?? [])));
      break;
    case "planUpdated":
      if (turn !== undefined)
        turn.planned = (payload.value.plan?.items ?? []).map(({ step, status }) => ({ step, status: enumName(PlanStepStatusSchema, status).toLowerCase() }));
      break;
    case "hookCompleted":
      turn?.hooks.push({ hook: payload.value.hook, at: enumName(HookAtSchema, payload.value.at), edits: payload.value.edits.length, error: null });
      break;
    case "hookFailed":
      turn?.hooks.push({ hook: payload.value.hook, at: enumName(HookAtSchema, payload.value.at), edits: 0, error: payload.value.error?.message ?? "" });
      break;
    case "modelCompleted": {
      const text = payload.value.parts.map(({ kind }) => (kind.case === "text" ? kind.value.text : "")).join("");
      if (turn !== undefined && text !== "") turn.answer = bounded(text);
      break;
    }
    case "turnCompleted":
    case "turnFailed":
    case "turnCancelled":
    case "turnAbandoned":
      building.usage = added(building.usage, usageOf(payload.value.usage));
      if (turn === undefined) break;
      turn.usage = usageOf(payload.value.usage);
      turn.outcome =
        "outcome" in payload.value ? enumName(TurnOutcomeSchema, payload.value.outcome) : payload.case === "turnCancelled" ? "CANCELLED" : "ABANDONED";
      turn.error = payload.case === "turnFailed" ? (payload.value.error?.message ?? "") : null;
      break;
    default:
      break;
  }
}

function callEvent(building: Building, event: Event): void {
  const { payload, toolCallId, turnId } = event;
  const call = building.calls.get(toolCallId);
  switch (payload.case) {
    case "toolRequested":
      // A plan is told as what was planned.
      if (payload.value.tool !== "tools.update_plan") requested(building, event, payload.value);
      break;
    case "toolPreviewed": {
      const { preview, decision } = payload.value;
      if (preview?.diff) building.diffs.set(toolCallId, preview.diff);
      if (call !== undefined)
        Object.assign(call, { what: bounded(preview?.title || call.what), decided: decision?.source ?? "", decided_by: decision?.decidedBy ?? "" });
      break;
    }
    case "toolArgumentsEdited":
      building.diffs.delete(toolCallId);
      if (call !== undefined) Object.assign(call, { edited_by: payload.value.editedBy, what: bounded(callText(call.tool, payload.value.argumentsJson)) });
      break;
    case "approvalResolved":
      if (call !== undefined)
        Object.assign(call, {
          decided: payload.value.decision?.source ?? "",
          decided_by: payload.value.decision?.decidedBy ?? "",
          comment: bounded(payload.value.comment),
        });
      break;
    case "toolCompleted": {
      const code = objectOf(payload.value.output)?.exit_code;
      if (call !== undefined)
        Object.assign(call, { outcome: "completed", duration_ms: Number(payload.value.durationMs), exit_code: typeof code === "number" ? code : null });
      break;
    }
    case "toolFailed":
      if (call !== undefined)
        Object.assign(call, { outcome: "failed", duration_ms: Number(payload.value.durationMs), error: bounded(payload.value.error?.message ?? "") });
      break;
    case "toolDenied":
      if (call !== undefined)
        Object.assign(call, { outcome: "denied", decided: payload.value.decision?.source ?? call.decided, error: bounded(payload.value.reason) });
      break;
    case "toolCancelled":
      if (call !== undefined) call.outcome = "cancelled";
      break;
    case "toolSettledUnknown":
      if (call !== undefined) Object.assign(call, { outcome: "unknown", error: bounded(payload.value.reason) });
      break;
    case "workspaceChangeRecorded": {
      if (building.changes.length >= CHANGES_MAX) {
        building.omitted.changes++;
        break;
      }
      const { changeId, files, observed, notUndoable } = payload.value;
      building.changes.push({
        id: changeId,
        call_id: toolCallId,
        turn_id: turnId,
        tool: call?.tool ?? "",
        observed,
        undone: false,
        not_undoable: [...notUndoable],
        files: files.map((file) => ({
          path: file.path,
          before_sha256: file.beforeSha256,
          after_sha256: file.afterSha256,
          added: file.addedLines,
          removed: file.removedLines,
          not_undoable: file.notUndoable,
        })),
        diff: "",
      });
      break;
    }
    default:
      break;
  }
}

function requested(
  building: Building,
  { toolCallId, turnId }: Event,
  { tool, argumentsJson, decision }: Extract<Event["payload"], { case: "toolRequested" }>["value"],
): void {
  if (++building.callCount > CALLS_MAX) {
    building.omitted.calls++;
    return;
  }
  const spec = building.tools.find(({ name }) => name === tool);
  const call: Writable<ReviewedCall> = {
    id: toolCallId,
    tool,
    what: bounded(callText(tool, argumentsJson)),
    outcome: "open",
    exit_code: null,
    duration_ms: null,
    error: null,
    decided: decision?.source ?? "",
    decided_by: decision?.decidedBy ?? "",
    comment: "",
    edited_by: null,
    is_evidence: spec !== undefined && categoryOf(spec) === ApprovalCategory.EVIDENCE,
  };
  building.calls.set(toolCallId, call);
  building.turns.findLast(({ id }) => id === turnId)?.calls.push(call);
}

function withDiffs(building: Building, changes: readonly ReviewedChange[], diffOf: (change: ReviewedChange) => string): ReviewedChange[] {
  let room = DIFFS_MAX;
  return changes.map((change) => {
    const told = change.observed ? "" : (building.diffs.get(change.call_id) ?? "");
    const whole = told === "" ? diffOf(change) : told;
    const diff = whole.length > DIFF_MAX ? `${whole.slice(0, DIFF_MAX)}\n… ${whole.length - DIFF_MAX} more characters\n` : whole;
    if (diff.length > room) {
      building.omitted.diffs++;
      return change;
    }
    room -= diff.length;
    return { ...change, diff };
  });
}

function modeName(mode: ToolMode | undefined): string {
  return enumName(ToolModeSchema, mode === undefined || mode === ToolMode.UNSPECIFIED ? ToolMode.ACT : mode).toLowerCase();
}

function bounded(text: string): string {
  return text.length > TEXT_MAX ? `${text.slice(0, TEXT_MAX)}… (${text.length - TEXT_MAX} more characters)` : text;
}

function usageOf(usage: Usage | undefined): ReviewedUsage {
  return {
    input_tokens: Number(usage?.inputTokens ?? 0n),
    output_tokens: Number(usage?.outputTokens ?? 0n),
    cached_input_tokens: Number(usage?.cachedInputTokens ?? 0n),
    cost_usd: usage?.costMicroUsd === undefined ? null : Number(usage.costMicroUsd) / 1_000_000,
  };
}

function added(sum: ReviewedUsage, more: ReviewedUsage): ReviewedUsage {
  return {
    input_tokens: sum.input_tokens + more.input_tokens,
    output_tokens: sum.output_tokens + more.output_tokens,
    cached_input_tokens: sum.cached_input_tokens + more.cached_input_tokens,
    cost_usd: sum.cost_usd === null && more.cost_usd === null ? null : (sum.cost_usd ?? 0) + (more.cost_usd ?? 0),
  };
}
