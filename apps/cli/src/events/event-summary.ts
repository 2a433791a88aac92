import type { ForgeError } from "@forge/protocol/common";
import { CheckpointKindSchema, CompactionReasonSchema, type Event, FinishReasonSchema, type SessionCreated } from "@forge/protocol/event";
import { HookAtSchema, type Part, PlanStepStatusSchema, RoleSchema, TurnOutcomeSchema } from "@forge/protocol/session";
import { DecisionSchema, ToolModeSchema } from "@forge/protocol/tool";
import { StepTypeSchema } from "@forge/protocol/workflow";
import { formatDuration } from "../output/format-time.ts";
import { formatCost, formatTokens } from "../output/format-usage.ts";
import { enumName } from "../output/message-json.ts";
import { oneLine } from "../output/text.ts";
import { previewValue } from "../output/value.ts";

/** What an event says, on one line of any length; empty where its kind says it all. Kinds that this version does not know are shown by their envelope. */
export function eventSummary({ payload }: Event): string {
  switch (payload.case) {
    case "sessionCreated":
      return created(payload.value);
    case "sessionCompacted":
      return `through ${payload.value.throughSeq}: ${oneLine(payload.value.summary)}`;
    case "sessionForked":
      return `of ${payload.value.sourceSessionId} through ${payload.value.throughSeq}`;
    case "turnSteered":
      return partsText(payload.value.message?.parts ?? []);
    case "turnInputRequested":
      return `input ${payload.value.inputId} ${oneLine(payload.value.question)}`;
    case "turnInputProvided":
      return oneLine(payload.value.text);
    case "turnCheckpointed":
      return enumName(CheckpointKindSchema, payload.value.kind);
    case "messageAdded":
      return `${enumName(RoleSchema, payload.value.message?.role ?? 0).toLowerCase()}: ${partsText(payload.value.message?.parts ?? [])}`;
    case "turnStarted":
      return payload.value.tools.map(({ name }) => name).join(" ");
    case "turnOutputDelta":
      return deltaText(payload.value.channel);
    case "turnCompleted":
      return `${enumName(TurnOutcomeSchema, payload.value.outcome)} ${oneLine(payload.value.textPreview)}`;
    case "turnFailed":
      return `${enumName(TurnOutcomeSchema, payload.value.outcome)} ${problem(payload.value.error)}`;
    case "turnCancelRequested":
    case "turnAbandoned":
    case "toolCancelled":
    case "toolSettledUnknown":
    case "toolDenied":
      return oneLine(payload.value.reason);
    case "modelRequested":
      return `${payload.value.model} call ${payload.value.callIndex}`;
    case "modelStarted":
      return `${payload.value.worker} request ${payload.value.requestDigest.slice(0, 12)}`;
    case "modelAttemptFailed":
    case "stepAttemptFailed":
      return `attempt ${payload.value.attempt}: ${problem(payload.value.error)}`;
    case "modelCompleted":
      return `${enumName(FinishReasonSchema, payload.value.finishReason)} ${formatDuration(Number(payload.value.durationMs))} ${partsText(payload.value.parts)}`;
    case "modelUsageRecorded":
      return `${payload.value.model} tokens ${formatTokens(payload.value.usage)} cost ${formatCost(payload.value.usage)}`;
    case "toolRequested":
      return `${payload.value.tool} ${oneLine(payload.value.argumentsJson)} (${decision(payload.value.decision)})`;
    case "toolApprovalRequired":
      return `approval ${payload.value.approvalId}`;
    case "toolStarted":
    case "stepAttemptStarted":
      return payload.value.worker;
    case "toolOutputDelta":
      return oneLine(payload.value.text);
    case "toolCompleted":
      return `${formatDuration(Number(payload.value.durationMs))} ${previewValue(payload.value.output)}`;
    case "toolReportedLate":
      return `${payload.value.worker} ${payload.value.outcome} ${oneLine(payload.value.preview)}`;
    case "approvalResolved":
      return oneLine(`${decision(payload.value.decision)} ${payload.value.comment}`);
    case "approvalExpired":
      return `approval ${payload.value.approvalId}`;
    case "toolPreviewed":
      return `${oneLine(payload.value.preview?.title ?? "")} (${decision(payload.value.decision)})`;
    case "toolArgumentsEdited":
      return `by ${oneLine(payload.value.editedBy)}: ${oneLine(payload.value.argumentsJson)}`;
    case "toolRetried":
      return `attempt ${payload.value.attempt}: ${problem(payload.value.error)}`;
    case "planUpdated":
      return (payload.value.plan?.items ?? [])
        .map(({ step, status }) => `${enumName(PlanStepStatusSchema, status).toLowerCase()}: ${oneLine(step)}`)
        .join("; ");
    case "userProgressReported":
      return oneLine(payload.value.message);
    case "userStructuredReported":
      return oneLine(`${payload.value.type} ${payload.value.json}`);
    case "hookRequested":
    case "hookCompleted":
    case "hookFailed":
      return hook(payload.value);
    case "workspaceChangeRecorded":
      return payload.value.files.map(({ path, addedLines, removedLines }) => `${oneLine(path)} +${addedLines} -${removedLines}`).join(", ");
    case "workspaceUndoRequested":
      return `${payload.value.changeIds.length} changes`;
    case "workspaceChangeUndone":
      return [
        `${payload.value.changeIds.length} changes`,
        ...payload.value.refused.map(({ path, reason }) => `refused ${oneLine(path)}: ${oneLine(reason)}`),
      ].join(", ");
    case "sessionCompactionRequested":
      return `${enumName(CompactionReasonSchema, payload.value.reason).toLowerCase()} through ${payload.value.throughSeq} by ${payload.value.model}`;
    case "sessionRewound":
      return `to ${payload.value.throughSeq}`;
    case "sessionPolicyUpdated":
      return `mode ${enumName(ToolModeSchema, payload.value.policy?.mode ?? 0).toLowerCase()}${payload.value.grantsRevoked ? ", grants revoked" : ""}`;
    case "runCreated":
      return `${payload.value.definition?.id}@${payload.value.definition?.version} ${previewValue(payload.value.inputs)}`;
    case "runForked":
      return `of ${payload.value.origin?.runId ?? ""} before ${oneLine(payload.value.origin?.stepId ?? "")}`;
    case "runSignalled":
      return `${oneLine(payload.value.name)} ${previewValue(payload.value.payload)}`;
    case "runResumed":
      return payload.value.stepIds.map(oneLine).join(" ");
    case "stepSkipped":
      return oneLine(`${payload.value.reason} ${payload.value.need}`);
    case "runCompleted":
      return `${payload.value.withErrors ? "with errors " : ""}${previewValue(payload.value.output)}`;
    case "sessionCompactionFailed":
    case "workspaceUndoFailed":
    case "modelFailed":
    case "toolFailed":
    case "runFailed":
    case "stepFailed":
      return problem(payload.value.error);
    case "stepStarted":
      return [
        enumName(StepTypeSchema, payload.value.stepType).toLowerCase(),
        ...(payload.value.attempt > 1 ? [`attempt ${payload.value.attempt}`] : []),
        ...(payload.value.itemIndex === undefined ? [] : [`item ${payload.value.itemIndex}`]),
        ...(payload.value.itemCount === undefined ? [] : [`${payload.value.itemCount} items`]),
        ...(payload.value.sessionId === "" ? [] : [`session ${payload.value.sessionId}`]),
        ...(payload.value.childRunId === "" ? [] : [`run ${payload.value.childRunId}`]),
        ...(payload.value.waitsForSignal === "" ? [] : [`for the signal ${oneLine(payload.value.waitsForSignal)}`]),
        ...(payload.value.approvalId === "" ? [] : [`approval ${payload.value.approvalId} ${oneLine(payload.value.question)}`]),
      ].join(" ");
    case "stepCompleted":
      return [
        ...(payload.value.overwrote ? ["in place of another output:"] : []),
        ...(payload.value.nextSource === "" ? [] : [`→ ${payload.value.nextStepId || "end"} (${payload.value.nextSource})`]),
        previewValue(payload.value.output),
      ].join(" ");
    default:
      return "";
  }
}

