import { timestampMs } from "@bufbuild/protobuf/wkt";
import { ErrorCode, type ForgeError, type Usage } from "@forge/protocol/common";
import type { Event, RunCreated, RunForked, StepAttemptFailed, StepCompleted, StepFailed, StepStarted, ToolRequested } from "@forge/protocol/event";
import { DecisionSchema } from "@forge/protocol/tool";
import { OnError, RunStatus } from "@forge/protocol/workflow";
import { addUsage } from "../usage.ts";
import { allOf, type Chunks, chunksOf, itemAt, withItem, withoutFirst } from "./chunks.ts";
import { runError, stepError } from "./errors.ts";
import { stepTaskKey } from "./keys.ts";
import { ENDED_CALLS_MAX } from "./limits.ts";
import { openAgain, withDependentsReady, withNothingReached } from "./readiness.ts";
import { type Execution, executionAt, type Group, initialRunState, isGraph, memoryAt, positionOf, type RunState, type StepMemory, stepAt } from "./state.ts";
import { remembered, unweighed, weighed } from "./weights.ts";

/** Raised whenever the fold below changes, so that older snapshots are not read. */
export const RUN_REDUCER_VERSION = 3;

/** What an event makes true. Throws on a kind that no run has: an older version must not guess what a newer one wrote. */
export function evolve(state: RunState, event: Event): RunState {
  const { payload } = event;
  switch (payload.case) {
    case "runCreated":
      return created(payload.value, event);
    case "runForked":
      return forked(state, payload.value);
    case "runStarted":
      return state;
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
      return { ...state, status: RunStatus.FAILED, executions: [], paused: false };
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
      return state;
    case "toolReportedLate":
      return { ...state, endedCalls: state.endedCalls.filter((call) => call.toolCallId !== event.toolCallId) };
    case "toolApprovalRequired":
    case "toolDenied":
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
  return withNothingReached({
    ...initialRunState(),
    runId: event.stream?.id ?? "",
    status: RunStatus.RUNNING,
    workflowId: definition.id,
    workflowVersion: definition.version,
    workflowHash: payload.workflowHash,
    definition,
    inputs: payload.inputs,
    labels: payload.labels,
    queue: payload.queue,
    modelOverride: payload.modelOverride,
    policy: payload.policy,
    startedBy: event.principal?.id ?? "",
    parent: payload.parent,
    depth: payload.depth,
    deadlineFromMs: occurredAtMs(event),
  });
}

/** The fork begins with what had come of the other run's steps, as if they had been executed here. */
function forked(state: RunState, { origin, steps }: RunForked): RunState {
  let forkedState = state;
  for (const { stepId, executionCount, output, failed, skipped, items, hasItems } of steps) {
    const position = positionOf(state, stepId);
    if (position === undefined) throw new Error(`run ${state.runId} has no step ${stepId}`);
    const memory: StepMemory = {
      ...memoryAt(forkedState, position),
      executionCount,
      outcome: failed ? "failed" : skipped ? "skipped" : "completed",
      output: output?.kind.case === undefined ? undefined : output,
      items: hasItems ? items.map((item) => (item.kind.case === undefined ? undefined : item)) : undefined,
    };
    forkedState = remembered(forkedState, position, memory);
  }
  return openAgain(forkedState, [origin?.stepId ?? ""]);
}

/** What only a run that goes on, or may be resumed, needs is let go, so that ended runs are cheap to keep in memory. */
function ended(state: RunState, status: RunStatus): RunState {
  return {
    ...state,
    status,
    definition: undefined,
    inputs: undefined,
    steps: chunksOf<StepMemory>([]),
    outputBytes: 0,
    artifactOutputCount: 0,
    ready: chunksOf<number>([]),
    executions: [],
    signals: [],
    failure: undefined,
    paused: false,
  };
}

/** Everything that is under way is asked to stop by this event, but for what was asked before. */
function asked(state: RunState, event: Event, concerns: (execution: Execution) => boolean = () => true): RunState {
  const stopSeq = Number(event.seq);
  return {
    ...state,
    executions: state.executions.map((execution) => (execution.stopSeq === 0 && concerns(execution) ? { ...execution, stopSeq } : execution)),
  };
}

/** The run fails once nothing is under way. What comes first is why. */
function bound(state: RunState, failure: ForgeError): RunState {
  return { ...state, failure: state.failure ?? failure };
}

function deadlineError({ runId }: RunState): ForgeError {
  return stepError(ErrorCode.DEADLINE_EXCEEDED, "RUN_DEADLINE", "", `the run took longer than its workflow allows; resume it to go on: forge resume ${runId}`);
}

/** The execution that an event is about. Histories from before executions could overlap name only the step. */
function executionOf(state: RunState, event: Event, executionIndex: number | undefined): Execution {
  const found = executionIndex === undefined ? state.executions.find((execution) => execution.stepId === event.stepId) : executionAt(state, executionIndex);
  if (found === undefined) throw new Error(`run ${state.runId} executes no step ${event.stepId}`);
  return found;
}

function replaced(state: RunState, execution: Execution, change: (execution: Execution) => Execution): RunState {
  return { ...state, executions: state.executions.map((each) => (each === execution ? change(execution) : each)) };
}

function changed(state: RunState, event: Event, executionIndex: number | undefined, change: (execution: Execution) => Execution): RunState {
  return replaced(state, executionOf(state, event, executionIndex), change);
}

function stepStarted(state: RunState, payload: StepStarted, event: Event): RunState {
  const known = executionAt(state, payload.executionIndex);
  if (known !== undefined) {
    // A step that works in another stream tries again, in a stream of its own.
    return replaced(state, known, (execution) => ({
      ...execution,
      attempt: payload.attempt,
      waiting: false,
      started: false,
      sessionId: payload.sessionId,
      childRunId: payload.childRunId,
      decidedAtMs: occurredAtMs(event),
    }));
  }
  const position = positionOf(state, event.stepId);
  if (position === undefined) throw new Error(`run ${state.runId} has no step ${event.stepId}`);
  const execution: Execution = {
    stepId: event.stepId,
    position,
    executionIndex: payload.executionIndex,
    attempt: payload.attempt,
    decidedAtMs: occurredAtMs(event),
    dueAtMs: 0,
    waiting: false,
    started: false,
    stopSeq: 0,
    input: payload.input,
    sessionId: payload.sessionId,
    prompt: payload.prompt,
    childRunId: payload.childRunId,
    isIdempotentTool: false,
    call: undefined,
    usage: undefined,
    wait: waitOf(state, position, payload),
    group: payload.itemCount === undefined ? undefined : newGroup(payload.itemCount),
    item: payload.groupIndex === undefined ? undefined : { groupIndex: payload.groupIndex, index: payload.itemIndex ?? 0 },
  };
  const begun = { ...state, executionCount: payload.executionIndex + 1, executions: [...state.executions, execution] };
  if (execution.item !== undefined) {
    return withGroup(begun, execution.item.groupIndex, (group) => ({ ...group, next: group.next + 1, open: group.open + 1 }));
  }
  const memory = memoryAt(state, position);
  return {
    ...begun,
    steps: withItem(state.steps, position, { ...memory, executionCount: memory.executionCount + 1, outcome: undefined }),
    ready: notReady(state.ready, position),
    lastPosition: position,
    unresolved: undefined,
  };
}

/** Steps begin, or are passed over, in the order in which they became ready. */
function notReady(ready: Chunks<number>, position: number): Chunks<number> {
  return itemAt(ready, 0) === position ? withoutFirst(ready) : chunksOf(allOf(ready).filter((each) => each !== position));
}

function waitOf(state: RunState, position: number, payload: StepStarted): Execution["wait"] {
  if (stepAt(state, position).kind.case !== "wait") return undefined;
  const untilMs = payload.waitsUntil === undefined ? 0 : timestampMs(payload.waitsUntil);
  return { untilMs, signal: payload.waitsForSignal, approvalId: payload.approvalId, question: payload.question };
}

function newGroup(count: number): Group {
  return { count, next: 0, open: 0, failedCount: 0, firstError: undefined, outputs: chunksOf(Array.from({ length: count }, () => undefined)) };
}

function withGroup(state: RunState, groupIndex: number, change: (group: Group) => Group): RunState {
  const execution = executionAt(state, groupIndex);
  if (execution?.group === undefined) throw new Error(`run ${state.runId} executes no list at ${groupIndex}`);
  const group = change(execution.group);
  return replaced(state, execution, (each) => ({ ...each, group }));
}

function attemptFailed(state: RunState, payload: StepAttemptFailed, event: Event): RunState {
  const counted = { ...state, usage: addUsage(state.usage, payload.usage) };
  return changed(counted, event, payload.executionIndex, (execution) => {
    const { kind } = stepAt(state, execution.position);
    return {
      ...execution,
      attempt: payload.attempt + 1,
      decidedAtMs: occurredAtMs(event),
      dueAtMs: payload.nextAttemptAt === undefined ? 0 : timestampMs(payload.nextAttemptAt),
      waiting: kind.case === "agent" || kind.case === "workflow",
      started: false,
      sessionId: "",
      childRunId: "",
      usage: addUsage(execution.usage, payload.usage),
    };
  });
}

function without(state: RunState, execution: Execution): RunState {
  return { ...state, executions: state.executions.filter((each) => each !== execution) };
}

function stepCompleted(state: RunState, payload: StepCompleted, event: Event): RunState {
  const execution = executionOf(state, event, payload.executionIndex);
  const counted = { ...without(state, execution), usage: addUsage(state.usage, ownUsage(execution, payload.usage)) };
  const { item, position, group, wait } = execution;
  if (item !== undefined) {
    const done = withGroup(counted, item.groupIndex, (of) => ({ ...of, open: of.open - 1, outputs: withItem(of.outputs, item.index, payload.output) }));
    return weighed(done, undefined, payload.output);
  }
  const outputs = group === undefined ? { output: payload.output, items: undefined } : { output: undefined, items: allOf(group.outputs) };
  const after = remembered(unweighed(withoutSignal(counted, wait), group), position, { ...memoryAt(state, position), ...outputs, outcome: "completed" });
  if (isGraph(state)) return withDependentsReady(after, position);
  const next = payload.nextStepId === "" ? undefined : positionOf(state, payload.nextStepId);
  return { ...after, ready: chunksOf(next === undefined ? [] : [next]), unresolved: payload.nextSource === "" ? position : undefined };
}

/** What an execution's end adds to the run's usage: its failed attempts were counted when they failed. */
function ownUsage(execution: Execution, total: Usage | undefined): Usage | undefined {
  if (total === undefined || execution.usage === undefined) return total;
  const before = execution.usage;
  return {
    ...total,
    inputTokens: total.inputTokens - before.inputTokens,
    outputTokens: total.outputTokens - before.outputTokens,
    cachedInputTokens: total.cachedInputTokens - before.cachedInputTokens,
    reasoningTokens: total.reasoningTokens - before.reasoningTokens,
    ...(total.costMicroUsd === undefined ? {} : { costMicroUsd: total.costMicroUsd - (before.costMicroUsd ?? 0n) }),
  };
}

/** A wait takes its signal with it, the oldest of its name, whether it can use it or not. One that gives up leaves none, because it would have been taken. */
function withoutSignal(state: RunState, wait: Execution["wait"]): RunState {
  const taken = wait?.signal ? state.signals.findIndex((signal) => signal.name === wait.signal) : -1;
  return taken === -1 ? state : { ...state, signals: state.signals.toSpliced(taken, 1) };
}

function stepFailed(state: RunState, payload: StepFailed, event: Event): RunState {
  const execution = executionOf(state, event, payload.executionIndex);
  const counted = { ...without(state, execution), usage: addUsage(state.usage, ownUsage(execution, payload.usage)) };
  const { item, position, stepId } = execution;
  const step = stepAt(state, position);
  const error = payload.error ?? stepError(ErrorCode.INTERNAL, "STEP_EXECUTION", stepId, "it failed without an error");
  if (item !== undefined) {
    const after = withGroup(counted, item.groupIndex, (group) => ({
      ...group,
      open: group.open - 1,
      failedCount: group.failedCount + 1,
      firstError: group.firstError ?? { ...error, metadata: { ...error.metadata, item_index: String(item.index) } },
    }));
    return step.forEach?.onError === OnError.CONTINUE ? after : asked(after, event, (each) => each.item?.groupIndex === item.groupIndex);
  }
  const memory: StepMemory = { ...memoryAt(state, position), output: undefined, items: undefined, outcome: "failed" };
  const spent = withoutSignal(unweighed(counted, execution.group), execution.wait);
  const after = { ...remembered(spent, position, memory), withErrors: true };
  if (state.definition?.onError !== OnError.CONTINUE) return asked(bound(after, runError(error, stepId)), event);
  if (isGraph(state)) return withDependentsReady(after, position);
  return { ...after, ready: chunksOf(position + 1 < state.steps.length ? [position + 1] : []), unresolved: undefined };
}

function stepSkipped(state: RunState, event: Event): RunState {
  const position = positionOf(state, event.stepId);
  if (position === undefined) throw new Error(`run ${state.runId} has no step ${event.stepId}`);
  const skipped = remembered(state, position, { ...memoryAt(state, position), output: undefined, items: undefined, outcome: "skipped" });
  return withDependentsReady({ ...skipped, ready: notReady(state.ready, position) }, position);
}

function stepCancelled(state: RunState, executionIndex: number, usage: Usage | undefined): RunState {
  const execution = executionAt(state, executionIndex);
  if (execution === undefined) throw new Error(`run ${state.runId} has no open execution ${executionIndex}`);
  const after = { ...unweighed(without(state, execution), execution.group), usage: addUsage(state.usage, ownUsage(execution, usage)) };
  const { item } = execution;
  return item === undefined ? after : withGroup(after, item.groupIndex, (group) => ({ ...group, open: group.open - 1 }));
}

function toolRequested(state: RunState, payload: ToolRequested, event: Event): RunState {
  const { decision } = payload;
  if (decision === undefined) throw new Error(`tool call ${event.toolCallId} was requested without a decision`);
  return changed(state, event, payload.executionIndex, (execution) => ({
    ...execution,
    isIdempotentTool: payload.idempotent,
    call: { toolCallId: event.toolCallId, argumentsJson: payload.argumentsJson, decision },
  }));
}

function calling(state: RunState, event: Event): Execution {
  const execution = state.executions.find((each) => each.call?.toolCallId === event.toolCallId);
  if (execution === undefined) throw new Error(`run ${state.runId} has no open tool call ${event.toolCallId}`);
  return execution;
}

function callEnded(state: RunState, event: Event): RunState {
  const execution = calling(state, event);
  const over = { key: stepTaskKey(execution), stepId: execution.stepId, toolCallId: event.toolCallId };
  const after = replaced(state, execution, (each) => ({ ...each, call: undefined }));
  return { ...after, endedCalls: [...state.endedCalls, over].slice(-ENDED_CALLS_MAX) };
}
