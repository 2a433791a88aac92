import type { JsonValue } from "@bufbuild/protobuf";
import { ErrorCode, type ForgeError, type Value } from "@forge/protocol/common";
import type { StepDefinition } from "@forge/protocol/workflow";
import type { Context } from "../decider.ts";
import { shorten } from "../text.ts";
import { allOf } from "./chunks.ts";
import { MESSAGE_LENGTH_MAX, stepError } from "./errors.ts";
import { parseJson, readValue } from "./json.ts";
import { ITEMS_MAX } from "./limits.ts";
import { outputJson } from "./outputs.ts";
import { readsOfItems } from "./reads.ts";
import { failed, type Outcome, succeeded } from "./result.ts";
import { stateView } from "./scope.ts";
import { type Execution, isFailing, type RunState, stepAt } from "./state.ts";
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

/** Lists are read once per value in memory: each item looks into its own. */
const lists = new WeakMap<Value, readonly JsonValue[]>();

/** Whether an open list must be read (again) from where it lies. */
export function mustBeRead({ group, input }: Execution): Value | undefined {
  const value = input[ITEMS_INPUT];
  return group === undefined || value === undefined || group.next >= group.count || lists.has(value) ? undefined : value;
}

function readList(step: StepDefinition, value: Value, context: Context): Outcome<readonly JsonValue[]> {
  const known = lists.get(value);
  if (known !== undefined) return succeeded(known);
  const parsed = readValue(value, context);
  if (!parsed.ok) return failed(listError(step, `its list can't be read: ${parsed.message}`));
  const list = listIn(within(parsed.value, value.path));
  if (!Array.isArray(list)) return failed(listError(step, "what for_each names is no list"));
  if (list.length > ITEMS_MAX) return failed(listError(step, `its list has ${list.length} items, more than ${ITEMS_MAX}`));
  lists.set(value, list);
  return succeeded(list);
}

/** A template renders to text, which may be that of a list. A text that is no JSON is no list, which the caller says. */
function listIn(value: JsonValue | undefined): JsonValue | undefined {
  if (typeof value !== "string") return value;
  const parsed = parseJson(value);
  return parsed.ok ? parsed.value : undefined;
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

export function groupEnd(state: RunState, execution: Execution): GroupEnd | undefined {
  const { group, stopSeq } = execution;
  if (group === undefined || group.open > 0) return undefined;
  if (stopSeq > 0) return { kind: "cancelled" };
  const { firstError, count } = group;
  if (firstError !== undefined && isFailing(state, execution)) return { kind: "failed", error: firstError };
  if (group.next < count) return undefined;
  if (firstError !== undefined && group.failedCount === count) {
    const message = shorten(`all ${count} items of its list failed, the first of them: ${firstError.message}`, MESSAGE_LENGTH_MAX);
    return { kind: "failed", error: { ...firstError, message } };
  }
  return { kind: "completed", output: outputJson({ output: undefined, items: allOf(group.outputs) }) };
}

function listError(step: StepDefinition, message: string): ForgeError {
  return stepError(ErrorCode.VALIDATION, "STEP_EXECUTION", step.id, message);
}
