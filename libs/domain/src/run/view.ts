import { create } from "@bufbuild/protobuf";
import { type Timestamp, timestampMs } from "@bufbuild/protobuf/wkt";
import type { Event, InheritedStep, RunCreated, StepSkipped, StepStarted } from "@forge/protocol/event";
import { type Run, RunSchema, RunStatus, type StepExecution, StepExecutionSchema, StepStatus, StepType } from "@forge/protocol/workflow";
import { addUsage } from "../usage.ts";
import { outputJson } from "./outputs.ts";
import { stepTypeOfKind } from "./step-type.ts";

/**
 * What GetRun shows, folded from all events of a run: every execution of every step, in order. Values stay as they are stored, so that large ones are
 * references. Events that change nothing here are passed over, unknown ones as well: a view is shown, not decided on.
 */
export function runView(events: Iterable<Event>): Run {
  const view = new View();
  for (const event of events) view.apply(event);
  return view.finish();
}

class View {
  readonly #run = create(RunSchema);
  /** Executions that have not ended, by index. */
  readonly #open = new Map<number, StepExecution>();
  #paused = false;
  #queued = false;

  apply(event: Event): void {
    this.#run.seq = event.seq;
    const run = this.#run;
    const { payload } = event;
    switch (payload.case) {
      case "runCreated":
        created(run, payload.value, event);
        return;
      case "runForked":
        run.origin = payload.value.origin;
        for (const step of payload.value.steps) run.steps.push(inherited(step, event));
        return;
      case "runStarted":
        run.startedAt ??= event.occurredAt;
        this.#queued = false;
        return;
      case "runQueued":
        this.#queued = true;
        return;
      case "runSignalled":
        run.waitingSignals.push(payload.value.name);
        return;
      case "runPaused":
      case "runContinued":
        this.#paused = payload.case === "runPaused";
        return;
      case "runResumed":
        Object.assign(run, { status: RunStatus.RUNNING, error: undefined, completedAt: undefined });
        return;
      case "runCancelRequested":
        run.status = RunStatus.CANCELLING;
        return;
      case "runCompleted":
        run.output = payload.value.output;
        this.#ended(event, payload.value.withErrors ? RunStatus.COMPLETED_WITH_ERRORS : RunStatus.COMPLETED);
        return;
      case "runFailed":
        run.error = payload.value.error;
        this.#ended(event, RunStatus.FAILED);
        return;
      case "runCancelled":
        this.#ended(event, RunStatus.CANCELLED);
        return;
      case "stepStarted":
        this.#stepStarted(payload.value, event);
        return;
      case "toolStarted":
      case "stepAttemptStarted":
        this.#change(event, payload.case === "stepAttemptStarted" ? payload.value.executionIndex : undefined, (step) => {
          step.status = StepStatus.RUNNING;
        });
        return;
      case "stepAttemptFailed":
        this.#change(event, payload.value.executionIndex, (step) => {
          step.status = StepStatus.RETRYING;
          step.attemptCount = payload.value.attempt + 1;
          step.lastError = payload.value.error;
          step.usage = addUsage(step.usage, payload.value.usage);
        });
        return;
      case "stepCompleted": {
        const { output, handlerDurationMs, toolDurationMs, usage, nextStepId, nextSource, executionIndex, overwrote } = payload.value;
        run.usage = addUsage(run.usage, usage);
        this.#change(event, executionIndex, (step) => {
          Object.assign(step, { output, handlerDurationMs, toolDurationMs, usage, nextStepId, nextSource, overwrote });
          if (step.waitsForSignal !== "") take(run.waitingSignals, step.waitsForSignal);
          this.#stepEnded(step, event, StepStatus.COMPLETED);
        });
        return;
      }
      case "stepFailed":
        run.usage = addUsage(run.usage, payload.value.usage);
        this.#change(event, payload.value.executionIndex, (step) => {
          const { error, usage, nextStepId, nextSource } = payload.value;
          Object.assign(step, { error, lastError: error, usage, nextStepId, nextSource: nextSource ?? "" });
          this.#stepEnded(step, event, StepStatus.FAILED);
        });
        return;
      case "stepCancelled":
        run.usage = addUsage(run.usage, payload.value.usage);
        this.#change(event, payload.value.executionIndex, (step) => {
          step.usage = payload.value.usage;
          this.#stepEnded(step, event, StepStatus.CANCELLED);
        });
        return;
      case "stepSkipped":
        run.steps.push(skipped(run, payload.value, event));
        return;
      default:
        return;
    }
  }

  finish(): Run {
    const run = this.#run;
    if (run.status !== RunStatus.RUNNING) return run;
    const leaves = [...this.#open.values()].filter((step) => step.itemCount === undefined);
    if (this.#paused) run.status = RunStatus.PAUSED;
    else if (this.#queued) run.status = RunStatus.QUEUED;
    else if (leaves.length > 0 && leaves.every((step) => step.status === StepStatus.WAITING)) run.status = RunStatus.WAITING;
    return run;
  }

  #stepStarted(payload: StepStarted, event: Event): void {
    const known = this.#open.get(payload.executionIndex);
    if (known !== undefined) {
      known.status = StepStatus.RUNNING;
      known.attemptCount = payload.attempt;
      if (payload.sessionId !== "") known.sessionId = payload.sessionId;
      if (payload.childRunId !== "") known.childRunId = payload.childRunId;
      return;
    }
    const {
      stepType,
      executionIndex,
      attempt,
      input,
      sessionId,
      childRunId,
      groupIndex,
      itemIndex,
      itemCount,
      waitsUntil,
      waitsForSignal,
      approvalId,
      promptVariant,
    } = payload;
    const step = create(StepExecutionSchema, {
      stepId: event.stepId,
      stepType,
      executionIndex,
      status: stepType === StepType.WAIT ? StepStatus.WAITING : StepStatus.RUNNING,
      attemptCount: attempt,
      input,
      startedAt: event.occurredAt,
      sessionId,
      childRunId,
      groupIndex,
      itemIndex,
      itemCount,
      waitsUntil,
      waitsForSignal,
      approvalId,
      promptVariant,
    });
    this.#run.steps.push(step);
    this.#open.set(executionIndex, step);
  }

  /** Changes the execution that an event is about. Histories from before executions could overlap name only the step, as tool events do. */
  #change(event: Event, executionIndex: number | undefined, to: (step: StepExecution) => void): void {
    const step = executionIndex === undefined ? [...this.#open.values()].findLast(({ stepId }) => stepId === event.stepId) : this.#open.get(executionIndex);
    if (step !== undefined) to(step);
  }

  #stepEnded(step: StepExecution, event: Event, status: StepStatus): void {
    this.#open.delete(step.executionIndex);
    step.status = status;
    step.finishedAt = event.occurredAt;
    step.durationMs = BigInt(Math.max(0, millis(event.occurredAt) - millis(step.startedAt)));
  }

  #ended(event: Event, status: RunStatus): void {
    this.#run.status = status;
    this.#run.completedAt = event.occurredAt;
    this.#paused = false;
    // A history from before an execution's cancellation had an event of its own.
    for (const step of this.#open.values()) this.#stepEnded(step, event, StepStatus.CANCELLED);
  }
}

