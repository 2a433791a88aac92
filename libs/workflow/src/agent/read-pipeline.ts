import type { JsonValue } from "@bufbuild/protobuf";
import { checkId, checkKey, checkToolName, NAME_LENGTH_MAX } from "../definition/names.ts";
import type { YamlEntry, YamlReader } from "../yaml/yaml-reader.ts";
import { startOf } from "../yaml/yaml-source.ts";

const STEPS_MAX = 64;
const MODEL_KEYS = ["id", "type", "prompt", "model", "system"];
const TOOL_KEYS = ["id", "type", "tool", "inputs"];

/** What the agent is given, and what branches call the end. */
const RESERVED = new Set(["inputs", "end"]);

/** A step of an agent's pipeline, as it was read. */
export type PipelineDraft =
  | {
      readonly type: "model";
      readonly id: string;
      readonly offset: number;
      readonly prompt: YamlEntry;
      readonly model: YamlEntry | undefined;
      readonly system: YamlEntry | undefined;
    }
  | { readonly type: "tool"; readonly id: string; readonly offset: number; readonly tool: string; readonly inputs: Readonly<Record<string, JsonValue>> };

/** An agent's `pipeline`: model and tool steps, one after the other. */
export function readPipeline(reader: YamlReader, entry: YamlEntry, tools: readonly string[]): readonly PipelineDraft[] {
  const items = reader.list(entry.value, "pipeline") ?? [];
  if (items.length === 0) reader.problems.add(startOf(entry.value), "`pipeline` is empty; expected at least one step");
  if (items.length > STEPS_MAX) reader.problems.add(startOf(entry.value), `a pipeline of ${items.length} steps; at most ${STEPS_MAX} are allowed`);
  const drafts: PipelineDraft[] = [];
  for (const item of items.slice(0, STEPS_MAX)) {
    const step = reader.mapping(item, "a pipeline step");
    const draft = step && readStep(reader, step, startOf(item), items.length === 1, tools);
    if (draft === undefined) continue;
    if (drafts.some(({ id }) => id === draft.id)) reader.problems.add(draft.offset, `duplicate pipeline step id \`${draft.id}\``);
    else if (RESERVED.has(draft.id)) reader.problems.add(draft.offset, `a pipeline step can't be called \`${draft.id}\`; name it otherwise`);
    else drafts.push(draft);
  }
  return drafts;
}

function readStep(reader: YamlReader, step: ReadonlyMap<string, YamlEntry>, at: number, isOnly: boolean, tools: readonly string[]): PipelineDraft | undefined {
  const [idEntry, type] = [step.get("id"), step.get("type")];
  const kind = type && reader.choice(type.value, "type of a pipeline step", ["model", "tool"]);
  if (type === undefined) reader.problems.add(at, "a pipeline step has no type; expected model or tool");
  // Nobody reads the only one.
  if (idEntry === undefined && !isOnly) reader.problems.add(at, "a pipeline step has no id");
  const id =
    idEntry === undefined ? "main" : checkId(reader.problems, "pipeline step id", reader.text(idEntry.value, "pipeline step id", NAME_LENGTH_MAX))?.text;
  if (kind === undefined || id === undefined) return undefined;
  reader.checkKeys(step, "a pipeline step", kind === "model" ? MODEL_KEYS : TOOL_KEYS);
  return kind === "model" ? readModelStep(reader, step, id, at) : readToolStep(reader, step, id, at, tools);
}

function readModelStep(reader: YamlReader, step: ReadonlyMap<string, YamlEntry>, id: string, offset: number): PipelineDraft | undefined {
  const prompt = step.get("prompt");
  if (prompt === undefined) reader.problems.add(offset, "a pipeline's model step has no prompt");
  return prompt && { type: "model", id, offset, prompt, model: step.get("model"), system: step.get("system") };
}

function readToolStep(
  reader: YamlReader,
  step: ReadonlyMap<string, YamlEntry>,
  id: string,
  offset: number,
  tools: readonly string[],
): PipelineDraft | undefined {
  const entry = step.get("tool");
  if (entry === undefined) reader.problems.add(offset, "a pipeline's tool step has no tool");
  const tool = entry && checkToolName(reader.problems, reader.text(entry.value, "tool", NAME_LENGTH_MAX));
  if (tool === undefined) return undefined;
  if (!tools.includes(tool.text)) reader.problems.addUnknown(tool.offset, "tool of the agent", tool.text, tools);
  const inputs: Record<string, JsonValue> = {};
  const given = step.get("inputs");
  for (const { key, offset: at, value } of (given && reader.mapping(given.value, "inputs"))?.values() ?? []) {
    checkKey(reader.problems, "input", { text: key, offset: at });
    const read = reader.json(value, `input ${key}`);
    if (read !== undefined) inputs[key] = read;
  }
  return { type: "tool", id, offset, tool: tool.text, inputs };
}
