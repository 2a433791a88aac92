import type { JsonValue } from "@bufbuild/protobuf";
import type { Value } from "@forge/protocol/common";
import { OverwritePolicy } from "@forge/protocol/workflow";
import { canonicalJson } from "./canonical-json.ts";
import { parseJson } from "./json.ts";
import { hasOutput, type Output, outputOf } from "./outputs.ts";
import { type Execution, memoryAt, type RunState } from "./state.ts";

/**
 * Whether an execution's end puts another output in the place of one that its step has, and the run's policy minds. The same value again replaces nothing,
 * however its text is written.
 */
export function overwrites(state: RunState, execution: Execution, output: Value | undefined): boolean {
  if (execution.item !== undefined || state.overwritePolicy === OverwritePolicy.ALLOW) return false;
  const before: Output = memoryAt(state, execution.position);
  if (!hasOutput(before)) return false;
  const after = outputOf(execution, output);
  if (before.items === undefined || after.items === undefined) return before.items !== after.items || differs(before.output, after.output);
  const { items } = after;
  return before.items.length !== items.length || before.items.some((item, index) => differs(item, items[index]));
}

/** Artifacts are told apart by their hashes, so that none has to be read. */
function differs(a: Value | undefined, b: Value | undefined): boolean {
  if (a?.kind.case === "artifact" && b?.kind.case === "artifact") return a.kind.value.sha256 !== b.kind.value.sha256;
  if (a?.kind.case !== "json" || b?.kind.case !== "json") return a?.kind.case !== b?.kind.case;
  return a.kind.value !== b.kind.value && canonicalJson(read(a.kind.value)) !== canonicalJson(read(b.kind.value));
}

/** A step's output was read when it came; a text that can't be is compared as the text that it is. */
function read(text: string): JsonValue {
  const parsed = parseJson(text);
  return parsed.ok ? parsed.value : text;
}
