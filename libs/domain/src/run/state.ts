import type { ForgeError, Usage, Value } from "@forge/protocol/common";
import type { ToolPolicy } from "@forge/protocol/tool";
import { OnError, OverwritePolicy, type RunParent, RunStatus, type StepDefinition, type WorkflowDefinition } from "@forge/protocol/workflow";
import { type Chunks, chunksOf, itemAt } from "./chunks.ts";
import type { Execution } from "./execution.ts";
import { type Executions, executionIn, NO_EXECUTIONS } from "./executions.ts";

export type { Execution, Group, StepCall } from "./execution.ts";

/**
 * What is true of a run: its definition, what became of each step, and the executions that are under way. All of it is plain data, so that a snapshot of
 * it can be cloned, stored and compared.
 */
export interface RunState {
  readonly runId: string;
  /** RUNNING while it goes on, also where it is paused or waits; UNSPECIFIED until the run is created. */
  readonly status: RunStatus;
  readonly workflowId: string;
  readonly workflowVersion: string;
  readonly workflowHash: string;
  /** Undefined before the run is created and after it has ended well or was cancelled: nothing reads it then. */
  readonly definition: WorkflowDefinition | undefined;
  /** The object of inputs; undefined like the definition. */
  readonly inputs: Value | undefined;
  readonly labels: Readonly<Record<string, string>>;
  readonly queue: string;
  /** Replaces the model of every agent step; empty: none. */
  readonly modelOverride: string;
  /** What agents' tool calls may do without being asked, and what answers their questions. */
  readonly policy: ToolPolicy | undefined;
  /** Of outputs that take the place of others; never UNSPECIFIED once the run is created. */
  readonly overwritePolicy: OverwritePolicy;
  /** The principal that started the run and so granted its tool steps. */
  readonly startedBy: string;
  /** Of a run that another one's step started. */
  readonly parent: RunParent | undefined;
  /** How many runs are above it. */
  readonly depth: number;
  /** By position in the definition; empty like the definition. */
  readonly steps: Chunks<StepMemory>;
  /** Bytes of all inline outputs in `steps`. */
  readonly outputBytes: number;
  /** Outputs in `steps` that are artifacts. */
  readonly artifactOutputCount: number;
  /** Executions begun so far, which is the next execution's index. */
  readonly executionCount: number;
  /** Position of the step that began last; -1 before the first. */
  readonly lastPosition: number;
  /** Positions that may begin. Of a sequence at most one; of a graph, in the order in which they became ready. */
  readonly ready: Chunks<number>;
  /** Of a sequence: the step that has ended and whose branch led nowhere. */
  readonly unresolved: number | undefined;
  /** Executions that have not ended. */
  readonly executions: Executions;
  /** Set once the run is bound to fail: it does as soon as nothing is under way any more. */
  readonly failure: ForgeError | undefined;
  /** By hand: nothing begins. */
  readonly paused: boolean;
  /** What it must hold while it goes on; undefined: nothing. */
  readonly concurrency: { readonly key: string; readonly limit: number } | undefined;
  /** The stream of its key; empty before it has queued for it. */
  readonly concurrencyStreamId: string;
  /** It waits for its concurrency key: nothing begins. */
  readonly queued: boolean;
  /** Keys that the runs above it hold, and its own. */
  readonly heldKeys: readonly string[];
  /** 0 to 9. */
  readonly priority: number;
  /** A step failed for good. */
  readonly withErrors: boolean;
  /** Signals that no step has taken yet, oldest first. */
  readonly signals: readonly Signal[];
  /** What the deadline counts from, milliseconds since the epoch. */
  readonly deadlineFromMs: number;
  /** What agents and sub-runs have used so far. */
  readonly usage: Usage | undefined;
  /** Tool calls that were dispatched and have ended, newest last, so that a late answer finds its call. At most ENDED_CALLS_MAX. */
  readonly endedCalls: readonly EndedCall[];
  /** Answered approvals, newest last, so that a second answer is told the first. At most ENDED_CALLS_MAX. */
  readonly resolutions: readonly Resolution[];
}

/** How a step's last execution ended. */
export type StepOutcome = "completed" | "failed" | "skipped";

/** What a run remembers of a step. */
export interface StepMemory {
  readonly executionCount: number;
  /** Of its last execution; undefined where it has not ended once. */
  readonly outcome: StepOutcome | undefined;
  /** Of its last execution; undefined where it failed, was skipped, has not ended once, or has items. */
  readonly output: Value | undefined;
  /** Of a completed for_each: its items' outputs, undefined for one that failed. */
  readonly items: readonly (Value | undefined)[] | undefined;
  /** Of a graph: needs that have not ended yet. */
  readonly unmet: number;
}

