import { create } from "@bufbuild/protobuf";
import { type Timestamp, timestampMs } from "@bufbuild/protobuf/wkt";
import type { ForgeError } from "@forge/protocol/common";
import type { Event, RunCreated, StepStarted } from "@forge/protocol/event";
import { type Run, RunSchema, RunStatus, type StepExecution, StepExecutionSchema, StepStatus } from "@forge/protocol/workflow";
import { addUsage } from "../usage.ts";

/**
 * What GetRun shows, folded from all events of a run: every execution of every step, in order. Values stay as they are stored, so that large ones are
 * references. Events that change nothing here are passed over, unknown ones as well: a view is shown, not decided on.
 */
export function runView(events: Iterable<Event>): Run {
  const run = create(RunSchema);
  for (const event of events) {
    run.seq = event.seq;
    apply(run, event);
  }
  return run;
}

function apply(run: Run, event: Event): void {
  const { payload } = event;
  switch (payload.case) {
    case "runCreated":
      created(run, payload.value, event);
      return;
    case "runStarted":
      run.startedAt = event.occurredAt;
      return;
    case "runCancelRequested":
      run.status = RunStatus.CANCELLING;
      return;
    case "runCompleted":
      run.output = payload.value.output;
      ended(run, event, payload.value.withErrors ? RunStatus.COMPLETED_WITH_ERRORS : RunStatus.COMPLETED);
      return;
    case "runFailed":
      run.error = payload.value.error;
      ended(run, event, RunStatus.FAILED);
      return;
    case "runCancelled":
      ended(run, event, RunStatus.CANCELLED);
      stepEnded(run, event, StepStatus.CANCELLED);
      return;
    case "stepStarted":
      stepStarted(run, payload.value, event);
      return;
    case "toolStarted":
    case "stepAttemptStarted":
      change(run, event, (step) => {
        step.status = StepStatus.RUNNING;
      });
      return;
    case "stepAttemptFailed":
      change(run, event, (step) => {
        step.status = StepStatus.RETRYING;
        step.attemptCount = payload.value.attempt + 1;
        step.lastError = payload.value.error;
        step.usage = addUsage(step.usage, payload.value.usage);
      });
      return;
    case "stepCompleted": {
      const { output, handlerDurationMs, toolDurationMs, usage, nextStepId, nextSource } = payload.value;
      change(run, event, (step) => Object.assign(step, { output, handlerDurationMs, toolDurationMs, usage, nextStepId, nextSource }));
      run.usage = addUsage(run.usage, usage);
      stepEnded(run, event, StepStatus.COMPLETED);
      return;
    }
    case "stepFailed":
      failed(run, event, payload.value.error);
      change(run, event, (step) => {
        step.usage = payload.value.usage;
      });
      run.usage = addUsage(run.usage, payload.value.usage);
      stepEnded(run, event, StepStatus.FAILED);
      return;
    default:
      return;
  }
}

function created(run: Run, payload: RunCreated, event: Event): void {
  const { definition, workflowHash, inputs, inputHash, labels, queue } = payload;
  Object.assign(run, { definition, workflowHash, inputs, inputHash, labels, queue });
  run.runId = event.stream?.id ?? "";
  run.workflowId = definition?.id ?? "";
  run.workflowVersion = definition?.version ?? "";
  run.status = RunStatus.RUNNING;
  run.createdAt = event.occurredAt;
}

function ended(run: Run, event: Event, status: RunStatus): void {
  run.status = status;
  run.completedAt = event.occurredAt;
}

function stepStarted(run: Run, payload: StepStarted, event: Event): void {
  const last = run.steps.at(-1);
  if (last?.executionIndex === payload.executionIndex) {
    last.status = StepStatus.RUNNING;
    last.attemptCount = payload.attempt;
    if (payload.sessionId !== "") last.sessionId = payload.sessionId;
    return;
  }
  run.steps.push(
    create(StepExecutionSchema, {
      stepId: event.stepId,
      stepType: payload.stepType,
      executionIndex: payload.executionIndex,
      status: StepStatus.RUNNING,
      attemptCount: payload.attempt,
      input: payload.input,
      startedAt: event.occurredAt,
      sessionId: payload.sessionId,
    }),
  );
}

function failed(run: Run, event: Event, error: ForgeError | undefined): void {
  change(run, event, (step) => {
    step.error = error;
    step.lastError = error;
  });
}

/** The execution that the event belongs to: steps run one at a time, so it is the last. */
function change(run: Run, event: Event, to: (step: StepExecution) => void): void {
  const last = run.steps.at(-1);
  if (last?.stepId === event.stepId && last.finishedAt === undefined) to(last);
}

function stepEnded(run: Run, event: Event, status: StepStatus): void {
  const last = run.steps.at(-1);
  if (last === undefined || last.finishedAt !== undefined) return;
  last.status = status;
  last.finishedAt = event.occurredAt;
  last.durationMs = BigInt(Math.max(0, millis(event.occurredAt) - millis(last.startedAt)));
}

function millis(timestamp: Timestamp | undefined): number {
  return timestamp === undefined ? 0 : timestampMs(timestamp);
}
