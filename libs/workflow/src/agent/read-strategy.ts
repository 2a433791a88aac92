import { isScalar } from "yaml";
import { clip } from "../yaml/problems.ts";
import type { YamlEntry, YamlReader } from "../yaml/yaml-reader.ts";

const ITERATIONS_MAX = 1000;
const HANDLER_LENGTH_MAX = 256;

/** How an agent works: one model call, or a loop of them with the bound that is given. */
export type Strategy = "single" | { readonly modelCalls: number | undefined };

/** An agent's `strategy`: a word, or a mapping with type and max_iterations. */
export function readStrategy(reader: YamlReader, entry: YamlEntry | undefined): Strategy | undefined {
  if (entry === undefined) return "single";
  const node = reader.resolve(entry.value);
  const entries = isScalar(node) ? new Map<string, YamlEntry>([["type", entry]]) : reader.mapping(entry.value, "strategy");
  if (entries === undefined) return undefined;
  if (!isScalar(node)) reader.checkKeys(entries, "strategy", ["type", "max_iterations", "stop_conditions", "custom_handler"]);
  const stop = entries.get("stop_conditions");
  if (stop !== undefined) reader.problems.warn(stop.offset, "stop_conditions are not used: the loop ends with an answer that calls no tool");
  const [type, iterations] = [entries.get("type"), entries.get("max_iterations")];
  const name = type === undefined ? "single" : reader.choice(type.value, "strategy", ["single", "react", "custom"]);
  const modelCalls = iterations && reader.number(iterations.value, "max_iterations", 1, ITERATIONS_MAX, true);
  const handler = entries.get("custom_handler");
  if (name === "custom") refuseCustom(reader, handler, type?.offset ?? entry.offset);
  else if (handler !== undefined) reader.problems.warn(handler.offset, "custom_handler is only of use to strategy custom");
  if (name === "react") return { modelCalls };
  return name === "single" ? name : undefined;
}

/**
 * A strategy of one's own is given a client of models and a registry of tools, and calls both as often as it likes inside one step: what it had done when its process died
 * would be done again, and no gate would have seen it.
 */
function refuseCustom(reader: YamlReader, handler: YamlEntry | undefined, at: number): void {
  const name = handler && reader.text(handler.value, "custom_handler", HANDLER_LENGTH_MAX);
  if (handler === undefined) reader.problems.add(at, "strategy custom has no custom_handler; expected strategy single or react, as custom is not supported");
  else if (name !== undefined)
    reader.problems.addUnsupported(
      name.offset,
      `strategy custom is not supported: ${clip(name.text)} would call models and tools itself, where no call is durable or passes the gate; expected single or react, with hooks for what is to be different, or a function step`,
    );
}
