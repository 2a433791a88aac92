import { allOf, chunksOf, withItem, withLast } from "./chunks.ts";
import { dependentsOf, isGraph, memoryAt, positionOf, type RunState, type StepMemory, stepAt } from "./state.ts";

/** A run none of whose steps was reached: the first of a sequence may begin, or every step of a graph that needs nothing. */
export function withNothingReached(state: RunState): RunState {
  const steps = (state.definition?.steps ?? []).map(
    (step): StepMemory => ({ executionCount: 0, outcome: undefined, output: undefined, items: undefined, unmet: new Set(step.needs).size }),
  );
  const ready = isGraph(state) ? steps.flatMap(({ unmet }, position) => (unmet === 0 ? [position] : [])) : [0];
  return { ...state, steps: chunksOf(steps), ready: chunksOf(ready) };
}

/** A step of a graph has ended: those that waited for it alone may begin, or be passed over. */
export function withDependentsReady(state: RunState, position: number): RunState {
  let { steps, ready } = state;
  for (const dependent of dependentsOf(state, position)) {
    const memory = memoryAt(state, dependent);
    steps = withItem(steps, dependent, { ...memory, unmet: memory.unmet - 1 });
    if (memory.unmet === 1) ready = withLast(ready, dependent);
  }
  return { ...state, steps, ready };
}

/** Steps that are to be executed (again), and with them, in a graph, whatever needs them. What else has ended stays as it is. */
export function openAgain(state: RunState, stepIds: readonly string[]): RunState {
  const open = new Set<number>(stepIds.flatMap((id) => positionOf(state, id) ?? []));
  if (isGraph(state)) for (const position of open) for (const dependent of dependentsOf(state, position)) open.add(dependent);
  const steps = allOf(state.steps).map((memory, position): StepMemory => (open.has(position) ? { ...memory, outcome: undefined } : memory));
  const withErrors = steps.some(({ outcome }) => outcome === "failed");
  if (!isGraph(state))
    return { ...state, steps: chunksOf(steps), withErrors, ready: chunksOf([...open].slice(0, 1)), unresolved: open.size > 0 ? undefined : state.unresolved };
  const ended = (id: string) => steps[positionOf(state, id) ?? -1]?.outcome !== undefined;
  const counted = steps.map((memory, position) => ({ ...memory, unmet: [...new Set(stepAt(state, position).needs)].filter((id) => !ended(id)).length }));
  const ready = counted.flatMap(({ unmet, outcome }, position) => (unmet === 0 && outcome === undefined ? [position] : []));
  return { ...state, steps: chunksOf(counted), withErrors, ready: chunksOf(ready) };
}
