import { create } from "@bufbuild/protobuf";
import { durationFromMs, durationMs } from "@bufbuild/protobuf/wkt";
import { FunctionTaskSchema, type Task, TaskSchema, ToolTaskSchema } from "@forge/protocol/worker";
import { type FunctionStep, RunStatus, type StepDefinition } from "@forge/protocol/workflow";
import type { OutstandingTask } from "../task.ts";
import { isIdempotent } from "./idempotent.ts";
import { idempotencyKey, retryTimerKey, stepTaskKey } from "./keys.ts";
import { TIMEOUT_MS_DEFAULT } from "./limits.ts";
import { type CurrentStep, isActive, type RunState, type StepCall, stepAt } from "./state.ts";
import { artifactInputs } from "./tool-call.ts";

/** The one task that a run waits for: a function's or tool's attempt, or the time of an agent's next attempt. A turn under way is its session's. */
export function outstanding(state: RunState): readonly OutstandingTask[] {
  const { current } = state;
  if (current === undefined || !isActive(state)) return [];
  const step = stepAt(state, current.position);
  switch (step.kind.case) {
    case "agent":
      return current.waiting ? [{ kind: "timer", key: retryTimerKey(current), dueAtMs: current.dueAtMs }] : [];
    case "function":
      return [workTask(state, current, `function:${step.kind.value.name}`, functionTask(state, current, step, step.kind.value))];
    case "tool":
      return current.call === undefined ? [] : [workTask(state, current, `tool:${step.kind.value.tool}`, toolTask(state, current, step, current.call))];
    case undefined:
      throw new Error(`step ${step.id} of run ${state.runId} has no kind`);
  }
}

function workTask(state: RunState, current: CurrentStep, capability: string, task: Task): OutstandingTask {
  return {
    kind: "work",
    key: stepTaskKey(current),
    queue: state.queue,
    capability,
    task,
    idempotent: isIdempotent(state, current),
    dueAtMs: current.dueAtMs,
    cancelRequested: state.status === RunStatus.CANCELLING,
  };
}

function functionTask(state: RunState, current: CurrentStep, step: StepDefinition, { name }: FunctionStep): Task {
  const value = create(FunctionTaskSchema, { runId: state.runId, stepId: current.stepId, attempt: current.attempt, name, input: { ...current.input } });
  return create(TaskSchema, { kind: { case: "function", value }, ...commonFields(state, current, step) });
}

function toolTask(state: RunState, current: CurrentStep, step: StepDefinition, call: StepCall): Task {
  const value = create(ToolTaskSchema, {
    toolCallId: call.toolCallId,
    tool: call.decision.tool,
    argumentsJson: call.argumentsJson,
    runId: state.runId,
    stepId: current.stepId,
    decision: call.decision,
    input: artifactInputs(current.input),
  });
  return create(TaskSchema, { kind: { case: "tool", value }, ...commonFields(state, current, step) });
}

/** The time counts from when a worker gets the attempt: a run whose workers were away for a day goes on where it stopped. */
function commonFields(state: RunState, current: CurrentStep, step: StepDefinition) {
  const timeoutMs = step.timeout === undefined ? TIMEOUT_MS_DEFAULT : durationMs(step.timeout);
  return {
    idempotencyKey: idempotencyKey(state.runId, current),
    needsStart: !isIdempotent(state, current),
    timeout: durationFromMs(timeoutMs),
  };
}
