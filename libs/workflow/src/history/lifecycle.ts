import type { JsonValue } from "@bufbuild/protobuf";
import { timestampMs } from "@bufbuild/protobuf/wkt";
import type { ForgeError } from "@forge/protocol/common";
import type { Event, StepStarted, ToolRequested } from "@forge/protocol/event";
import { Decision } from "@forge/protocol/tool";
import { StepTypeSchema } from "@forge/protocol/workflow";

/** The moments in a run's life that programs are told of. */
export type LifecycleName =
  | "RUN_START"
  | "STEP_START"
  | "STEP_COMPLETE"
  | "STEP_ERROR"
  | "STATE_OVERWRITE"
  | "RUN_COMPLETE"
  | "TOOL_START"
  | "TOOL_SUCCESS"
  | "TOOL_ERROR";

/** One of them, with what is said of it; names of fields as in a run's record. */
export interface LifecycleEvent {
  readonly event: LifecycleName;
  readonly payload: { readonly [key: string]: JsonValue };
}

/** Takes the next event of a run, or of a session that works for it, in order; what it means for whoever watches the run's life: mostly nothing. */
export type Lifecycle = (event: Event) => LifecycleEvent[];

/** What is told of a step with each of its moments. */
interface StepFacts {
  readonly stepId: string;
  readonly type: string;
  readonly index: number;
  readonly itemIndex: number | undefined;
  readonly startedAtMs: number;
  attempts: number;
  lastError: string | null;
}

interface RunFacts {
  readonly workflowId: string;
  startedAtMs: number;
  /** Executions that are under way, by their index. */
  readonly steps: Map<number, StepFacts>;
}

interface ToolFacts {
  readonly name: string;
  readonly runId: string;
  readonly stepId: string;
  readonly requestedAtMs: number;
  isStarted: boolean;
}

/**
 * Projects events to the moments of runs' lives. A pure function with a memory of what is under way: of each run that it has seen begin and not end, of each
 * call, and of whom each session works for.
 */
export function lifecycle(): Lifecycle {
  const runs = new Map<string, RunFacts>();
  const tools = new Map<string, ToolFacts>();
  const sessions = new Map<string, { readonly runId: string; readonly stepId: string }>();

  const ofTool = (event: Event): LifecycleEvent[] => {
    const { payload, toolCallId } = event;
    if (payload.case === "toolRequested") {
      const tool = requested(event, payload.value, sessions);
      tools.set(toolCallId, tool);
      return payload.value.decision?.decision === Decision.ALLOW ? start(tool) : [];
    }
    const tool = tools.get(toolCallId);
    if (tool === undefined) return [];
    switch (payload.case) {
      case "toolStarted":
        return start(tool);
      case "toolCompleted":
        tools.delete(toolCallId);
        return [...start(tool), toolEvent("TOOL_SUCCESS", tool, { execution_time_ms: Number(payload.value.durationMs) })];
      case "toolFailed":
        tools.delete(toolCallId);
        return [...start(tool), toolEvent("TOOL_ERROR", tool, { execution_time_ms: Number(payload.value.durationMs), error: errorText(payload.value.error) })];
      case "toolDenied":
      case "toolCancelled":
      case "toolSettledUnknown": {
        tools.delete(toolCallId);
        const error = payload.value.reason;
        return [toolEvent("TOOL_ERROR", tool, { execution_time_ms: tool.isStarted ? momentOf(event) - tool.requestedAtMs : 0, error })];
      }
      default:
        return [];
    }
  };

  return (event) => {
    const { payload } = event;
    const id = event.stream?.id ?? "";
    if (payload.case === "sessionCreated") {
      const { parent } = payload.value;
      if (parent !== undefined) sessions.set(id, { runId: parent.runId, stepId: parent.stepId });
      return [];
    }
    if (payload.case === "sessionClosed") {
      sessions.delete(id);
      return [];
    }
    if (payload.case === "runCreated") {
      runs.set(id, { workflowId: payload.value.definition?.id ?? "", startedAtMs: momentOf(event), steps: new Map() });
      return [];
    }
    return [...ofTool(event), ...ofRun(event, runs)];
  };
}

function requested(event: Event, { tool: name }: ToolRequested, sessions: ReadonlyMap<string, { readonly runId: string; readonly stepId: string }>): ToolFacts {
  const parent = sessions.get(event.stream?.id ?? "") ?? { runId: event.stream?.id ?? "", stepId: event.stepId };
  return { name, ...parent, requestedAtMs: momentOf(event), isStarted: false };
}

