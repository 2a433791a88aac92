import { create } from "@bufbuild/protobuf";
import { ErrorCode, type ForgeError, ForgeErrorSchema } from "@forge/protocol/common";
import { ToolApprovalRequiredSchema, ToolDeniedSchema, ToolFailedSchema, ToolPreviewedSchema } from "@forge/protocol/event";
import { CapabilityDecisionSchema, RiskLevelSchema, type ToolPreview, ToolPreviewSchema } from "@forge/protocol/tool";
import type { Rejected } from "../decider.ts";
import type { TaskLost, TaskSettled, TaskStarted } from "../task.ts";
import { isStorable, utf8Length } from "../text.ts";
import { RULE_KEY_MAX } from "../tool-policy.ts";
import { bindDecision, previewDigest } from "./bind-decision.ts";
import { boundedError } from "./bounded-error.ts";
import { judge } from "./gate.ts";
import { invalid } from "./rejections.ts";
import type { SessionRecorder } from "./session-command.ts";
import { findTool, type ToolCallState, type TurnState } from "./state.ts";

const TITLE_MAX = 256;
const DIFF_BYTES_MAX = 32_768;
const FACTS_BYTES_MAX = 8_192;
const PATHS_MAX = 256;
const PATH_MAX = 4_096;

/** What became of a preview's task. */
export function applyPreviewCommand(
  recorder: SessionRecorder,
  turn: TurnState,
  call: ToolCallState,
  command: TaskStarted | TaskSettled | TaskLost,
): Rejected | undefined {
  switch (command.$typeName) {
    case "task.started":
      return invalid("start", "A preview begins without a start: it does nothing.");
    case "task.settled":
      return settlePreview(recorder, turn, call, command);
    case "task.lost":
      losePreview(recorder, turn, call);
      return undefined;
    default:
      return command satisfies never;
  }
}

/** The worker told what a call would do, or could not: then the call fails, the model is told, and nobody is asked. */
function settlePreview(recorder: SessionRecorder, turn: TurnState, call: ToolCallState, command: TaskSettled): Rejected | undefined {
  const { outcome } = command;
  switch (outcome.case) {
    case "preview": {
      const problem = previewProblem(outcome.value);
      if (problem === undefined) decideOnPreview(recorder, turn, call, outcome.value, command.worker);
      else failPreview(recorder, turn, call, previewError(call, ErrorCode.VALIDATION, "PREVIEW_INVALID", `The worker's preview is not usable: ${problem}`));
      return undefined;
    }
    case "failure":
      failPreview(recorder, turn, call, boundedError(outcome.value.error));
      return undefined;
    case "cancelled":
      failPreview(
        recorder,
        turn,
        call,
        previewError(call, ErrorCode.CANCELLED, "PREVIEW_FAILED", `Worker ${command.worker} did not say what the call would do. It was not executed.`),
      );
      return undefined;
    default:
      return invalid("settlement", "A preview is settled by a preview, a failure or a cancellation.");
  }
}

/** Workers were lost on it as often as the engine gives a task out anew. A preview has no effect, so nothing is unknown. */
function losePreview(recorder: SessionRecorder, turn: TurnState, call: ToolCallState): void {
  const message = "Workers were lost before they had said what the call would do. It was not executed.";
  failPreview(recorder, turn, call, previewError(call, ErrorCode.WORKER_LOST, "WORKER_LOST", message));
}

/** The gate, once more, knowing what the call would do. What a person edited is allowed by his answer, unless the policy denies it. */
function decideOnPreview(recorder: SessionRecorder, turn: TurnState, call: ToolCallState, told: ToolPreview, worker: string): void {
  const { state, context } = recorder;
  const spec = findTool(turn, call.tool);
  // Nothing but the known fields: what is decided on is what is kept.
  const preview = known(told);
  const ids = { turnId: turn.turnId, toolCallId: call.toolCallId };
  const verdict =
    spec === undefined
      ? { kind: "denied" as const, source: "gate:TOOL_NOT_FOUND", reason: "The tool is not served any more." }
      : judge(context, state, turn, { tool: spec, preview });
  const decision =
    call.edited && verdict.kind !== "denied"
      ? create(CapabilityDecisionSchema, { ...call.decision, previewDigest: previewDigest(context, preview) })
      : bindDecision(recorder, turn, { spec, tool: call.tool, argumentsJson: call.argumentsJson, preview }, verdict);
  recorder.record({ ...ids, payload: { case: "toolPreviewed", value: create(ToolPreviewedSchema, { preview, decision, worker }) }, sensitive: true });
  if (verdict.kind === "denied") {
    recorder.record({ ...ids, payload: { case: "toolDenied", value: create(ToolDeniedSchema, { decision, reason: verdict.reason }) }, sensitive: true });
  } else if (verdict.kind === "asked" && !call.edited) {
    const value = create(ToolApprovalRequiredSchema, { approvalId: context.newId(), expiresAt: decision.expiresAt });
    recorder.record({ ...ids, payload: { case: "toolApprovalRequired", value } });
  }
}

function failPreview(recorder: SessionRecorder, turn: TurnState, call: ToolCallState, error: ForgeError): void {
  const ids = { turnId: turn.turnId, toolCallId: call.toolCallId };
  recorder.record({ ...ids, payload: { case: "toolFailed", value: create(ToolFailedSchema, { error }) }, sensitive: true });
}

function previewError(call: ToolCallState, code: ErrorCode, reason: string, message: string): ForgeError {
  return create(ForgeErrorSchema, { code, reason, message, origin: "control-plane", relatedIds: [call.toolCallId] });
}

function known({ title, diff, diffArtifact, risk, factsJson, ruleKey, ruleTitle, paths }: ToolPreview): ToolPreview {
  return create(ToolPreviewSchema, { title, diff, diffArtifact, risk, factsJson, ruleKey, ruleTitle, paths });
}

/** What is wrong with a preview, as a sentence; undefined where it keeps its bounds. */
function previewProblem(preview: ToolPreview): string | undefined {
  const { title, diff, factsJson, ruleKey, ruleTitle, paths, risk } = preview;
  if (![title, diff, factsJson, ruleKey, ruleTitle, ...paths].every(isStorable)) return "it holds a NUL or half of a surrogate pair.";
  if (title.length > TITLE_MAX || ruleTitle.length > TITLE_MAX) return `a title has more than ${TITLE_MAX} characters.`;
  if (utf8Length(diff) > DIFF_BYTES_MAX) return "its diff is longer than 32 KiB.";
  if (utf8Length(factsJson) > FACTS_BYTES_MAX) return "its facts are longer than 8 KiB.";
  if (ruleKey.length > RULE_KEY_MAX) return `its rule key has more than ${RULE_KEY_MAX} characters.`;
  if (paths.length > PATHS_MAX || paths.some((path) => path.length > PATH_MAX))
    return `it names more than ${PATHS_MAX} paths, or one of more than ${PATH_MAX} characters.`;
  return RiskLevelSchema.value[risk] === undefined ? "its risk is none that is known." : undefined;
}
