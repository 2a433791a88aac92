import type { ModelCompleted } from "@forge/protocol/event";
import { shorten, shortenToJsonBytes } from "../text.ts";
import { announcesAction } from "./announces-action.ts";
import type { AnswerState } from "./state.ts";

/** Characters of the last answer that the turn's end shows. */
export const TEXT_PREVIEW_MAX = 4_096;

/** What one Value holds inline, in bytes. */
const VALUE_BYTES_MAX = 65_536;

/** Said at the end of a text that a parent can't be given whole; its length is reserved within the bound. */
const SHORTENED_MARK = "\n[shortened: the whole answer is in the session]";

/** What a turn remembers of an answer; its whole text where somebody waits for it. */
export function answerOf(completed: ModelCompleted, isWhole: boolean): AnswerState {
  let text = "";
  let toolCallCount = 0;
  let artifact: AnswerState["artifact"];
  for (const part of completed.parts) {
    if (part.kind.case === "text") text += part.kind.value.text;
    else if (part.kind.case === "toolCall") toolCallCount += 1;
    else if (part.kind.case === "artifact") artifact ??= part.kind.value;
  }
  return {
    finishReason: completed.finishReason,
    toolCallCount,
    breakCount: 0,
    isWhole,
    text: keptText(text, isWhole),
    announcesAction: announcesAction(text),
    artifact: text === "" ? artifact : undefined,
  };
}

/** As much of an answer's text as the state keeps. */
export function keptText(text: string, isWhole: boolean): string {
  if (!isWhole) return shorten(text, TEXT_PREVIEW_MAX);
  const whole = shortenToJsonBytes(text, VALUE_BYTES_MAX);
  if (!whole.shortened) return text;
  return shortenToJsonBytes(text, VALUE_BYTES_MAX - 2 * SHORTENED_MARK.length).text + SHORTENED_MARK;
}
