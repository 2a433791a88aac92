import type { JsonValue } from "@bufbuild/protobuf";
import { ErrorCode, type ForgeError, type Value } from "@forge/protocol/common";
import type { StepDefinition } from "@forge/protocol/workflow";
import type { Context } from "../decider.ts";
import { stepError } from "./errors.ts";
import { readValue } from "./json.ts";
import { ITEMS_MAX } from "./limits.ts";
import { outputJson } from "./outputs.ts";
import { readsOfItems } from "./reads.ts";
import { failed, type Outcome, succeeded } from "./result.ts";
import { stateView } from "./scope.ts";
import { type Execution, type RunState, stepAt } from "./state.ts";
import { mapSource } from "./step-input.ts";

/** Under this name a for_each's own execution keeps its list. */
export const ITEMS_INPUT = "items";
const ITEM_NAME = "item";

/** The list of a for_each, and how long it is. */
export function itemsOf(state: RunState, position: number, context: Context): Outcome<{ readonly value: Value; readonly count: number }> {
  const step = stepAt(state, position);
  const source = step.forEach?.items;
  if (source === undefined) return failed(listError(step, "it has no items"));
  const view = stateView(state, readsOfItems(step), context, step.id);
  if (!view.ok) return view;
  const value = mapSource(state, view.value, step, "for_each", source);
  if (!value.ok) return value;
  const list = readList(step, value.value, context);
  return list.ok ? succeeded({ value: value.value, count: list.value.length }) : list;
}

const lists = new WeakMap<Value, readonly JsonValue[]>();

function readList(step: StepDefinition, value: Value, context: Context): Outcome<readonly JsonValue[]> {
  const known = lists.get(value);
  if (known !== undefined) return succeeded(known);
  const parsed = readValue(value, context);
  if (!parsed.ok) return failed(listError(step, `its list can't be read: ${parsed.message}`));
  // A template renders to text.
  const list = typeof parsed.value === "string" ? listIn(parsed.value) : within(parsed.value, value.path);
  if (!Array.isArray(list)) return failed(listError(step, "what for_each names is no list"));
  if (list.length > ITEMS_MAX) return failed(listError(step, `its list has ${list.length} items, more than ${ITEMS_MAX}`));
  lists.set(value, list);
  return succeeded(list);
}

function listIn(text: string): JsonValue | undefined {
  try {
    return JSON.parse(text) as JsonValue;
  } catch {
    // A text that is no JSON is no list, which the caller says.
    return undefined;
  }
}

function within(value: JsonValue, path: readonly string[]): JsonValue | undefined {
  let found: JsonValue | undefined = value;
  for (const key of path) {
    if (typeof found !== "object" || found === null || !Object.hasOwn(found, key)) return undefined;
    found = (found as Record<string, JsonValue>)[key];
  }
  return found;
}

/** The names that an item has for its mappings and prompt, and what they stand for. */
export function namesOfItem(state: RunState, group: Execution, index: number, context: Context): Outcome<Readonly<Record<string, JsonValue>>> {
  const step = stepAt(state, group.position);
  const list = readList(step, group.input[ITEMS_INPUT] as Value, context);
  if (!list.ok) return list;
  const name = itemName(step);
  return succeeded({ [name]: list.value[index] ?? null, [`${name}_index`]: index });
}

export function itemName(step: StepDefinition): string {
  return step.forEach?.as || ITEM_NAME;
}

/** How a list ends, once all of it has: undefined while something of it is under way or is still to begin. */
export type GroupEnd =
  | { readonly kind: "completed"; readonly output: Value | undefined }
  | { readonly kind: "failed"; readonly error: ForgeError }
  | { readonly kind: "cancelled" };

export function groupEnd(state: RunState, { group, position, stopSeq }: Execution): GroupEnd | undefined {
  if (group === undefined || group.open > 0) return undefined;
  if (stopSeq > 0) return { kind: "cancelled" };
  if (group.failure !== undefined) return { kind: "failed", error: group.failure };
  if (group.next < group.count) return undefined;
  const step = stepAt(state, position);
  if (group.count > 0 && group.failedCount === group.count) return { kind: "failed", error: listError(step, `all ${group.count} items of its list failed`) };
  return { kind: "completed", output: outputJson({ output: undefined, items: group.outputs }) };
}

function listError(step: StepDefinition, message: string): ForgeError {
  return stepError(ErrorCode.VALIDATION, "STEP_EXECUTION", step.id, message);
}
