import type { Part, StartTurnRequest } from "@forge/protocol/session";
import type { Rejected } from "../decider.ts";
import { isStorable, utf8Length } from "../text.ts";
import { invalid } from "./rejections.ts";
import { validateParts } from "./validate-input.ts";

const CONTEXT_BYTES_MAX = 262_144;
/** What one text holds inline. */
const PART_BYTES_MAX = 65_536;
const SOURCES_MAX = 256;
const SOURCE_MAX = 1_024;

/** The first thing wrong with what a host puts before a turn, with its field; undefined where all is well. */
export function validateContext({ context, contextSources }: StartTurnRequest): Rejected | undefined {
  const wrong = validateParts("context", context);
  if (wrong !== undefined) return wrong;
  let bytes = 0;
  for (const [index, { kind }] of context.entries()) {
    const size = kind.case === "text" ? utf8Length(kind.value.text) : 0;
    if (size > PART_BYTES_MAX) return invalid(`context[${index}].text`, "One text of the context has at most 64 KiB; split it, or store it as an artifact.");
    bytes += size;
  }
  if (bytes > CONTEXT_BYTES_MAX)
    return invalid("context", "The texts of a context have at most 256 KiB in all; leave something out, or store it as an artifact.");
  if (contextSources.length > SOURCES_MAX) return invalid("context_sources", `At most ${SOURCES_MAX} sources.`);
  for (const [index, source] of contextSources.entries()) {
    if (source === "" || source.length > SOURCE_MAX || !isStorable(source)) {
      return invalid(`context_sources[${index}]`, `A source is a path of 1 to ${SOURCE_MAX} characters without NUL.`);
    }
  }
  return undefined;
}

/** The context in messages, none of which holds more than a person's may. */
export function contextMessages(context: readonly Part[]): Part[][] {
  const messages: Part[][] = [];
  let bytes = 0;
  for (const part of context) {
    const size = part.kind.case === "text" ? utf8Length(part.kind.value.text) : 0;
    const last = messages.at(-1);
    if (last === undefined || bytes + size > PART_BYTES_MAX) {
      messages.push([part]);
      bytes = size;
    } else {
      last.push(part);
      bytes += size;
    }
  }
  return messages;
}
