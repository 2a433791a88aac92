import type { YamlEntry, YamlReader, YamlText } from "../yaml/yaml-reader.ts";
import { startOf } from "../yaml/yaml-source.ts";

/** An agent's one prompt, and what its pipeline step says instead of the agent. */
export interface Prompt {
  readonly text: YamlText;
  readonly model: YamlEntry | undefined;
  readonly system: YamlEntry | undefined;
}

const PROMPT_LENGTH_MAX = 65_536;

/** `prompt`, or a pipeline of one model step. */
export function readPrompt(reader: YamlReader, entries: ReadonlyMap<string, YamlEntry>, at: number): Prompt | undefined {
  const [prompt, pipeline] = [entries.get("prompt"), entries.get("pipeline")];
  if (prompt !== undefined && pipeline !== undefined) reader.problems.add(pipeline.offset, "prompt and pipeline; expected one of them");
  if (prompt !== undefined) return textOf(reader, prompt, undefined, undefined);
  if (pipeline !== undefined) return readPipeline(reader, pipeline);
  reader.problems.add(at, "agent has no prompt; expected `prompt`, or a pipeline of one model step");
  return undefined;
}

function readPipeline(reader: YamlReader, entry: YamlEntry): Prompt | undefined {
  const items = reader.list(entry.value, "pipeline");
  if (items === undefined) return undefined;
  const [first, second] = items;
  if (first === undefined) {
    reader.problems.add(startOf(entry.value), "`pipeline` is empty; expected one model step");
    return undefined;
  }
  if (second !== undefined)
    reader.problems.addUnsupported(startOf(second), `a pipeline of ${items.length} steps is not supported yet; expected one model step`);
  const step = reader.mapping(first, "a pipeline step");
  if (step === undefined) return undefined;
  reader.checkKeys(step, "a pipeline step", ["id", "type", "prompt", "model", "system"], ["tool", "inputs"]);
  const [type, prompt] = [step.get("type"), step.get("prompt")];
  const kind = type && reader.choice(type.value, "type of a pipeline step", ["model", "tool"]);
  if (type === undefined) reader.problems.add(startOf(first), "a pipeline step has no type; expected model");
  if (kind === "tool") {
    reader.problems.addUnsupported(startOf(type?.value), "a tool step in a pipeline is not supported yet; expected one model step");
    return undefined;
  }
  if (prompt === undefined) reader.problems.add(startOf(first), "a pipeline's model step has no prompt");
  return prompt && textOf(reader, prompt, step.get("model"), step.get("system"));
}

function textOf(reader: YamlReader, entry: YamlEntry, model: YamlEntry | undefined, system: YamlEntry | undefined): Prompt | undefined {
  const text = reader.text(entry.value, "prompt", PROMPT_LENGTH_MAX);
  if (text?.text.trim() === "") reader.problems.add(text.offset, "the prompt is empty");
  return text && { text, model, system };
}
