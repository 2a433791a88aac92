import type { Value } from "@forge/protocol/common";
import { OnError, type StepDefinition } from "@forge/protocol/workflow";
import { allOf, itemAt } from "./chunks.ts";
import { executionAwaiting, listsIn } from "./executions.ts";
import { mustBeRead } from "./for-each.ts";
import { artifactOf } from "./json.ts";
import { executionOfTask, executionOfTimer } from "./keys.ts";
import { hasContract } from "./output.ts";
import { valuesOf } from "./outputs.ts";
import { type Reads, readsOfBranches, readsOfInput, readsOfItems, readsOfWhen, unionOfReads } from "./reads.ts";
import type { RunCommand } from "./run-command.ts";
import { dependentsOf, type Execution, executionAt, type Group, isGraph, positionOf, type RunState, stepAt } from "./state.ts";

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
      return needsAtEnd(state, executionOfTask(state, key), output);
    }
    case "forge.engine.v1.ReportTurnEnd":
      return needsAtEnd(state, executionAwaiting(state.executions, "session", command.sessionId), undefined, hashes([command.text]));
    case "forge.engine.v1.ReportRunEnd":
      return needsAtEnd(state, executionAwaiting(state.executions, "run", command.runId), command.output);
    case "forge.workflow.v1.SignalRunRequest":
      return needsAtEnd(state, executionAwaiting(state.executions, "signal", command.name), command.payload, hashes([command.payload]));
    case "forge.event.v1.ResolveApprovalRequest":
      return needsAtEnd(state, executionAwaiting(state.executions, "approval", command.approvalId), undefined);
    case "timer.fired":
      return needsAtEnd(state, executionOfTimer(state, command.key), undefined);
    case "task.lost":
    case "forge.engine.v1.RejectCommand":
    case "forge.engine.v1.GrantConcurrency":
    case "forge.workflow.v1.ContinueRunRequest":
    case "forge.workflow.v1.ResumeRunRequest":
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
  const lists = listsIn(state.executions).flatMap((execution) => mustBeRead(execution) ?? []);
  // A wait that begins takes its signal at once.
  const signals = state.signals.map(({ payload }) => payload);
  const mayReadNone = state.artifactOutputCount === 0 && artifactOf(state.inputs) === undefined;
  const handed = hashes([output, ...lists, ...signals]);
  if (mayReadNone && handed.length === 0) return also;
  const own = ended !== undefined && hasContract(stepAt(state, ended.position)) ? [output] : [];
  const reads = unionOfReads(candidates(state, ended).flatMap(readsOfStep));
  const valuesThere = (position: number): readonly (Value | undefined)[] => [
    ...valuesOf(itemAt(state.steps, position)),
    ...(position === ended?.position ? [output, ...itemsBefore(state, ended)] : []),
  ];
  const positions =
    reads.steps === "all" ? Array.from({ length: state.steps.length }, (_, at) => at) : Array.from(reads.steps, (id) => positionOf(state, id) ?? -1);
  const read = positions.flatMap(valuesThere);
  return [...new Set([...also, ...hashes([...own, ...lists, ...signals, ...read, reads.inputs ? state.inputs : undefined])])];
}

/** The items that had ended before, where the one that ends is the last of its list. */
function itemsBefore(state: RunState, { item }: Execution): readonly (Value | undefined)[] {
  const group = item === undefined ? undefined : executionAt(state, item.groupIndex)?.group;
  return group === undefined || !isLast(group) ? [] : allOf(group.outputs);
}

/** Whether a list ends with the end of one item. */
function isLast({ open, next, count }: Group): boolean {
  return open <= 1 && next >= count;
}

function readsOfStep(step: StepDefinition): Reads[] {
  return [readsOfBranches(step), readsOfWhen(step), readsOfItems(step), readsOfInput(step)];
}

/** Steps that may begin, or take their branch, in one decision. */
function candidates(state: RunState, ended: Execution | undefined): readonly StepDefinition[] {
  const steps = state.definition?.steps ?? [];
  if (ended === undefined) return steps;
  if (isGraph(state)) return candidatesOfGraph(state, ended);
  const step = stepAt(state, ended.position);
  const group = ended.item === undefined ? undefined : executionAt(state, ended.item.groupIndex)?.group;
  if (group !== undefined && !isLast(group)) return [step];
  const followers = [ended.position + 1, ...targetsOf(state, step)];
  // Where failures are passed over, a step that can't begin takes its branch, so that any later one may come; and a wait may end as it begins.
  const passesOver = state.definition?.onError === OnError.CONTINUE;
  const first = Math.min(...followers);
  const later = passesOver ? steps.slice(first) : followers.flatMap((position) => steps[position] ?? []);
  if (passesOver && later.some((each) => targetsOf(state, each).some((target) => target < first))) return steps;
  return later.some(mayEndAtOnce) ? steps : [step, ...later];
}

/** Where a step's branches lead. */
function targetsOf(state: RunState, { next, nextDefault }: StepDefinition): readonly number[] {
  return [...next.map((rule) => rule.goto), ...(nextDefault === undefined ? [] : [nextDefault])].flatMap((id) => positionOf(state, id) ?? []);
}

/** What is ready, the lists that are open, and what the end makes ready; what needs a step that fails or is passed over is passed over unread. */
function candidatesOfGraph(state: RunState, ended: Execution): readonly StepDefinition[] {
  const open = listsIn(state.executions).map(({ position }) => position);
  const positions = new Set([...open, ...allOf(state.ready), ...dependentsOf(state, ended.position)]);
  for (const position of positions) {
    if (mayEndAtOnce(stepAt(state, position))) for (const dependent of dependentsOf(state, position)) positions.add(dependent);
  }
  return Array.from(positions, (position) => stepAt(state, position));
}

/** Whether a step may complete without anybody's work: its time has passed, its signal is there, its list is empty. */
function mayEndAtOnce({ kind, forEach }: StepDefinition): boolean {
  return kind.case === "wait" || forEach !== undefined;
}

function hashes(values: readonly (Value | undefined)[]): string[] {
  return [...new Set(values.flatMap((value) => artifactOf(value) ?? []))];
}
