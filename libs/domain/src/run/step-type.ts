import { type StepDefinition, StepType } from "@forge/protocol/workflow";
import { type RunState, stepAt } from "./state.ts";

/** The type that events and views name a step by. */
export function stepTypeOf(state: RunState, position: number): StepType {
  const type = stepTypeOfKind(stepAt(state, position).kind.case);
  if (type === StepType.UNSPECIFIED) throw new Error(`run ${state.runId} has a step without a kind`);
  return type;
}

/** The type of a definition's step; UNSPECIFIED where it has no kind. */
export function stepTypeOfKind(kind: StepDefinition["kind"]["case"]): StepType {
  switch (kind) {
    case "agent":
      return StepType.AGENT;
    case "function":
      return StepType.FUNCTION;
    case "tool":
      return StepType.TOOL;
    case "wait":
      return StepType.WAIT;
    case "workflow":
      return StepType.WORKFLOW;
    case undefined:
      return StepType.UNSPECIFIED;
  }
}
