import type { Node } from "yaml";
import type { YamlEntry, YamlReader } from "../yaml/yaml-reader.ts";
import { startOf } from "../yaml/yaml-source.ts";
import { checkId, NAME_LENGTH_MAX } from "./names.ts";
import { readCondition } from "./read-condition.ts";
import { readDurationMs } from "./read-duration.ts";
import { readForEach } from "./read-for-each.ts";
import { type ReadKind, readKind, type StepSources, TYPES } from "./read-kind.ts";
import { readNeeds } from "./read-needs.ts";
import { readNext } from "./read-next.ts";
import { readOutputSchema } from "./read-output-schema.ts";
import { readRetry } from "./read-retry.ts";
import { readNames, readStepInputs } from "./read-step-inputs.ts";
import { WAIT_MS_MAX } from "./read-wait.ts";
import { itemNames, type StepDraft } from "./step-draft.ts";

/** The keys of a step; a function has `idempotent` beside them. */
export const STEP_KEYS = [
  "id",
  "type",
  ...TYPES,
  "inputs",
  "outputs",
  "retry",
  "next",
  "timeout",
  "timeout_ms",
  "needs",
  "when",
  "for_each",
  "output_schema",
  "heartbeat_timeout",
];

/** What a wait has no use for. */
const NOT_OF_WAITS = ["inputs", "retry", "for_each", "heartbeat_timeout"];

/** Known from other versions of the format, and not built. */
const LATER_KEYS = ["optional", "default"];

const TIMEOUT_MS_MAX = 7 * 86_400_000;

/** One item of `steps`. */
export function readStep(reader: YamlReader, node: Node, sources: StepSources): StepDraft | undefined {
  const entries = reader.mapping(node, "a step");
  if (entries === undefined) return undefined;
  const id = readId(reader, entries, startOf(node));
  const what = id === undefined ? "a step" : `step ${id.text}`;
  const read = readKind(reader, entries, what, startOf(node), sources);
  const { kind } = read;
  reader.checkKeys(entries, what, read.type === "function" ? [...STEP_KEYS, "idempotent"] : STEP_KEYS, LATER_KEYS);
  checkUse(reader, entries, what, read);
  const [inputs, outputs, retry, next] = [entries.get("inputs"), entries.get("outputs"), entries.get("retry"), entries.get("next")];
  const [needs, when, list, schema] = [entries.get("needs"), entries.get("when"), entries.get("for_each"), entries.get("output_schema")];
  const forEach = list && readForEach(reader, list.value);
  // A list with something wrong still has an item, so that its name is not wrong as well.
  const names = itemNames(list && (forEach ?? { as: "" }));
  const rest = {
    ...(inputs ? readStepInputs(reader, inputs.value, names) : { inputs: [], contract: [] }),
    outputs: outputs ? readNames(reader, outputs.value, "outputs") : [],
    retry: retry && readRetry(reader, retry.value),
    next: next ? readNext(reader, next.value) : { rules: [], default: undefined },
    nextOffset: next?.offset,
    ...readTimes(reader, entries, read),
    needs: needs ? readNeeds(reader, needs.value) : [],
    when: when && readCondition(reader, when.value, "when"),
    forEach,
    outputSchemaJson: schema ? readOutputSchema(reader, schema.value, sources.source) : "",
  };
  return id && kind && { id, kind, ...rest };
}

function readId(reader: YamlReader, entries: ReadonlyMap<string, YamlEntry>, at: number): StepDraft["id"] | undefined {
  const entry = entries.get("id");
  if (entry === undefined) {
    reader.problems.add(at, "a step has no id");
    return undefined;
  }
  const id = checkId(reader.problems, "step id", reader.text(entry.value, "a step's id", NAME_LENGTH_MAX));
  if (id?.text !== "end") return id;
  reader.problems.add(id.offset, "step id `end` is taken: a branch to `end` ends the run");
  return undefined;
}

/** Refuses keys that say nothing of a step of this type. */
function checkUse(reader: YamlReader, entries: ReadonlyMap<string, YamlEntry>, what: string, { type, kind }: ReadKind): void {
  const refused = type === "wait" ? NOT_OF_WAITS : type === "agent" || type === "workflow" ? ["heartbeat_timeout"] : [];
  for (const key of refused) {
    const entry = entries.get(key);
    const why = type === "wait" ? "which waits" : `whose type is ${type}; expected it of a function or tool`;
    if (entry !== undefined) reader.problems.add(entry.offset, `\`${key}\` in ${what}, ${why}`);
  }
  const timeout = entries.get("timeout") ?? entries.get("timeout_ms");
  const waitsForTime = kind?.type === "wait" && (kind.wait.kind === "duration" || kind.wait.kind === "until");
  if (waitsForTime && timeout !== undefined) reader.problems.add(timeout.offset, `${what} waits for a time, which needs no timeout`);
}

/** `timeout` in seconds or as a text with its unit; `timeout_ms`, where 0 means none; `heartbeat_timeout`. */
function readTimes(
  reader: YamlReader,
  entries: ReadonlyMap<string, YamlEntry>,
  { type, timeout: ofWait }: ReadKind,
): Pick<StepDraft, "timeoutMs" | "heartbeatTimeoutMs"> {
  const [ofStep, inMs, heartbeat] = [entries.get("timeout"), entries.get("timeout_ms"), entries.get("heartbeat_timeout")];
  const timeout = ofStep ?? ofWait;
  if (timeout !== undefined && inMs !== undefined) reader.problems.add(inMs.offset, "timeout and timeout_ms; expected one of them");
  if (ofStep !== undefined && ofWait !== undefined) reader.problems.add(ofWait.offset, "a timeout of the step and one of its wait; expected one of them");
  const max = type === "wait" || type === "workflow" ? WAIT_MS_MAX : TIMEOUT_MS_MAX;
  const ms = inMs && reader.number(inMs.value, "timeout_ms", 0, max, true);
  return {
    timeoutMs: timeout === undefined ? ms || undefined : readDurationMs(reader, timeout.value, "timeout", 1, max),
    heartbeatTimeoutMs: heartbeat && readDurationMs(reader, heartbeat.value, "heartbeat_timeout", 1, TIMEOUT_MS_MAX),
  };
}