function ofRun(event: Event, runs: Map<string, RunFacts>): LifecycleEvent[] {
  const { payload } = event;
  const runId = event.stream?.id ?? "";
  const run = runs.get(runId) ?? { workflowId: "", startedAtMs: momentOf(event), steps: new Map<number, StepFacts>() };
  // Watched from its middle on, a run is known by what comes.
  runs.set(runId, run);
  const end = (status: string, error: string | null): LifecycleEvent[] => {
    // A failed run may be resumed: then it is told of its end again, counted from here.
    const total_duration_ms = momentOf(event) - run.startedAtMs;
    run.steps.clear();
    return [{ event: "RUN_COMPLETE", payload: { run_id: runId, status, error, total_duration_ms } }];
  };
  switch (payload.case) {
    case "runStarted":
      run.startedAtMs = momentOf(event);
      return [{ event: "RUN_START", payload: { run_id: runId, workflow_id: run.workflowId } }];
    case "stepStarted":
      return stepStarted(event, payload.value, run);
    case "stepAttemptFailed": {
      const step = stepOf(event, payload.value.executionIndex, run);
      if (step !== undefined) step.lastError = errorText(payload.value.error);
      return [];
    }
    case "stepCompleted": {
      const { handlerDurationMs, toolDurationMs, executionIndex, overwrote } = payload.value;
      const isTool = stepOf(event, executionIndex, run)?.type === "tool";
      const key = `steps.${event.stepId}`;
      const overwrite: LifecycleEvent[] = overwrote ? [{ event: "STATE_OVERWRITE", payload: { run_id: runId, key, writer: event.stepId } }] : [];
      const complete = stepEnded("STEP_COMPLETE", event, executionIndex, run, {
        handler_duration_ms: isTool ? null : Number(handlerDurationMs),
        tool_duration_ms: isTool ? Number(toolDurationMs) : null,
      });
      return [...overwrite, ...complete];
    }
    case "stepFailed": {
      const step = stepOf(event, payload.value.executionIndex, run);
      const error = errorText(payload.value.error);
      if (step !== undefined) step.lastError = error;
      return stepEnded("STEP_ERROR", event, payload.value.executionIndex, run, { error });
    }
    case "stepCancelled":
      run.steps.delete(payload.value.executionIndex);
      return [];
    case "runCompleted":
      return end(payload.value.withErrors ? "COMPLETED_WITH_ERRORS" : "COMPLETED", null);
    case "runFailed":
      return end("FAILED", errorText(payload.value.error));
    case "runCancelled":
      return end("CANCELLED", null);
    default:
      return [];
  }
}

function stepStarted(event: Event, { executionIndex, attempt, stepType, itemIndex }: StepStarted, run: RunFacts): LifecycleEvent[] {
  const known = run.steps.get(executionIndex);
  if (known !== undefined) {
    known.attempts = attempt;
    return [];
  }
  const type = StepTypeSchema.value[stepType]?.name.replace("STEP_TYPE_", "").toLowerCase() ?? "";
  const step: StepFacts = { stepId: event.stepId, type, index: executionIndex, itemIndex, startedAtMs: momentOf(event), attempts: attempt, lastError: null };
  run.steps.set(executionIndex, step);
  return [{ event: "STEP_START", payload: about(event, step) }];
}

function stepEnded(
  name: "STEP_COMPLETE" | "STEP_ERROR",
  event: Event,
  executionIndex: number | undefined,
  run: RunFacts,
  rest: Readonly<Record<string, JsonValue>>,
): LifecycleEvent[] {
  const step = stepOf(event, executionIndex, run);
  if (step === undefined) return [];
  run.steps.delete(step.index);
  const duration_ms = Math.max(0, momentOf(event) - step.startedAtMs);
  return [{ event: name, payload: { ...about(event, step), attempt_count: step.attempts, last_error: step.lastError, duration_ms, ...rest } }];
}

function about(event: Event, { stepId, type, index, itemIndex }: StepFacts): Record<string, JsonValue> {
  const facts = { run_id: event.stream?.id ?? "", step_id: stepId, step_type: type, execution_index: index };
  return itemIndex === undefined ? facts : { ...facts, item_index: itemIndex };
}

/** The execution that an event is about; one that names no index is about the step's only one. */
function stepOf(event: Event, executionIndex: number | undefined, run: RunFacts): StepFacts | undefined {
  if (executionIndex !== undefined) return run.steps.get(executionIndex);
  return Array.from(run.steps.values()).findLast(({ stepId }) => stepId === event.stepId);
}

function start(tool: ToolFacts): LifecycleEvent[] {
  if (tool.isStarted) return [];
  tool.isStarted = true;
  return [toolEvent("TOOL_START", tool, {})];
}

function toolEvent(event: LifecycleName, { name, runId, stepId }: ToolFacts, rest: Readonly<Record<string, JsonValue>>): LifecycleEvent {
  return { event, payload: { tool_name: name, run_id: runId, step_id: stepId, ...rest } };
}

function errorText(error: ForgeError | undefined): string {
  if (error === undefined) return "";
  return error.reason === "" ? error.message : `${error.reason}: ${error.message}`;
}

function momentOf({ occurredAt }: Event): number {
  return occurredAt === undefined ? 0 : timestampMs(occurredAt);
}
