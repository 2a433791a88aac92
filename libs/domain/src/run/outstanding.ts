import { create } from "@bufbuild/protobuf";
import { durationFromMs, durationMs } from "@bufbuild/protobuf/wkt";
import { FunctionTaskSchema, type Task, TaskSchema, ToolTaskSchema } from "@forge/protocol/worker";
import type { FunctionStep, StepDefinition } from "@forge/protocol/workflow";
import type { Outstanding, OutstandingTask } from "../task.ts";
import { perChunk } from "./executions.ts";
import { isIdempotent } from "./idempotent.ts";
import { deadlineTimerKey, idempotencyKey, retryTimerKey, stepTaskKey, waitTimerKey } from "./keys.ts";
import { TIMEOUT_MS_DEFAULT } from "./limits.ts";
import { type Execution, isActive, isStopping, type RunState, type StepCall, stepAt } from "./state.ts";
import { artifactInputs } from "./tool-call.ts";

/**
 * What a run waits for: attempts of functions and tools, the times of next attempts and waits, and its own deadline. A turn or a run under way is its
 * own stream's.
 */
export function outstanding(state: RunState): Outstanding {
  if (!isActive(state)) return [];
  const parts = state.executions.chunks.map((chunk) => tasksIn(chunk, state));
  const deadline = deadlineOf(state);
  return deadline === undefined ? parts : [...parts, [deadline]];
}

const tasksIn = perChunk((items, state: RunState) => items.flatMap((execution) => knownTasks(state, execution)));

function deadlineOf(state: RunState): OutstandingTask | undefined {
  const { deadlineFromMs, definition, queued } = state;
  if (definition?.deadline === undefined || isStopping(state) || queued) return undefined;
  return { kind: "timer", key: deadlineTimerKey(deadlineFromMs), dueAtMs: deadlineFromMs + durationMs(definition.deadline) };
}

/** Most of what is under way has not changed since the last time. Of its run, tasks depend on what never changes. */
const known = new WeakMap<Execution, readonly OutstandingTask[]>();

function knownTasks(state: RunState, execution: Execution): readonly OutstandingTask[] {
  let tasks = known.get(execution);
  if (tasks === undefined) {
    tasks = tasksOf(state, execution);
    known.set(execution, tasks);
  }
  return tasks;
}

function tasksOf(state: RunState, execution: Execution): readonly OutstandingTask[] {
  if (execution.group !== undefined) return [];
  const step = stepAt(state, execution.position);
  switch (step.kind.case) {
    case "agent":
    case "workflow":
      return execution.waiting ? [{ kind: "timer", key: retryTimerKey(execution), dueAtMs: execution.dueAtMs }] : [];
    case "wait": {
      const untilMs = execution.wait?.untilMs ?? 0;
      return untilMs === 0 ? [] : [{ kind: "timer", key: waitTimerKey(execution), dueAtMs: untilMs }];
    }
    case "function":
      return [workTask(state, execution, `function:${step.kind.value.name}`, functionTask(state, execution, step, step.kind.value))];
    case "tool":
      return execution.call === undefined ? [] : [workTask(state, execution, `tool:${step.kind.value.tool}`, toolTask(state, execution, step, execution.call))];
    case undefined:
      throw new Error(`step ${step.id} of run ${state.runId} has no kind`);
  }
}

function workTask(state: RunState, execution: Execution, capability: string, task: Task): OutstandingTask {
  return {
    kind: "work",
    key: stepTaskKey(execution),
    queue: state.queue,
    capability,
    task,
    idempotent: isIdempotent(state, execution),
    dueAtMs: execution.dueAtMs,
    priority: state.priority,
    cancelRequested: execution.stopSeq > 0,
  };
}

function functionTask(state: RunState, execution: Execution, step: StepDefinition, { name }: FunctionStep): Task {
  const value = create(FunctionTaskSchema, { runId: state.runId, stepId: execution.stepId, attempt: execution.attempt, name, input: { ...execution.input } });
  return create(TaskSchema, { kind: { case: "function", value }, ...commonFields(state, execution, step) });
}

function toolTask(state: RunState, execution: Execution, step: StepDefinition, call: StepCall): Task {
  const value = create(ToolTaskSchema, {
    toolCallId: call.toolCallId,
    tool: call.decision.tool,
    argumentsJson: call.argumentsJson,
    runId: state.runId,
    stepId: execution.stepId,
    decision: call.decision,
    input: artifactInputs(execution.input),
  });
  return create(TaskSchema, { kind: { case: "tool", value }, ...commonFields(state, execution, step) });
}

/** The time counts from when a worker gets the attempt: a run whose workers were away for a day goes on where it stopped. */
function commonFields(state: RunState, execution: Execution, step: StepDefinition) {
  const timeoutMs = step.timeout === undefined ? TIMEOUT_MS_DEFAULT : durationMs(step.timeout);
  return {
    idempotencyKey: idempotencyKey(state.runId, execution),
    needsStart: !isIdempotent(state, execution),
    timeout: durationFromMs(timeoutMs),
    heartbeatTimeout: step.heartbeatTimeout,
  };
}
