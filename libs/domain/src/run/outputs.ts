import type { JsonValue } from "@bufbuild/protobuf";
import type { Value } from "@forge/protocol/common";
import type { Context } from "../decider.ts";
import { allOf } from "./chunks.ts";
import { fitsInline, inlineValue, type Parsed, readValue } from "./json.ts";
import type { Execution } from "./state.ts";

/** What a step has put out: one value, or one for each item of its list. */
export interface Output {
  readonly output: Value | undefined;
  readonly items?: readonly (Value | undefined)[] | undefined;
}

/** What a step has put out with the end of its execution. */
export function outputOf(
  { group }: Pick<Execution, "group">,
  output: Value | undefined,
): Output & { readonly items: readonly (Value | undefined)[] | undefined } {
  return group === undefined ? { output, items: undefined } : { output: undefined, items: allOf(group.outputs) };
}

/** Whether there is anything. */
export function hasOutput(output: Output | undefined): output is Output {
  return output !== undefined && (output.output !== undefined || output.items !== undefined);
}

/** All values that it consists of. */
export function valuesOf(output: Output | undefined): readonly (Value | undefined)[] {
  return output === undefined ? [] : (output.items ?? [output.output]);
}

/** As one value: the list of the items' outputs, null for an item that failed. Undefined where there is none, and where a list does not fit inline or holds artifacts. */
export function outputJson(output: Output | undefined): Value | undefined {
  if (output?.items === undefined) return output?.output;
  const parts: string[] = [];
  for (const item of output.items) {
    if (item?.kind.case === "artifact") return undefined;
    parts.push(item?.kind.case === "json" ? item.kind.value : "null");
  }
  const json = `[${parts.join(",")}]`;
  return fitsInline(json) ? inlineValue(json) : undefined;
}

/** Reads it, wherever it lies. */
export function readOutput({ output, items }: Output, context: Pick<Context, "artifact">): Parsed {
  if (items === undefined) return output === undefined ? { ok: true, value: null } : readValue(output, context);
  const values: JsonValue[] = [];
  for (const item of items) {
    const parsed: Parsed = item === undefined ? { ok: true, value: null } : readValue(item, context);
    if (!parsed.ok) return parsed;
    values.push(parsed.value);
  }
  return { ok: true, value: values };
}