export interface EndedCall {
  readonly key: string;
  readonly stepId: string;
  readonly toolCallId: string;
}

export interface Signal {
  readonly name: string;
  readonly payload: Value | undefined;
}

export interface Resolution {
  readonly approvalId: string;
  readonly decision: string;
  readonly decidedBy: string;
}

export function initialRunState(): RunState {
  return {
    runId: "",
    status: RunStatus.UNSPECIFIED,
    workflowId: "",
    workflowVersion: "",
    workflowHash: "",
    definition: undefined,
    inputs: undefined,
    labels: {},
    queue: "",
    modelOverride: "",
    policy: undefined,
    overwritePolicy: OverwritePolicy.UNSPECIFIED,
    startedBy: "",
    parent: undefined,
    depth: 0,
    steps: chunksOf<StepMemory>([]),
    outputBytes: 0,
    artifactOutputCount: 0,
    executionCount: 0,
    lastPosition: -1,
    ready: chunksOf<number>([]),
    unresolved: undefined,
    executions: NO_EXECUTIONS,
    failure: undefined,
    paused: false,
    concurrency: undefined,
    concurrencyStreamId: "",
    queued: false,
    heldKeys: [],
    priority: 0,
    withErrors: false,
    signals: [],
    deadlineFromMs: 0,
    usage: undefined,
    endedCalls: [],
    resolutions: [],
  };
}

/** Whether the run was created and has not ended. */
export function isActive(state: RunState): boolean {
  return state.status === RunStatus.RUNNING || state.status === RunStatus.CANCELLING;
}

/** Whether nothing begins any more: the run is being cancelled, or is bound to fail. */
export function isStopping(state: RunState): boolean {
  return state.status === RunStatus.CANCELLING || state.failure !== undefined;
}

/** The definition of an active run's step. */
export function stepAt(state: RunState, position: number): StepDefinition {
  const step = state.definition?.steps[position];
  if (step === undefined) throw new Error(`run ${state.runId} has no step at ${position}`);
  return step;
}

/** What the run remembers of an active run's step. */
export function memoryAt(state: RunState, position: number): StepMemory {
  const memory = itemAt(state.steps, position);
  if (memory === undefined) throw new Error(`run ${state.runId} has no step at ${position}`);
  return memory;
}

/** Whether the steps of an active run follow their needs, and not each other. */
export function isGraph(state: RunState): boolean {
  return state.definition !== undefined && shapeOf(state.definition).isGraph;
}

/** Where a step stands in an active run's definition; undefined for an id that it does not have. */
export function positionOf(state: RunState, stepId: string): number | undefined {
  return state.definition === undefined ? undefined : shapeOf(state.definition).positions.get(stepId);
}

/** Positions of the steps that need a step. */
export function dependentsOf(state: RunState, position: number): readonly number[] {
  return state.definition === undefined ? [] : (shapeOf(state.definition).dependents.get(position) ?? []);
}

/** The open execution with this index. */
export function executionAt(state: RunState, executionIndex: number): Execution | undefined {
  return executionIn(state.executions, executionIndex);
}

/** Whether one item's failure was enough: no further item begins, and the step fails with it. */
export function isFailing(state: RunState, { group, position }: Execution): boolean {
  return group?.firstError !== undefined && stepAt(state, position).forEach?.onError !== OnError.CONTINUE;
}

interface Shape {
  readonly isGraph: boolean;
  readonly positions: ReadonlyMap<string, number>;
  readonly dependents: ReadonlyMap<number, readonly number[]>;
}

const shapes = new WeakMap<WorkflowDefinition, Shape>();

function shapeOf(definition: WorkflowDefinition): Shape {
  let shape = shapes.get(definition);
  if (shape === undefined) {
    const positions = new Map(definition.steps.map((step, position) => [step.id, position]));
    const dependents = new Map<number, number[]>();
    for (const [position, step] of definition.steps.entries()) {
      for (const need of new Set(step.needs)) {
        const needed = positions.get(need);
        if (needed === undefined) continue;
        const those = dependents.get(needed) ?? [];
        those.push(position);
        dependents.set(needed, those);
      }
    }
    shape = { isGraph: definition.steps.some((step) => step.needs.length > 0), positions, dependents };
    shapes.set(definition, shape);
  }
  return shape;
}
