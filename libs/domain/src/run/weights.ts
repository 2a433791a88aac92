import type { Value } from "@forge/protocol/common";
import { allOf, withItem } from "./chunks.ts";
import { artifactOf, inlineBytes } from "./json.ts";
import { valuesOf } from "./outputs.ts";
import { type Group, memoryAt, type RunState, type StepMemory } from "./state.ts";

/** Puts a step's memory in its place, and keeps count of what the outputs weigh. */
export function remembered(state: RunState, position: number, memory: StepMemory): RunState {
  let after: RunState = { ...state, steps: withItem(state.steps, position, memory) };
  for (const output of valuesOf(memoryAt(state, position))) after = weighed(after, output, undefined);
  for (const output of valuesOf(memory)) after = weighed(after, undefined, output);
  return after;
}

/** What the items of a list weighed as they came; where the list has completed they weigh as the step's. */
export function unweighed(state: RunState, group: Group | undefined): RunState {
  return group === undefined ? state : allOf(group.outputs).reduce((after, output) => weighed(after, output, undefined), state);
}

/** What the outputs weigh once one is gone and another has come. */
export function weighed(state: RunState, gone: Value | undefined, come: Value | undefined): RunState {
  const bytes = inlineBytes(come) - inlineBytes(gone);
  const artifacts = artifactCount(come) - artifactCount(gone);
  if (bytes === 0 && artifacts === 0) return state;
  return { ...state, outputBytes: state.outputBytes + bytes, artifactOutputCount: state.artifactOutputCount + artifacts };
}

function artifactCount(output: Value | undefined): number {
  return artifactOf(output) === undefined ? 0 : 1;
}
