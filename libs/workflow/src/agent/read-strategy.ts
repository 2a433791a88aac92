import { isScalar } from "yaml";
import type { YamlEntry, YamlReader } from "../yaml/yaml-reader.ts";

const ITERATIONS_MAX = 1000;

/** How an agent works: one model call, or a loop of them with the bound that is given. */
export type Strategy = "single" | { readonly modelCalls: number | undefined };

/** An agent's `strategy`: a word, or a mapping with type and max_iterations. */
export function readStrategy(reader: YamlReader, entry: YamlEntry | undefined): Strategy | undefined {
  if (entry === undefined) return "single";
  const node = reader.resolve(entry.value);
  const entries = isScalar(node) ? new Map<string, YamlEntry>([["type", entry]]) : reader.mapping(entry.value, "strategy");
  if (entries === undefined) return undefined;
  if (!isScalar(node)) reader.checkKeys(entries, "strategy", ["type", "max_iterations", "stop_conditions"], ["custom_handler"]);
  const stop = entries.get("stop_conditions");
  if (stop !== undefined) reader.problems.warn(stop.offset, "stop_conditions are not used: the loop ends with an answer that calls no tool");
  const [type, iterations] = [entries.get("type"), entries.get("max_iterations")];
  const name = type === undefined ? "single" : reader.choice(type.value, "strategy", ["single", "react", "custom"]);
  const modelCalls = iterations && reader.number(iterations.value, "max_iterations", 1, ITERATIONS_MAX, true);
  if (name === "react") return { modelCalls };
  if (name === "custom")
    reader.problems.addUnsupported(
      type?.offset ?? entry.offset,
      "strategy custom is not supported: a model is only called by the runtime itself, so that its calls are durable; expected single or react",
    );
  return name === "single" ? name : undefined;
}
