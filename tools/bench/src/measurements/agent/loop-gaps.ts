import type { ToolTimes } from "./bench-tools.ts";
import type { Exchange } from "./scripted-provider.ts";

/** Between the calls of one answer, which are made in order: from the end of each in the tool to the beginning of the next. */
export function callGaps(calls: readonly ToolTimes[]): number[] {
  const ordered = calls.toSorted((one, other) => one.beganMs - other.beganMs);
  return ordered.slice(1).map(({ beganMs }, index) => beganMs - (ordered[index] as ToolTimes).endedMs);
}

/** Of rounds of one call each: from the end of each answer to the next request, without the time in the tool. */
export function roundGaps(exchanges: readonly Exchange[], calls: readonly ToolTimes[]): number[] {
  if (calls.length !== exchanges.length - 1) throw new Error(`${exchanges.length} answers with one call each but the last had ${calls.length} calls`);
  const ordered = calls.toSorted((one, other) => one.beganMs - other.beganMs);
  return ordered.map(({ beganMs, endedMs }, index) => {
    const [answer, next] = [exchanges[index] as Exchange, exchanges[index + 1] as Exchange];
    if (beganMs < answer.endedMs || endedMs > next.arrivedMs) throw new Error("a call was not between its answer and the next request");
    return next.arrivedMs - answer.endedMs - (endedMs - beganMs);
  });
}

/** Commits of whole turns: without a call; of so many rounds of one call; of one round of so many calls. */
export interface TurnCommits {
  readonly plain: number;
  readonly rounds: number;
  readonly calls: number;
}

/** What one model call and one tool call commit, where `count` is the number of tool calls in both kinds of turns. */
export function commitsPerCall({ plain, rounds, calls }: TurnCommits, count: number): { readonly model: number; readonly tool: number } {
  // The turn of rounds has as many tool calls as the other, and `count - 1` model calls more.
  const model = (rounds - calls) / (count - 1);
  // It has one model call more than the plain one, and all the tool calls.
  return { model, tool: (calls - plain - model) / count };
}
