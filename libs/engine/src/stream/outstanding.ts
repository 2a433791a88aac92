import type { Outstanding, OutstandingTask } from "@forge/domain";

/** Parts are found again by the state after, so each is indexed once. */
const indexes = new WeakMap<readonly OutstandingTask[], ReadonlyMap<string, OutstandingTask>>();

/** The task with a key. */
export function findTask(outstanding: Outstanding, key: string): OutstandingTask | undefined {
  for (const part of outstanding) {
    const found = indexOf(part).get(key);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** The parts of one that the other does not have. */
export function partsBeside(outstanding: Outstanding, other: Outstanding): Outstanding {
  const shared = new Set(other);
  return outstanding.filter((part) => !shared.has(part));
}

function indexOf(part: readonly OutstandingTask[]): ReadonlyMap<string, OutstandingTask> {
  let index = indexes.get(part);
  if (index === undefined) {
    index = new Map(part.map((task) => [task.key, task]));
    indexes.set(part, index);
  }
  return index;
}
