import { isReservedName, ownValue } from "../expression/names.ts";

/** A path into a run's state, split at its dots; the first segment is `inputs` or `steps`. */
export type StatePath = readonly string[];

/** What stands at a path, or the first segment that leads nowhere (an index into the path). */
export type Resolved = { readonly found: true; readonly value: unknown } | { readonly found: false; readonly missing: number };

const STATE_PATH = /^(?:inputs|steps)(?:\.[^.\s{}]+)+$/;

/** At most so many UTF-16 units; what is longer is no path. */
const PATH_LENGTH_MAX = 1024;

/**
 * Parses `inputs.issue`, `steps.a.summary`, `steps.a.items.0`. Undefined for everything else, also for a path through `__proto__`, `constructor` or
 * `prototype`: a mapped input that is no state path is a literal.
 */
export function parseStatePath(text: string): StatePath | undefined {
  if (text.length > PATH_LENGTH_MAX || !STATE_PATH.test(text)) return undefined;
  const segments = text.split(".");
  return segments.some(isReservedName) ? undefined : segments;
}

/** Follows a path through own properties and list indexes (0 is the first). */
export function resolveStatePath(path: StatePath, state: unknown): Resolved {
  let value: unknown = state;
  for (const [index, segment] of path.entries()) {
    const next = step(value, segment);
    if (next === undefined) return { found: false, missing: index };
    value = next.value;
  }
  return { found: true, value };
}

function step(value: unknown, segment: string): { readonly value: unknown } | undefined {
  if (typeof value !== "object" || value === null) return undefined;
  if (Array.isArray(value) && !/^(?:0|[1-9]\d{0,9})$/.test(segment)) return undefined;
  return ownValue(value, segment);
}
