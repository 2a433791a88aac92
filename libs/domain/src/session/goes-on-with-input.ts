import { controlTool } from "./control-tools/control-tool.ts";
import type { ToolCallState } from "./state.ts";

/** Whether the call is dispatched again with the answer to its question: else the answer is what comes of it. */
export function goesOnWithInput(call: ToolCallState): boolean {
  return controlTool(call.tool) === undefined && call.input !== undefined && call.input.error === undefined;
}
