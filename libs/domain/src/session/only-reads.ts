import { RiskLevel } from "@forge/protocol/tool";
import { riskOf } from "../tool-policy.ts";
import { findTool, type ToolCallState, type TurnState } from "./state.ts";

/** Whether a call does no more than read: by its tool's risk, or by what its worker said that it would do. */
export function onlyReads(turn: TurnState, call: ToolCallState): boolean {
  const tool = findTool(turn, call.tool);
  return tool !== undefined && riskOf({ tool, preview: call.previewed }) === RiskLevel.READ;
}
