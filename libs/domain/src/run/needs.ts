import type { Value } from "@forge/protocol/common";
import { OnError } from "@forge/protocol/workflow";
import { artifactOf } from "./json.ts";
import { type Reads, readsOfBranches, readsOfInput, unionOfReads } from "./reads.ts";
import type { RunCommand } from "./run-command.ts";
import { type CurrentStep, positionOf, type RunState, stepAt } from "./state.ts";

/** Hashes of the artifacts that deciding may read: what has just come, and what branches, mappings and prompts of the steps that may follow look into. */
export function needs(state: RunState, command: RunCommand): readonly string[] {
  switch (command.$typeName) {
    case "forge.workflow.v1.StartRunRequest":
      return hashes([command.inputs]);
    case "task.settled": {
      const { outcome } = command;
      return needsAtEnd(state, outcome.case === "function" || outcome.case === "tool" ? outcome.value.output : undefined);
    }
    case "forge.engine.v1.ReportTurnEnd":
      return [...new Set([...hashes([command.text]), ...needsAtEnd(state, undefined)])];
    case "task.lost":
    case "forge.engine.v1.RejectCommand":
      return needsAtEnd(state, undefined);
    case "task.started":
    case "task.reported_late":
    case "timer.fired":
    case "forge.workflow.v1.CancelRunRequest":
      return [];
  }
}

/** What may be read once the current attempt has ended with this output. */
function needsAtEnd(state: RunState, output: Value | undefined): readonly string[] {
  const { current } = state;
  if (current === undefined) return [];
  const own = stepAt(state, current.position).outputs.length > 0 ? [output] : [];
  if (state.artifactOutputCount === 0 && artifactOf(output) === undefined && artifactOf(state.inputs) === undefined) return [];
  const reads = readsAtEnd(state, current);
  const outputAt = (position: number | undefined): Value | undefined =>
    position === current.position && output !== undefined ? output : state.steps[position ?? -1]?.output;
  const read = reads.steps === "all" ? state.steps.map((_, position) => outputAt(position)) : Array.from(reads.steps, (id) => outputAt(positionOf(state, id)));
  return hashes([...own, ...read, reads.inputs ? state.inputs : undefined]);
}

function readsAtEnd(state: RunState, current: CurrentStep): Reads {
  const steps = state.definition?.steps ?? [];
  const step = stepAt(state, current.position);
  const targets = [...step.next.map((rule) => rule.goto), ...(step.nextDefault === undefined ? [] : [step.nextDefault])].map((id) => positionOf(state, id));
  const followers = [current.position + 1, ...targets.filter((position) => position !== undefined)];
  // Where failures are passed over, a step that can't begin is followed by the next, so that any later one may come.
  const first = Math.min(...followers);
  const candidates = state.definition?.onError === OnError.CONTINUE ? steps.slice(first) : followers.flatMap((position) => steps[position] ?? []);
  return unionOfReads([readsOfBranches(step), ...candidates.map(readsOfInput)]);
}

function hashes(values: readonly (Value | undefined)[]): string[] {
  return [...new Set(values.flatMap((value) => artifactOf(value) ?? []))];
}
