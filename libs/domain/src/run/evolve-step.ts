import { timestampMs } from "@bufbuild/protobuf/wkt";
import { ErrorCode, type Usage } from "@forge/protocol/common";
import type { Event, StepAttemptFailed, StepCompleted, StepFailed, StepStarted } from "@forge/protocol/event";
import { OnError } from "@forge/protocol/workflow";
import { addUsage } from "../usage.ts";
import { allOf, type Chunks, chunksOf, itemAt, withItem, withoutFirst } from "./chunks.ts";
import { runError, stepError } from "./errors.ts";
import { withExecution } from "./executions.ts";
import { asked, bound, changed, executionOf, occurredAtMs, replaced, without } from "./open-executions.ts";
import { outputOf } from "./outputs.ts";
import { withDependentsReady } from "./readiness.ts";
import { type Execution, executionAt, type Group, isGraph, memoryAt, positionOf, type RunState, type StepMemory, stepAt } from "./state.ts";
import { remembered, unweighed, weighed } from "./weights.ts";

export function stepStarted(state: RunState, payload: StepStarted, event: Event): RunState {
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
    promptVariant: payload.promptVariant,
    childRunId: payload.childRunId,
    isIdempotentTool: false,
    call: undefined,
    usage: undefined,
    wait: waitOf(state, position, payload),
    group: payload.itemCount === undefined ? undefined : newGroup(payload.itemCount),
    item: payload.groupIndex === undefined ? undefined : { groupIndex: payload.groupIndex, index: payload.itemIndex ?? 0 },
  };
  const begun = { ...state, executionCount: payload.executionIndex + 1, executions: withExecution(state.executions, execution) };
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

export function attemptFailed(state: RunState, payload: StepAttemptFailed, event: Event): RunState {
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

export function stepCompleted(state: RunState, payload: StepCompleted, event: Event): RunState {
  const execution = executionOf(state, event, payload.executionIndex);
  const counted = { ...without(state, execution), usage: addUsage(state.usage, ownUsage(execution, payload.usage)) };
  const { item, position, group, wait } = execution;
  if (item !== undefined) {
    const done = withGroup(counted, item.groupIndex, (of) => ({ ...of, open: of.open - 1, outputs: withItem(of.outputs, item.index, payload.output) }));
    return weighed(done, undefined, payload.output);
  }
  const after = remembered(unweighed(withoutSignal(counted, wait), group), position, {
    ...memoryAt(state, position),
    ...outputOf(execution, payload.output),
    outcome: "completed",
  });
  if (isGraph(state)) return withDependentsReady(after, position);
  return withNext(after, position, payload.nextStepId, payload.nextSource);
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

export function stepFailed(state: RunState, payload: StepFailed, event: Event): RunState {
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
  if (payload.nextSource !== undefined) return withNext(after, position, payload.nextStepId, payload.nextSource);
  // A history from before the step's branch was asked.
  return { ...after, ready: chunksOf(position + 1 < state.steps.length ? [position + 1] : []), unresolved: undefined };
}

/** Of a sequence: what follows a step that has ended. */
function withNext(state: RunState, position: number, nextStepId: string, nextSource: string): RunState {
  const next = nextStepId === "" ? undefined : positionOf(state, nextStepId);
  return { ...state, ready: chunksOf(next === undefined ? [] : [next]), unresolved: nextSource === "" ? position : undefined };
}

export function stepSkipped(state: RunState, event: Event): RunState {
  const position = positionOf(state, event.stepId);
  if (position === undefined) throw new Error(`run ${state.runId} has no step ${event.stepId}`);
  const skipped = remembered(state, position, { ...memoryAt(state, position), output: undefined, items: undefined, outcome: "skipped" });
  return withDependentsReady({ ...skipped, ready: notReady(state.ready, position) }, position);
}

export function stepCancelled(state: RunState, executionIndex: number, usage: Usage | undefined): RunState {
  const execution = executionAt(state, executionIndex);
  if (execution === undefined) throw new Error(`run ${state.runId} has no open execution ${executionIndex}`);
  const after = { ...unweighed(without(state, execution), execution.group), usage: addUsage(state.usage, ownUsage(execution, usage)) };
  const { item } = execution;
  return item === undefined ? after : withGroup(after, item.groupIndex, (group) => ({ ...group, open: group.open - 1 }));
}