function created(run: Run, payload: RunCreated, event: Event): void {
  const { definition, workflowHash, inputs, inputHash, labels, queue, parent, concurrencyKey, priority } = payload;
  Object.assign(run, { definition, workflowHash, inputs, inputHash, labels, queue, parent, concurrencyKey, priority });
  run.runId = event.stream?.id ?? "";
  run.workflowId = definition?.id ?? "";
  run.workflowVersion = definition?.version ?? "";
  run.status = RunStatus.RUNNING;
  run.createdAt = event.occurredAt;
}

/** What a fork took over: it has no execution index of this run. */
function inherited({ stepId, output, failed, skipped: wasSkipped, hasItems, items }: InheritedStep, event: Event): StepExecution {
  const list = hasItems ? outputJson({ output: undefined, items: items.map((item) => (item.kind.case === undefined ? undefined : item)) }) : output;
  const status = failed ? StepStatus.FAILED : wasSkipped ? StepStatus.SKIPPED : StepStatus.COMPLETED;
  return create(StepExecutionSchema, { stepId, status, output: list, inherited: true, startedAt: event.occurredAt, finishedAt: event.occurredAt });
}

/** A step that was passed over has no execution either. */
function skipped(run: Run, { reason, need }: StepSkipped, event: Event): StepExecution {
  const kind = run.definition?.steps.find(({ id }) => id === event.stepId)?.kind;
  return create(StepExecutionSchema, {
    stepId: event.stepId,
    stepType: kind === undefined ? StepType.UNSPECIFIED : stepTypeOfKind(kind.case),
    status: StepStatus.SKIPPED,
    skipReason: need === "" ? reason : `${reason}:${need}`,
    startedAt: event.occurredAt,
    finishedAt: event.occurredAt,
  });
}

function take(names: string[], name: string): void {
  const index = names.indexOf(name);
  if (index !== -1) names.splice(index, 1);
}

function millis(timestamp: Timestamp | undefined): number {
  return timestamp === undefined ? 0 : timestampMs(timestamp);
}
