import { type ForEach, OnError } from "@forge/protocol/workflow";
import { isReservedName } from "../expression/names.ts";
import { invalidDefinition } from "./invalid-field.ts";
import { parseJson } from "./json.ts";
import { ITEMS_MAX, NAME_LENGTH_MAX, PARALLEL_MAX } from "./limits.ts";
import { checkSource, type Referable } from "./validate-source.ts";

/** A name that expressions can say. */
const ITEM_NAME = /^\p{L}[\p{L}\p{N}_]*$/u;

/** What the name of an item must not hide. */
const TAKEN: ReadonlySet<string> = new Set([
  "inputs",
  "steps",
  "runtime",
  "state",
  "len",
  "min",
  "max",
  "abs",
  "and",
  "or",
  "not",
  "in",
  "true",
  "false",
  "none",
]);

/** Under which names a list's item and its index are seen; none where there is no list. */
export function itemNames(forEach: ForEach | undefined): readonly string[] {
  if (forEach === undefined) return [];
  const name = forEach.as || "item";
  return [name, `${name}_index`];
}

/** Why a name can't be that of an item; undefined where it can. */
export function itemNameProblem(name: string): string | undefined {
  if (name.length > NAME_LENGTH_MAX - "_index".length || !ITEM_NAME.test(name) || isReservedName(name))
    return "an item's name is a letter, then letters, digits and `_`";
  return TAKEN.has(name.toLowerCase()) ? `\`${name}\` has a meaning of its own; call the item otherwise` : undefined;
}

/** Checks a for_each. Throws InvalidField. */
export function validateForEach(field: string, forEach: ForEach, known: Referable): void {
  if (forEach.items === undefined) throw invalidDefinition(`${field}.items`, "a for_each needs its items: a list by path, JSON text or template");
  checkSource(`${field}.items`, forEach.items, known);
  if (forEach.items.kind.case === "literalJson") {
    const list = parseJson(forEach.items.kind.value);
    if (list.ok && !Array.isArray(list.value)) throw invalidDefinition(`${field}.items.literal_json`, "the items of a for_each are a list");
    if (list.ok && Array.isArray(list.value) && list.value.length > ITEMS_MAX)
      throw invalidDefinition(`${field}.items.literal_json`, `a for_each has at most ${ITEMS_MAX} items, not ${list.value.length}`);
  }
  const problem = forEach.as === "" ? undefined : itemNameProblem(forEach.as);
  if (problem !== undefined) throw invalidDefinition(`${field}.as`, problem);
  if (forEach.concurrency > PARALLEL_MAX) throw invalidDefinition(`${field}.concurrency`, `at most ${PARALLEL_MAX} items at once, not ${forEach.concurrency}`);
  if (!Object.values(OnError).some((value) => value === forEach.onError)) throw invalidDefinition(`${field}.on_error`, "on_error is FAIL_FAST or CONTINUE");
}
