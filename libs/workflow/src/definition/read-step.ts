import type { Node } from "yaml";
import type { AgentSource } from "../agent/agent-source.ts";
import type { YamlEntry, YamlReader } from "../yaml/yaml-reader.ts";
import { startOf } from "../yaml/yaml-source.ts";
import { checkFunctionName, checkId, checkToolName, NAME_LENGTH_MAX } from "./names.ts";
import { readDurationMs } from "./read-duration.ts";
import { readNext } from "./read-next.ts";
import { readRetry } from "./read-retry.ts";
import { readNames, readStepInputs } from "./read-step-inputs.ts";
import { resolveAgent } from "./resolve-agent.ts";
import type { KindDraft, StepDraft } from "./step-draft.ts";

const TYPES = ["agent", "function", "tool"] as const;
const KEYS = ["id", "type", ...TYPES, "inputs", "outputs", "retry", "next", "timeout", "timeout_ms"];

/** Known from other versions of the format, and not built. */
const LATER_KEYS = ["needs", "for_each", "workflow", "wait", "optional", "default", "output_schema"];

const TIMEOUT_MS_MAX = 7 * 86_400_000;

/** One item of `steps`. */
export function readStep(reader: YamlReader, node: Node, agents: AgentSource): StepDraft | undefined {
  const entries = reader.mapping(node, "a step");
  if (entries === undefined) return undefined;
  const id = readId(reader, entries, startOf(node));
  const what = id === undefined ? "a step" : `step ${id.text}`;
  const kind = readKind(reader, entries, what, startOf(node), agents);
  reader.checkKeys(entries, what, kind?.type === "function" ? [...KEYS, "idempotent"] : KEYS, LATER_KEYS);
  const [inputs, outputs, retry, next] = [entries.get("inputs"), entries.get("outputs"), entries.get("retry"), entries.get("next")];
  const reads = inputs ? readStepInputs(reader, inputs.value) : { inputs: [], contract: [] };
  const rest = {
    ...reads,
    outputs: outputs ? readNames(reader, outputs.value, "outputs") : [],
    retry: retry && readRetry(reader, retry.value),
    next: next ? readNext(reader, next.value) : { rules: [], default: undefined },
    timeoutMs: readTimeoutMs(reader, entries),
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

function readKind(reader: YamlReader, entries: ReadonlyMap<string, YamlEntry>, what: string, at: number, agents: AgentSource): KindDraft | undefined {
  const written = entries.get("type");
  if (written === undefined) {
    reader.problems.add(at, `${what} has no type; expected one of ${TYPES.join(", ")}`);
    return undefined;
  }
  const type = reader.choice(written.value, "type", TYPES);
  if (type === undefined) return undefined;
  for (const other of TYPES) {
    const entry = entries.get(other);
    if (entry !== undefined && other !== type) reader.problems.add(entry.offset, `\`${other}\` in ${what}, whose type is ${type}`);
  }
  const entry = entries.get(type);
  if (entry === undefined) {
    reader.problems.add(written.offset, `${what} names no ${type}; expected \`${type}: <name>\``);
    return undefined;
  }
  const name = reader.text(entry.value, type, 2 * NAME_LENGTH_MAX);
  if (name === undefined) return undefined;
  switch (type) {
    case "agent":
      return { type, name, agent: resolveAgent(reader.problems, name, agents) };
    case "function": {
      const idempotent = entries.get("idempotent");
      const isIdempotent = (idempotent && reader.boolean(idempotent.value, "idempotent")) ?? true;
      return checkFunctionName(reader.problems, name) && { type, name, isNotIdempotent: !isIdempotent };
    }
    case "tool":
      return checkToolName(reader.problems, name) && { type, name };
  }
}

/** `timeout` in seconds or as a text with its unit; `timeout_ms`, where 0 means none. */
function readTimeoutMs(reader: YamlReader, entries: ReadonlyMap<string, YamlEntry>): number | undefined {
  const [timeout, timeoutMs] = [entries.get("timeout"), entries.get("timeout_ms")];
  if (timeout !== undefined && timeoutMs !== undefined) reader.problems.add(timeoutMs.offset, "timeout and timeout_ms; expected one of them");
  if (timeout !== undefined) return readDurationMs(reader, timeout.value, "timeout", 1, TIMEOUT_MS_MAX);
  const ms = timeoutMs && reader.number(timeoutMs.value, "timeout_ms", 0, TIMEOUT_MS_MAX, true);
  return ms === 0 ? undefined : ms;
}
