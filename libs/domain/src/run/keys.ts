import { type Execution, executionAt, type RunState } from "./state.ts";

/** The key of an attempt's task. */
export function stepTaskKey(execution: Pick<Execution, "executionIndex" | "attempt">): string {
  return `step:${execution.executionIndex}:${execution.attempt}`;
}

/** The open execution whose attempt's task has this key. */
export function executionOfTask(state: RunState, key: string): Execution | undefined {
  const execution = executionAt(state, Number(key.split(":")[1]));
  return execution !== undefined && stepTaskKey(execution) === key ? execution : undefined;
}

/** The key of the timer that an agent step's next attempt waits for. */
export function retryTimerKey(execution: Pick<Execution, "executionIndex" | "attempt">): string {
  return `retry:${execution.executionIndex}:${execution.attempt}`;
}

/** The key of the timer that ends a wait, or gives it up. */
export function waitTimerKey({ executionIndex }: Pick<Execution, "executionIndex">): string {
  return `wait:${executionIndex}`;
}

/** The open execution that a retry's or wait's timer names, whatever it waits for now. */
export function executionOfTimer(state: RunState, key: string): Execution | undefined {
  return executionAt(state, Number(key.split(":")[1]));
}

/** The key of the timer of the whole run's time, counted from a start or a resumption. */
export function deadlineTimerKey(fromMs: number): string {
  return `deadline:${fromMs}`;
}

/** What a run asks of the session or run that works for a step. */
export type StreamCommand = "create" | "turn" | "cancel";

/** The id of a command to an attempt's session or run. It derives from the attempt, so that the run knows it again when it comes back refused. */
export function streamCommandId(runId: string, execution: Pick<Execution, "executionIndex" | "attempt">, command: StreamCommand): string {
  return `run:${runId}:${execution.executionIndex}:${execution.attempt}:${command}`;
}

/** Stays the same over all attempts of one execution: whoever has done the work once can tell. */
export function idempotencyKey(runId: string, execution: Pick<Execution, "stepId" | "executionIndex">): string {
  return `${runId}/${execution.stepId}/${execution.executionIndex}`;
}
