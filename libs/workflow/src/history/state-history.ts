import type { JsonValue } from "@bufbuild/protobuf";
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
  for (const step of endedSteps(run)) {
    const before = outputs.get(step.stepId);
    const after = step.output === undefined ? undefined : read(step.output);
    if (after === undefined) outputs.delete(step.stepId);
    else outputs.set(step.stepId, after);
    versions.push({ version: versions.length, step, changes: diffJson(asSteps(step.stepId, before), asSteps(step.stepId, after), "steps") });
  }
  return versions;
}

/** The whole state at a version. */
export function stateAt(run: Run, version: number, read: ReadValue): State {
  const steps = new Map<string, JsonValue>();
  for (const { stepId, output } of endedSteps(run).slice(0, version)) {
    if (output === undefined) steps.delete(stepId);
    else steps.set(stepId, read(output));
  }
  const { runId, workflowId, workflowVersion } = run;
  return {
    inputs: run.inputs === undefined ? {} : read(run.inputs),
    steps: Object.fromEntries(steps),
    runtime: { run_id: runId, workflow_id: workflowId, workflow_version: workflowVersion },
  };
}

const ENDED: ReadonlySet<StepStatus> = new Set([StepStatus.COMPLETED, StepStatus.FAILED]);

function endedSteps(run: Run): StepExecution[] {
  return run.steps.filter(({ status }) => ENDED.has(status));
}

function asSteps(stepId: string, output: JsonValue | undefined): JsonValue {
  return output === undefined ? {} : Object.fromEntries([[stepId, output]]);
}
