import { timestampMs } from "@bufbuild/protobuf/wkt";
import type { Event, RunCreated, StepAttemptFailed, StepStarted, ToolRequested } from "@forge/protocol/event";
import { RunStatus } from "@forge/protocol/workflow";
import { addUsage } from "../usage.ts";
import { artifactOf, inlineBytes } from "./json.ts";
import { stepTaskKey } from "./keys.ts";
import { ENDED_CALLS_MAX } from "./limits.ts";
import { type CurrentStep, positionOf, type RunState, type StepMemory, stepAt } from "./state.ts";

const NEVER_EXECUTED: StepMemory = { executionCount: 0, output: undefined };

/** Raised whenever the fold below changes, so that older snapshots are not read. */
export const RUN_REDUCER_VERSION = 1;

/** What an event makes true. Throws on a kind that no run has: an older version must not guess what a newer one wrote. */
export function evolve(state: RunState, event: Event): RunState {
  const { payload } = event;
  switch (payload.case) {
    case "runCreated":
      return created(payload.value, event);
    case "runStarted":
      return state;
    case "runCancelRequested":
      return { ...state, status: RunStatus.CANCELLING, cancelRequestCount: state.cancelRequestCount + 1 };
    case "runCompleted":
      return ended(state, payload.value.withErrors ? RunStatus.COMPLETED_WITH_ERRORS : RunStatus.COMPLETED);
    case "runFailed":
      return ended(state, RunStatus.FAILED);
    case "runCancelled":
      return ended(state, RunStatus.CANCELLED);
    case "stepStarted":
      return stepStarted(state, payload.value, event);
    case "stepAttemptStarted":
      return withCurrent(state, (current) => ({ ...current, started: true }));
    case "stepAttemptFailed":
      return attemptFailed(state, payload.value, event);
    case "stepCompleted":
      return stepEnded(state, payload.value.output);
    case "stepFailed":
      return { ...stepEnded(state, undefined), withErrors: true };
    case "toolRequested":
      return toolRequested(state, payload.value, event);
    case "toolStarted":
      return withCurrent(state, (current) => ({ ...current, started: true }));
    case "toolCompleted":
    case "toolFailed":
    case "toolCancelled":
    case "toolSettledUnknown":
      return callEnded(state);
    case "toolOutputDelta":
      return state;
    case "toolReportedLate":
      return { ...state, endedCalls: state.endedCalls.filter((call) => call.toolCallId !== event.toolCallId) };
    case "toolApprovalRequired":
    case "toolDenied":
    case "approvalResolved":
    case "approvalExpired":
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
    case undefined:
      throw new Error(`a run has no event ${payload.case ?? "of an unknown kind"}`);
    default:
      throw new Error(`a run has no event ${(payload satisfies never as { case: string }).case}`);
  }
}

function occurredAtMs(event: Event): number {
  return event.occurredAt === undefined ? 0 : timestampMs(event.occurredAt);
}

function created(payload: RunCreated, event: Event): RunState {
  const { definition } = payload;
  if (definition === undefined) throw new Error("a run was created without a definition");
  return {
    runId: event.stream?.id ?? "",
    status: RunStatus.RUNNING,
    workflowId: definition.id,
    workflowVersion: definition.version,
    definition,
    inputs: payload.inputs,
    labels: payload.labels,
    queue: payload.queue,
    modelOverride: payload.modelOverride,
    policy: payload.policy,
    startedBy: event.principal?.id ?? "",
    steps: definition.steps.map(() => NEVER_EXECUTED),
    outputBytes: 0,
    artifactOutputCount: 0,
    executionCount: 0,
    lastPosition: -1,
    current: undefined,
    withErrors: false,
    cancelRequestCount: 0,
    endedCalls: [],
  };
}

/** What only a run that goes on needs is let go, so that ended runs are cheap to keep in memory. */
function ended(state: RunState, status: RunStatus): RunState {
  return { ...state, status, definition: undefined, inputs: undefined, steps: [], outputBytes: 0, artifactOutputCount: 0, current: undefined };
}

function withCurrent(state: RunState, change: (current: CurrentStep) => CurrentStep): RunState {
  if (state.current === undefined) throw new Error(`run ${state.runId} executes no step`);
  return { ...state, current: change(state.current) };
}

function stepStarted(state: RunState, payload: StepStarted, event: Event): RunState {
  const { current } = state;
  if (current?.executionIndex === payload.executionIndex) {
    // An agent step tries again, in a session of its own.
    return {
      ...state,
      current: { ...current, attempt: payload.attempt, waiting: false, started: false, sessionId: payload.sessionId, decidedAtMs: occurredAtMs(event) },
    };
  }
  const position = positionOf(state, event.stepId);
  if (position === undefined) throw new Error(`run ${state.runId} has no step ${event.stepId}`);
  const memory = state.steps[position] as StepMemory;
  return {
    ...state,
    steps: state.steps.with(position, { ...memory, executionCount: memory.executionCount + 1 }),
    executionCount: payload.executionIndex + 1,
    lastPosition: position,
    current: {
      stepId: event.stepId,
      position,
      executionIndex: payload.executionIndex,
      attempt: payload.attempt,
      decidedAtMs: occurredAtMs(event),
      dueAtMs: 0,
      waiting: false,
      started: false,
      input: payload.input,
      sessionId: payload.sessionId,
      prompt: payload.prompt,
      isIdempotentTool: false,
      call: undefined,
      usage: undefined,
    },
  };
}

function attemptFailed(state: RunState, payload: StepAttemptFailed, event: Event): RunState {
  return withCurrent(state, (current) => ({
    ...current,
    attempt: payload.attempt + 1,
    decidedAtMs: occurredAtMs(event),
    dueAtMs: payload.nextAttemptAt === undefined ? 0 : timestampMs(payload.nextAttemptAt),
    waiting: stepAt(state, current.position).kind.case === "agent",
    started: false,
    sessionId: "",
    usage: addUsage(current.usage, payload.usage),
  }));
}

function stepEnded(state: RunState, output: StepMemory["output"]): RunState {
  if (state.current === undefined) throw new Error(`run ${state.runId} executes no step`);
  const { position } = state.current;
  const memory = state.steps[position] as StepMemory;
  return {
    ...state,
    steps: state.steps.with(position, { ...memory, output }),
    outputBytes: state.outputBytes - inlineBytes(memory.output) + inlineBytes(output),
    artifactOutputCount: state.artifactOutputCount - artifactCount(memory.output) + artifactCount(output),
    current: undefined,
  };
}

function artifactCount(output: StepMemory["output"]): number {
  return artifactOf(output) === undefined ? 0 : 1;
}

function toolRequested(state: RunState, payload: ToolRequested, event: Event): RunState {
  const { decision } = payload;
  if (decision === undefined) throw new Error(`tool call ${event.toolCallId} was requested without a decision`);
  return withCurrent(state, (current) => ({
    ...current,
    isIdempotentTool: payload.idempotent,
    call: { toolCallId: event.toolCallId, argumentsJson: payload.argumentsJson, decision },
  }));
}

function callEnded(state: RunState): RunState {
  const { current } = state;
  if (current?.call === undefined) throw new Error(`run ${state.runId} has no open tool call`);
  const ended = { key: stepTaskKey(current), stepId: current.stepId, toolCallId: current.call.toolCallId };
  return { ...state, endedCalls: [...state.endedCalls, ended].slice(-ENDED_CALLS_MAX), current: { ...current, call: undefined } };
}
