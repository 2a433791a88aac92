import type { Event } from "@forge/protocol/event";
import { DecisionSchema } from "@forge/protocol/tool";
import { RunStatus } from "@forge/protocol/workflow";
import { created, deadlineError, ended, forked } from "./evolve-run.ts";
import { attemptFailed, stepCancelled, stepCompleted, stepFailed, stepSkipped, stepStarted } from "./evolve-step.ts";
import { callEnded, calling, toolRequested } from "./evolve-tool-call.ts";
import { NO_EXECUTIONS } from "./executions.ts";
import { ENDED_CALLS_MAX } from "./limits.ts";
import { asked, bound, changed, occurredAtMs, replaced } from "./open-executions.ts";
import { openAgain } from "./readiness.ts";
import type { RunState } from "./state.ts";

/** Raised whenever the fold below changes, so that older snapshots are not read. */
export const RUN_REDUCER_VERSION = 5;

/** What an event makes true. Throws on a kind that no run has: an older version must not guess what a newer one wrote. */
export function evolve(state: RunState, event: Event): RunState {
  const { payload } = event;
  switch (payload.case) {
    case "runCreated":
      return created(payload.value, event);
    case "runForked":
      return forked(state, payload.value);
    case "runStarted":
      return state.concurrency === undefined ? state : { ...state, queued: false, deadlineFromMs: occurredAtMs(event) };
    case "runQueued":
      return { ...state, queued: true, concurrencyStreamId: payload.value.concurrencyStreamId };
    case "runSignalled":
      return { ...state, signals: [...state.signals, { name: payload.value.name, payload: payload.value.payload }] };
    case "runPaused":
      return { ...state, paused: true };
    case "runContinued":
      return { ...state, paused: false };
    case "runResumed":
      return openAgain({ ...state, status: RunStatus.RUNNING, failure: undefined, deadlineFromMs: occurredAtMs(event) }, payload.value.stepIds);
    case "runCancelRequested":
      return asked({ ...state, status: RunStatus.CANCELLING }, event);
    case "runDeadlinePassed":
      return bound(asked(state, event), deadlineError(state));
    case "runCompleted":
      return ended(state, payload.value.withErrors ? RunStatus.COMPLETED_WITH_ERRORS : RunStatus.COMPLETED);
    case "runFailed":
      return { ...state, status: RunStatus.FAILED, executions: NO_EXECUTIONS, paused: false, queued: false };
    case "runCancelled":
      return ended(state, RunStatus.CANCELLED);
    case "stepStarted":
      return stepStarted(state, payload.value, event);
    case "stepAttemptStarted":
      return changed(state, event, payload.value.executionIndex, (execution) => ({ ...execution, started: true }));
    case "stepAttemptFailed":
      return attemptFailed(state, payload.value, event);
    case "stepCompleted":
      return stepCompleted(state, payload.value, event);
    case "stepFailed":
      return stepFailed(state, payload.value, event);
    case "stepSkipped":
      return stepSkipped(state, event);
    case "stepCancelled":
      return stepCancelled(state, payload.value.executionIndex, payload.value.usage);
    case "approvalResolved": {
      const { approvalId, decision } = payload.value;
      const resolution = { approvalId, decision: DecisionSchema.value[decision?.decision ?? 0]?.name ?? "", decidedBy: decision?.decidedBy ?? "" };
      return { ...state, resolutions: [...state.resolutions, resolution].slice(-ENDED_CALLS_MAX) };
    }
    case "approvalExpired":
      return state;
    case "toolRequested":
      return toolRequested(state, payload.value, event);
    case "toolStarted":
      return replaced(state, calling(state, event), (execution) => ({ ...execution, started: true }));
    case "toolCompleted":
    case "toolFailed":
    case "toolCancelled":
    case "toolSettledUnknown":
      return callEnded(state, event);
    case "toolOutputDelta":
    case "userProgressReported":
    case "userStructuredReported":
      return state;
    case "toolReportedLate":
      return { ...state, endedCalls: state.endedCalls.filter((call) => call.toolCallId !== event.toolCallId) };
    case "toolApprovalRequired":
    case "toolDenied":
    case "toolPreviewed":
    case "toolArgumentsEdited":
    case "toolRetried":
    case "planUpdated":
    case "hookRequested":
    case "hookCompleted":
    case "hookFailed":
    case "workspaceChangeRecorded":
    case "workspaceUndoRequested":
    case "workspaceChangeUndone":
    case "workspaceUndoFailed":
    case "sessionCompactionRequested":
    case "sessionCompactionFailed":
    case "sessionRewound":
    case "sessionCreated":
    case "sessionClosed":
    case "sessionPolicyUpdated":
    case "sessionCompacted":
    case "sessionForked":
    case "messageAdded":
    case "turnStarted":
    case "turnOutputDelta":
    case "turnCompleted":
    case "turnFailed":
    case "turnCancelRequested":
    case "turnCancelled":
    case "turnAbandoned":
    case "turnInputRequested":
    case "turnInputProvided":
    case "turnSteered":
    case "turnPaused":
    case "turnContinued":
    case "turnCheckpointed":
    case "modelRequested":
    case "modelStarted":
    case "modelAttemptFailed":
    case "modelCompleted":
    case "modelFailed":
    case "modelCancelled":
    case "modelUsageRecorded":
    case "concurrencyRequested":
    case "concurrencyGranted":
    case "concurrencyReleased":
    case undefined:
      throw new Error(`a run has no event ${payload.case ?? "of an unknown kind"}`);
    default:
      throw new Error(`a run has no event ${(payload satisfies never as { case: string }).case}`);
  }
}
