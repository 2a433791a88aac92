import type { Usage, Value } from "@forge/protocol/common";
import type { CapabilityDecision, ToolPolicy } from "@forge/protocol/tool";
import { RunStatus, type StepDefinition, type WorkflowDefinition } from "@forge/protocol/workflow";

/**
 * What is true of a run: its definition, the last output of each step, and the step that is executed now. All of it is plain data, so that a snapshot of
 * it can be cloned, stored and compared.
 */
export interface RunState {
  readonly runId: string;
  /** UNSPECIFIED until the run is created. */
  readonly status: RunStatus;
  readonly workflowId: string;
  readonly workflowVersion: string;
  /** Undefined before the run is created and after it has ended: nothing reads it then. */
  readonly definition: WorkflowDefinition | undefined;
  /** The object of inputs; undefined like the definition. */
  readonly inputs: Value | undefined;
  readonly labels: Readonly<Record<string, string>>;
  readonly queue: string;
  /** Replaces the model of every agent step; empty: none. */
  readonly modelOverride: string;
  /** What agents' tool calls may do without being asked, and what answers their questions. */
  readonly policy: ToolPolicy | undefined;
  /** The principal that started the run and so granted its tool steps. */
  readonly startedBy: string;
  /** By position in the definition; empty once the run has ended. */
  readonly steps: readonly StepMemory[];
  /** Bytes of all inline outputs in `steps`. */
  readonly outputBytes: number;
  /** Outputs in `steps` that are artifacts. */
  readonly artifactOutputCount: number;
  /** Executions begun so far, which is the next execution's index. */
  readonly executionCount: number;
  /** Position of the step that was executed last; -1 before the first. */
  readonly lastPosition: number;
  /** The execution that has not ended, if there is one. */
  readonly current: CurrentStep | undefined;
  /** A step failed for good. */
  readonly withErrors: boolean;
  /** How often somebody asked for the run to stop. */
  readonly cancelRequestCount: number;
  /** Tool calls that were dispatched and have ended, newest last, so that a late answer finds its call. At most ENDED_CALLS_MAX. */
  readonly endedCalls: readonly EndedCall[];
}

/** What a run remembers of a step. */
export interface StepMemory {
  readonly executionCount: number;
  /** Of its last execution; undefined where it failed or has not ended once. */
  readonly output: Value | undefined;
}

/** The step that is executed now. */
export interface CurrentStep {
  readonly stepId: string;
  /** Where the step stands in the definition. */
  readonly position: number;
  readonly executionIndex: number;
  /** The attempt that runs, or that comes next while a retry waits; 1 for the first. */
  readonly attempt: number;
  /** When the attempt was decided on, milliseconds since the epoch. */
  readonly decidedAtMs: number;
  /** The attempt does not begin before; 0: at once. */
  readonly dueAtMs: number;
  /** Of an agent step: its next attempt waits for `dueAtMs` and has no session yet. */
  readonly waiting: boolean;
  /** A worker has got the go-ahead for this attempt. */
  readonly started: boolean;
  readonly input: Readonly<Record<string, Value>>;
  /** Of an agent step: the session of this attempt. */
  readonly sessionId: string;
  /** Of an agent step: its rendered user message; empty for others. */
  readonly prompt: string;
  /** Of a tool step: its tool was served as idempotent. */
  readonly isIdempotentTool: boolean;
  /** Of a tool step: the call of this attempt, until it has ended. */
  readonly call: StepCall | undefined;
  /** What the attempts before this one used. */
  readonly usage: Usage | undefined;
}

export interface StepCall {
  readonly toolCallId: string;
  readonly argumentsJson: string;
  readonly decision: CapabilityDecision;
}

export interface EndedCall {
  readonly key: string;
  readonly stepId: string;
  readonly toolCallId: string;
}

export function initialRunState(): RunState {
  return {
    runId: "",
    status: RunStatus.UNSPECIFIED,
    workflowId: "",
    workflowVersion: "",
    definition: undefined,
    inputs: undefined,
    labels: {},
    queue: "",
    modelOverride: "",
    policy: undefined,
    startedBy: "",
    steps: [],
    outputBytes: 0,
    artifactOutputCount: 0,
    executionCount: 0,
    lastPosition: -1,
    current: undefined,
    withErrors: false,
    cancelRequestCount: 0,
    endedCalls: [],
  };
}

/** Whether the run was created and has not ended. */
export function isActive(state: RunState): boolean {
  return state.status === RunStatus.RUNNING || state.status === RunStatus.CANCELLING;
}

/** The definition of an active run's step. */
export function stepAt(state: RunState, position: number): StepDefinition {
  const step = state.definition?.steps[position];
  if (step === undefined) throw new Error(`run ${state.runId} has no step at ${position}`);
  return step;
}

const positionsById = new WeakMap<WorkflowDefinition, ReadonlyMap<string, number>>();

/** Where a step stands in an active run's definition; undefined for an id that it does not have. */
export function positionOf(state: RunState, stepId: string): number | undefined {
  const { definition } = state;
  if (definition === undefined) return undefined;
  let positions = positionsById.get(definition);
  if (positions === undefined) {
    positions = new Map(definition.steps.map((step, position) => [step.id, position]));
    positionsById.set(definition, positions);
  }
  return positions.get(stepId);
}