/** The text of a message's parts; calls and results by their tool. */
export function partsText(parts: readonly Part[]): string {
  return parts.map(({ kind }) => oneLine(partText(kind))).join(" ");
}

function partText(kind: Part["kind"]): string {
  switch (kind.case) {
    case "text":
      return kind.value.text;
    case "reasoning":
      return `(${kind.value.text})`;
    case "toolCall":
      return `[${kind.value.tool}]`;
    case "toolResult":
      return `[${kind.value.tool}: ${kind.value.output}]`;
    case "artifact":
      return `[${kind.value.mediaType}, ${kind.value.size} bytes]`;
    default:
      return "";
  }
}

function created({ agent, title, parent }: SessionCreated): string {
  return oneLine(
    [agent?.model ?? "", title, parent === undefined ? "" : `for step ${parent.stepId} of run ${parent.runId}`].filter((part) => part !== "").join(" "),
  );
}

function deltaText(channel: { readonly case?: string; readonly value?: unknown }): string {
  const { value } = channel;
  if (typeof value === "string") return oneLine(channel.case === "reasoning" ? `(${value})` : value);
  return typeof value === "object" && value !== null && "argumentsJson" in value ? oneLine(String(value.argumentsJson)) : "";
}

function decision(value: { readonly decision: number; readonly source: string } | undefined): string {
  return value === undefined ? "" : `${enumName(DecisionSchema, value.decision).toLowerCase()} by ${value.source}`;
}

function hook(value: { readonly hook: string; readonly at: number; readonly edits?: readonly unknown[]; readonly error?: ForgeError }): string {
  const ended = value.error === undefined ? (value.edits === undefined ? "" : ` ${value.edits.length} edits`) : ` ${problem(value.error)}`;
  return `${oneLine(value.hook)} at ${enumName(HookAtSchema, value.at)}${ended}`;
}

function problem(error: ForgeError | undefined): string {
  return error === undefined ? "" : oneLine(`${error.reason} ${error.message}`);
}
