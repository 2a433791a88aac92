import { Decision } from "@forge/protocol/tool";
import { controlTool } from "./control-tools/control-tool.ts";
import { onlyReads } from "./only-reads.ts";
import type { ToolCallState, TurnState } from "./state.ts";

/**
 * Marks the calls whose turn to run has come. Granted calls run in the order of the answer; calls that only read run beside each other, everything else
 * runs alone. A call that waits for a person holds nobody back: it joins the order when it is granted, and what runs by then finishes first. A call that a
 * worker is still asked about holds back those after it, since it is decided on in a moment; that question itself changes nothing, so it waits for nobody.
 * A call that the control plane serves is never dispatched. Nothing new is while the turn is paused, once it was asked to stop, or once it failed.
 */
export function markDispatched(turn: TurnState): TurnState {
  if (turn.cancel !== undefined || turn.end !== undefined || turn.paused || turn.toolFailure !== undefined) return turn;
  const running = turn.toolCalls.filter((call) => call.dispatched);
  let runningOnlyReads = running.every((call) => onlyReads(turn, call));
  let runningCount = running.length;
  const chosen = new Set<string>();
  for (const call of turn.toolCalls) {
    if (call.dispatched || controlTool(call.tool) !== undefined || call.input !== undefined) continue;
    if (call.previewing !== undefined) break;
    if (call.decision.decision !== Decision.ALLOW) continue;
    const reads = onlyReads(turn, call);
    if (runningCount > 0 && !(reads && runningOnlyReads)) break;
    chosen.add(call.toolCallId);
    runningCount += 1;
    runningOnlyReads = reads;
  }
  if (chosen.size === 0 && !turn.toolCalls.some((call) => call.previewing?.dispatched === false)) return turn;
  return { ...turn, toolCalls: turn.toolCalls.map((call) => dispatched(call, chosen)) };
}

function dispatched(call: ToolCallState, chosen: ReadonlySet<string>): ToolCallState {
  if (chosen.has(call.toolCallId)) return { ...call, dispatched: true };
  return call.previewing?.dispatched === false ? { ...call, previewing: { dispatched: true } } : call;
}
