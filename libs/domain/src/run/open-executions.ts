import { timestampMs } from "@bufbuild/protobuf/wkt";
import type { ForgeError } from "@forge/protocol/common";
import type { Event } from "@forge/protocol/event";
import { allExecutions, withEach, withExecution, withoutExecution } from "./executions.ts";
import { type Execution, executionAt, type RunState } from "./state.ts";

export function occurredAtMs(event: Event): number {
  return event.occurredAt === undefined ? 0 : timestampMs(event.occurredAt);
}

/** The execution that an event is about. Histories from before executions could overlap name only the step. */
export function findExecution(state: RunState, event: Event, executionIndex: number | undefined): Execution | undefined {
  return executionIndex === undefined
    ? allExecutions(state.executions).find((execution) => execution.stepId === event.stepId)
    : executionAt(state, executionIndex);
}

/** The same where there must be one. */
export function executionOf(state: RunState, event: Event, executionIndex: number | undefined): Execution {
  const found = findExecution(state, event, executionIndex);
  if (found === undefined) throw new Error(`run ${state.runId} executes no step ${event.stepId}`);
  return found;
}

export function replaced(state: RunState, execution: Execution, change: (execution: Execution) => Execution): RunState {
  return { ...state, executions: withExecution(state.executions, change(execution)) };
}

export function changed(state: RunState, event: Event, executionIndex: number | undefined, change: (execution: Execution) => Execution): RunState {
  return replaced(state, executionOf(state, event, executionIndex), change);
}

export function without(state: RunState, execution: Execution): RunState {
  return { ...state, executions: withoutExecution(state.executions, execution.executionIndex) };
}

/** Everything that is under way is asked to stop by this event, but for what was asked before. */
export function asked(state: RunState, event: Event, concerns: (execution: Execution) => boolean = () => true): RunState {
  const stopSeq = Number(event.seq);
  return {
    ...state,
    executions: withEach(state.executions, (execution) => (execution.stopSeq === 0 && concerns(execution) ? { ...execution, stopSeq } : execution)),
  };
}

/** The run fails once nothing is under way. What comes first is why. */
export function bound(state: RunState, failure: ForgeError): RunState {
  return { ...state, failure: state.failure ?? failure };
}
