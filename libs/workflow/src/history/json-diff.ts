import type { JsonValue } from "@bufbuild/protobuf";

/** One difference between two states: `+` added, `-` removed, `~` changed. */
export interface StateChange {
  readonly marker: "+" | "-" | "~";
  /** From the state's root, for example `steps.parse.frames[2].file`; a key that is no plain name is quoted: `steps["a.b"]`. */
  readonly path: string;
  /** Absent where it was added. */
  readonly before?: JsonValue;
  /** Absent where it was removed. */
  readonly after?: JsonValue;
}

/** The differences of two JSON values by path, in order of the keys of the first and then of the second; equal values have none. Undefined: not there. */
export function diffJson(before: JsonValue | undefined, after: JsonValue | undefined, path: string): StateChange[] {
  const changes: StateChange[] = [];
  compare(before, after, path, changes);
  return changes;
}

function compare(before: JsonValue | undefined, after: JsonValue | undefined, path: string, changes: StateChange[]): void {
  if (before === undefined) {
    if (after !== undefined) changes.push({ marker: "+", path, after });
    return;
  }
  if (after === undefined) {
    changes.push({ marker: "-", path, before });
    return;
  }
  if (Array.isArray(before) && Array.isArray(after)) {
    const length = Math.max(before.length, after.length);
    for (let index = 0; index < length; index++) compare(before[index], after[index], `${path}[${index}]`, changes);
    return;
  }
  if (isObject(before) && isObject(after)) {
    for (const key of new Set([...Object.keys(before), ...Object.keys(after)])) compare(own(before, key), own(after, key), pathTo(path, key), changes);
    return;
  }
  // -0 and 0 are one value in JSON.
  if (before !== after) changes.push({ marker: "~", path, before, after });
}

function isObject(value: JsonValue): value is { [key: string]: JsonValue } {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function own(object: { [key: string]: JsonValue }, key: string): JsonValue | undefined {
  return Object.hasOwn(object, key) ? object[key] : undefined;
}

const PLAIN = /^[A-Za-z_][A-Za-z0-9_-]*$/;

/** The path of a key below a path; an empty path is the root. */
export function pathTo(path: string, key: string): string {
  if (!PLAIN.test(key)) return `${path}[${JSON.stringify(key)}]`;
  return path === "" ? key : `${path}.${key}`;
}
