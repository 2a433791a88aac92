import type { YamlEntry, YamlReader, YamlText } from "../yaml/yaml-reader.ts";
import { PROMPT_LENGTH_MAX, type PromptEntry, type PromptLibrary } from "./prompt-library.ts";

const REFERENCE = /^prompts\.([A-Za-z0-9_.-]+?)(?:@(\S+))?$/;

/** A system prompt or a prompt: one text, or several that are tried beside each other. */
export interface Words {
  /** At least one. */
  readonly choices: readonly WordChoice[];
  /** As it was written. */
  readonly written: YamlText;
}

export interface WordChoice {
  /** `greet@v2`; empty where the text was written out. */
  readonly name: string;
  readonly weight: number;
  readonly text: string;
}

/** A text, or a reference to a prompt of the agent or its project. */
export function readWords(reader: YamlReader, { value }: YamlEntry, what: string, library: PromptLibrary): Words | undefined {
  const written = reader.text(value, what, PROMPT_LENGTH_MAX);
  const reference = written && REFERENCE.exec(written.text);
  if (written === undefined || reference == null) return written && { written, choices: [{ name: "", weight: 1, text: written.text }] };
  const [, id = "", version] = reference;
  const found = library.find(id, version);
  if (found.length === 0) {
    reader.problems.addUnknown(written.offset, "prompt", written.text, library.known);
    return undefined;
  }
  return { written, choices: found.map(toChoice) };
}

function toChoice({ id, version, text, weight }: PromptEntry): WordChoice {
  return { name: `${id}@${version}`, weight: weight === undefined || weight === 0 ? 1 : weight, text };
}
