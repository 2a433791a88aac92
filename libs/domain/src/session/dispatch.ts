import { Decision, RiskLevel } from "@forge/protocol/tool";
import { ASK_TOOL } from "./ask-tool.ts";
import { findTool, type ToolCallState, type TurnState } from "./state.ts";

/**
 * Marks the calls whose turn to run has come. Granted calls run in the order of the answer; calls that only read run beside each other, everything else
 * runs alone. A call that waits for a person holds nobody back: it joins the order when it is granted, and what runs by then finishes first.
 * A call that a person answers is never dispatched. Nothing new is while the turn is paused, or once it was asked to stop.
 */
export function markDispatched(turn: TurnState): TurnState {
  if (turn.cancel !== undefined || turn.end !== undefined || turn.paused) return turn;
  const running = turn.toolCalls.filter((call) => call.dispatched);
  let runningOnlyReads = running.every((call) => onlyReads(turn, call));
  let runningCount = running.length;
  const chosen = new Set<string>();
  for (const call of turn.toolCalls) {
    if (call.dispatched || call.tool === ASK_TOOL.name || call.decision.decision !== Decision.ALLOW) continue;
    const reads = onlyReads(turn, call);
    if (runningCount > 0 && !(reads && runningOnlyReads)) break;
    chosen.add(call.toolCallId);
    runningCount += 1;
    runningOnlyReads = reads;
  }
  if (chosen.size === 0) return turn;
  return { ...turn, toolCalls: turn.toolCalls.map((call) => (chosen.has(call.toolCallId) ? { ...call, dispatched: true } : call)) };
}

function onlyReads(turn: TurnState, call: ToolCallState): boolean {
  return findTool(turn, call.tool)?.risk === RiskLevel.READ;
}
