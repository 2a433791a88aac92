import type { Value } from "@forge/protocol/common";
import { OnError, type StepDefinition } from "@forge/protocol/workflow";
import { ITEMS_INPUT } from "./for-each.ts";
import { artifactOf } from "./json.ts";
import { stepTaskKey } from "./keys.ts";
import { valuesOf } from "./outputs.ts";
import { type Reads, readsOfBranches, readsOfInput, readsOfItems, readsOfWhen, unionOfReads } from "./reads.ts";
import type { RunCommand } from "./run-command.ts";
import { type Execution, isGraph, positionOf, type RunState, stepAt } from "./state.ts";

/** Hashes of the artifacts that deciding may read: what has just come, and what branches, mappings and prompts of the steps that may follow look into. */
export function needs(state: RunState, command: RunCommand): readonly string[] {
  switch (command.$typeName) {
    case "forge.workflow.v1.StartRunRequest":
      return hashes([command.inputs]);
    case "forge.engine.v1.StartChildRun":
      return hashes([command.request?.inputs]);
    case "forge.engine.v1.ForkFromRun":
      return hashes([command.created?.inputs, ...(command.forked?.steps.flatMap((step) => [step.output, ...step.items]) ?? [])]);
    case "task.settled": {
      const { outcome, key } = command;
      const output = outcome.case === "function" || outcome.case === "tool" ? outcome.value.output : undefined;
      return needsAtEnd(
        state,
        state.executions.find((execution) => stepTaskKey(execution) === key),
        output,
      );
    }
    case "forge.engine.v1.ReportTurnEnd":
      return needsAtEnd(
        state,
        state.executions.find(({ sessionId }) => sessionId === command.sessionId),
        undefined,
        hashes([command.text]),
      );
    case "forge.engine.v1.ReportRunEnd":
      return needsAtEnd(
        state,
        state.executions.find(({ childRunId }) => childRunId === command.runId),
        command.output,
      );
    case "task.lost":
    case "forge.engine.v1.RejectCommand":
    case "forge.workflow.v1.SignalRunRequest":
    case "forge.workflow.v1.ContinueRunRequest":
    case "forge.workflow.v1.ResumeRunRequest":
    case "forge.event.v1.ResolveApprovalRequest":
    case "timer.fired":
      return needsAtEnd(state, undefined, undefined);
    case "task.started":
    case "task.reported_late":
    case "forge.workflow.v1.PauseRunRequest":
    case "forge.workflow.v1.CancelRunRequest":
      return [];
  }
}

/** What may be read once an execution has ended with this output; undefined: any may have. */
function needsAtEnd(state: RunState, ended: Execution | undefined, output: Value | undefined, also: readonly string[] = []): readonly string[] {
  const lists = state.executions.map(({ group, input }) => (group === undefined ? undefined : input[ITEMS_INPUT]));
  const own = ended !== undefined && checksOutput(stepAt(state, ended.position)) ? [output] : [];
  const mayReadNone = state.artifactOutputCount === 0 && artifactOf(state.inputs) === undefined;
  if (mayReadNone && hashes([output, ...lists]).length === 0) return also;
  const reads = unionOfReads(candidates(state, ended).flatMap(readsOfStep));
  const valuesAt = (position: number): readonly (Value | undefined)[] => [
    ...valuesOf(state.steps[position]),
    ...(position === ended?.position ? [output, ...(groupOf(state, ended)?.outputs ?? [])] : []),
  ];
  const positions = reads.steps === "all" ? state.steps.keys() : Array.from(reads.steps, (id) => positionOf(state, id) ?? -1);
  const read = Array.from(positions).flatMap(valuesAt);
  return [...new Set([...also, ...hashes([...own, ...lists, ...read, reads.inputs ? state.inputs : undefined])])];
}

/** The items that had ended before, where the ended one belongs to a list. */
function groupOf(state: RunState, { item }: Execution): Execution["group"] {
  return item === undefined ? undefined : state.executions.find(({ executionIndex }) => executionIndex === item.groupIndex)?.group;
}

function checksOutput(step: StepDefinition): boolean {
  return step.outputs.length > 0 || step.outputSchemaJson !== "";
}

function readsOfStep(step: StepDefinition): Reads[] {
  return [readsOfBranches(step), readsOfWhen(step), readsOfItems(step), readsOfInput(step)];
}

/** Steps that may begin, or take their branch, in one decision. */
function candidates(state: RunState, ended: Execution | undefined): readonly StepDefinition[] {
  const steps = state.definition?.steps ?? [];
  if (ended === undefined || isGraph(state)) return steps;
  const step = stepAt(state, ended.position);
  const targets = [...step.next.map((rule) => rule.goto), ...(step.nextDefault === undefined ? [] : [step.nextDefault])].map((id) => positionOf(state, id));
  const followers = [ended.position + 1, ...targets.filter((position) => position !== undefined)];
  // Where failures are passed over, a step that can't begin is followed by the next, so that any later one may come.
  const later = state.definition?.onError === OnError.CONTINUE ? steps.slice(Math.min(...followers)) : followers.flatMap((position) => steps[position] ?? []);
  return [step, ...later];
}

function hashes(values: readonly (Value | undefined)[]): string[] {
  return [...new Set(values.flatMap((value) => artifactOf(value) ?? []))];
}
