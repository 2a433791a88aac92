/** By step, the steps that it needs; one that is named and isn't there is passed over. */
export type Needs = ReadonlyMap<string, readonly string[]>;

/** A way from a step back to itself, that step at both ends; undefined where there is none. */
export function cycleOf(needs: Needs): string[] | undefined {
  const done = new Set<string>();
  for (const start of needs.keys()) {
    const cycle = done.has(start) ? undefined : cycleFrom(start, needs, done);
    if (cycle !== undefined) return cycle;
  }
  return undefined;
}

/** A chain of ten thousand steps is deeper than some stacks, so the way is kept in a list. */
function cycleFrom(start: string, needs: Needs, done: Set<string>): string[] | undefined {
  const way: { readonly id: string; next: number }[] = [{ id: start, next: 0 }];
  const onWay = new Set([start]);
  for (let top = way.at(-1); top !== undefined; top = way.at(-1)) {
    const need = needs.get(top.id)?.[top.next++];
    if (need === undefined) {
      done.add(top.id);
      onWay.delete(top.id);
      way.pop();
    } else if (onWay.has(need)) {
      const ids = way.map(({ id }) => id);
      return [...ids.slice(ids.indexOf(need)), need];
    } else if (needs.has(need) && !done.has(need)) {
      way.push({ id: need, next: 0 });
      onWay.add(need);
    }
  }
  return undefined;
}
