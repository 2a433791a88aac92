import type { CurrentStep } from "./state.ts";

/** The key of an attempt's task. */
export function stepTaskKey(current: Pick<CurrentStep, "executionIndex" | "attempt">): string {
  return `step:${current.executionIndex}:${current.attempt}`;
}

/** The key of the timer that an agent step's next attempt waits for. */
export function retryTimerKey(current: Pick<CurrentStep, "executionIndex" | "attempt">): string {
  return `retry:${current.executionIndex}:${current.attempt}`;
}

/** What a run asks of an agent step's session. */
export type SessionCommand = "create" | "turn" | "cancel";

/** The id of a command to an attempt's session. It derives from the attempt, so that the run knows it again when it comes back refused. */
export function sessionCommandId(runId: string, current: Pick<CurrentStep, "executionIndex" | "attempt">, command: SessionCommand): string {
  return `run:${runId}:${current.executionIndex}:${current.attempt}:${command}`;
}

/** Stays the same over all attempts of one execution: whoever has done the work once can tell. */
export function idempotencyKey(runId: string, current: Pick<CurrentStep, "stepId" | "executionIndex">): string {
  return `${runId}/${current.stepId}/${current.executionIndex}`;
}
