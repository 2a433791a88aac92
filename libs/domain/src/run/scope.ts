import type { JsonValue } from "@bufbuild/protobuf";
import { ErrorCode } from "@forge/protocol/common";
import type { Context } from "../decider.ts";
import { itemAt } from "./chunks.ts";
import { stepError } from "./errors.ts";
import { readValue } from "./json.ts";
import { hasOutput, type Output, readOutput } from "./outputs.ts";
import type { Reads } from "./reads.ts";
import { failed, type Outcome, succeeded } from "./result.ts";
import { positionOf, type RunState, stepAt } from "./state.ts";

/** The state as paths, templates and branches see it. */
export interface StateView {
  readonly inputs: JsonValue;
  readonly steps: Readonly<Record<string, JsonValue>>;
  readonly runtime: Readonly<Record<string, JsonValue>>;
}

/** An output that has just come and has not joined the state yet. */
export interface FreshOutput extends Output {
  readonly position: number;
}

/** What the runtime itself knows of a run. */
export function runtimeOf(state: RunState): Record<string, JsonValue> {
  return { run_id: state.runId, workflow_id: state.workflowId, workflow_version: state.workflowVersion };
}

/** The step's newest output. */
export function outputAt(state: RunState, position: number, fresh?: FreshOutput): Output | undefined {
  const output = fresh?.position === position ? fresh : itemAt(state.steps, position);
  return hasOutput(output) ? output : undefined;
}

/** Builds as much of the state as is read: large values that nobody looks into stay where they are. */
export function stateView(state: RunState, reads: Reads, context: Pick<Context, "artifact">, forStep: string, fresh?: FreshOutput): Outcome<StateView> {
  const steps: Record<string, JsonValue> = {};
  for (const position of positionsRead(state, reads)) {
    const output = outputAt(state, position, fresh);
    if (output === undefined) continue;
    const { id } = stepAt(state, position);
    const parsed = readOutput(output, context);
    if (!parsed.ok) return failed(stepError(ErrorCode.INTERNAL, "STEP_EXECUTION", forStep, `the output of step "${id}" can't be read: ${parsed.message}`));
    steps[id] = parsed.value;
  }
  let inputs: JsonValue = {};
  if (reads.inputs && state.inputs !== undefined) {
    const parsed = readValue(state.inputs, context);
    if (!parsed.ok) return failed(stepError(ErrorCode.INTERNAL, "STEP_EXECUTION", forStep, `the run's inputs can't be read: ${parsed.message}`));
    inputs = parsed.value;
  }
  return succeeded({ inputs, steps, runtime: runtimeOf(state) });
}

function positionsRead(state: RunState, reads: Reads): number[] {
  if (reads.steps === "all") return Array.from({ length: state.steps.length }, (_, position) => position);
  const positions: number[] = [];
  for (const id of reads.steps) {
    const position = positionOf(state, id);
    if (position !== undefined) positions.push(position);
  }
  return positions;
}
