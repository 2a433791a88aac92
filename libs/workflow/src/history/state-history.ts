import type { JsonValue } from "@bufbuild/protobuf";
import { type Timestamp, timestampMs } from "@bufbuild/protobuf/wkt";
import type { Value } from "@forge/protocol/common";
import { type Run, type StepExecution, StepStatus } from "@forge/protocol/workflow";
import { diffJson, type StateChange } from "./json-diff.ts";

/** The state of a run at one moment, and how it came to be. */
export interface StateVersion {
  /** 0: before the first step; n: after the nth execution that has ended. */
  readonly version: number;
  /** The execution that led here; undefined for version 0. */
  readonly step: StepExecution | undefined;
  /** What it changed, against the version before. */
  readonly changes: readonly StateChange[];
}

/** A run's state as a JSON object with `inputs`, `steps` and `runtime`. */
export type State = { [key: string]: JsonValue };

/** Reads a value; large ones have been fetched before. */
export type ReadValue = (value: Value) => JsonValue;

/** Values that the history of a run reads, for whoever fetches the large ones beforehand. */
export function valuesOf(run: Run): Value[] {
  return [run.inputs, ...run.steps.map(({ output }) => output)].filter((value) => value !== undefined);
}

/** Every version of a run's state in order: one at its start, one for each execution of a step that has ended. A failed step takes its output out of the state. */
export function stateHistory(run: Run, read: ReadValue): StateVersion[] {
  const versions: StateVersion[] = [{ version: 0, step: undefined, changes: diffJson({}, stateAt(run, 0, read), "") }];
  const outputs = new Map<string, JsonValue>();
  const outputOf = outputReader(run, read);
  for (const step of endedSteps(run)) {
    const before = outputs.get(step.stepId);
    const after = outputOf(step);
    if (after === undefined) outputs.delete(step.stepId);
    else outputs.set(step.stepId, after);
    versions.push({ version: versions.length, step, changes: diffJson(asSteps(step.stepId, before), asSteps(step.stepId, after), "steps") });
  }
  return versions;
}

/** The whole state at a version. */
export function stateAt(run: Run, version: number, read: ReadValue): State {
  const steps = new Map<string, JsonValue>();
  const outputOf = outputReader(run, read);
  for (const step of endedSteps(run).slice(0, version)) {
    const output = outputOf(step);
    if (output === undefined) steps.delete(step.stepId);
    else steps.set(step.stepId, output);
  }
  const { runId, workflowId, workflowVersion } = run;
  return {
    inputs: run.inputs === undefined ? {} : read(run.inputs),
    steps: Object.fromEntries(steps),
    runtime: { run_id: runId, workflow_id: workflowId, workflow_version: workflowVersion },
  };
}

/** An execution with the state around it. */
export interface StepStates {
  readonly step: StepExecution;
  /** When it began. */
  readonly before: State;
  /** When it had ended; undefined where it has not. */
  readonly after: State | undefined;
}

/**
 * Every execution of a run in order, with the state before and after it; of an item of a list the state is the list's. One at a time: all of them together
 * take the square of the run's length.
 */
export function* stepStates(run: Run, read: ReadValue): Generator<StepStates> {
  const ended = endedSteps(run);
  const frame = stateAt(run, 0, read);
  const outputs = new Map<string, JsonValue>();
  const state = (): State => ({ ...frame, steps: Object.fromEntries(outputs) });
  const outputOf = outputReader(run, read);
  const change = (step: StepExecution): void => {
    const output = outputOf(step);
    if (output === undefined) outputs.delete(step.stepId);
    else outputs.set(step.stepId, output);
  };
  let applied = 0;
  const isBefore = (one: StepExecution, other: StepExecution): boolean => {
    const [ends, begins] = [momentOf(one.finishedAt), momentOf(other.startedAt)];
    // What one append decides has one time: then the order of the executions tells.
    return ends < begins || (ends === begins && one.executionIndex < other.executionIndex);
  };
  for (const step of run.steps) {
    for (let next = ended[applied]; next !== undefined && isBefore(next, step); next = ended[++applied]) change(next);
    const before = state();
    if (!ENDED.has(step.status)) {
      yield { step, before, after: undefined };
      continue;
    }
    if (step.groupIndex !== undefined) {
      yield { step, before, after: before };
      continue;
    }
    // What ended meanwhile beside it is in the state that it left as well; it counts for what follows only once it is its turn.
    const kept = new Map(outputs);
    for (const other of ended.slice(applied)) {
      change(other);
      if (other === step) break;
    }
    const after = state();
    outputs.clear();
    for (const [id, output] of kept) outputs.set(id, output);
    yield { step, before, after };
  }
}

const ENDED: ReadonlySet<StepStatus> = new Set([StepStatus.COMPLETED, StepStatus.FAILED]);

/** Executions that changed the state, in the order in which they ended. Items of a list are part of its step's output. */
function endedSteps(run: Run): StepExecution[] {
  const ended = run.steps.filter(({ status, groupIndex }) => ENDED.has(status) && groupIndex === undefined);
  return ended.toSorted((a, b) => momentOf(a.finishedAt) - momentOf(b.finishedAt) || a.executionIndex - b.executionIndex);
}

/** What an execution put into the state. The list that a for_each made may be larger than a value is: then it is put together from its items. */
function outputReader(run: Run, read: ReadValue): (step: StepExecution) => JsonValue | undefined {
  const items = new Map<number, StepExecution[]>();
  for (const step of run.steps) {
    if (step.groupIndex === undefined) continue;
    const group = items.get(step.groupIndex);
    if (group === undefined) items.set(step.groupIndex, [step]);
    else group.push(step);
  }
  return ({ output, status, itemCount, executionIndex }) => {
    if (output !== undefined) return read(output);
    if (itemCount === undefined || status !== StepStatus.COMPLETED) return undefined;
    const list: JsonValue[] = Array.from({ length: itemCount }, () => null);
    for (const { itemIndex, output: one } of items.get(executionIndex) ?? []) if (itemIndex !== undefined && one !== undefined) list[itemIndex] = read(one);
    return list;
  };
}

function momentOf(moment: Timestamp | undefined): number {
  return moment === undefined ? 0 : timestampMs(moment);
}

function asSteps(stepId: string, output: JsonValue | undefined): JsonValue {
  return output === undefined ? {} : Object.fromEntries([[stepId, output]]);
}
