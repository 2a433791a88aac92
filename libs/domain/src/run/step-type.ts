import { StepType } from "@forge/protocol/workflow";
import { type RunState, stepAt } from "./state.ts";

/** The type that events and views name a step by. */
export function stepTypeOf(state: RunState, position: number): StepType {
  switch (stepAt(state, position).kind.case) {
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
      throw new Error(`run ${state.runId} has a step without a kind`);
  }
}
