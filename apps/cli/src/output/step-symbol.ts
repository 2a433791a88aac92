import { StepStatus } from "@forge/protocol/workflow";
import type { Style } from "./style.ts";

/** What became of a step, as one coloured character. */
export function stepSymbol(status: StepStatus, style: Style): string {
  if (status === StepStatus.COMPLETED) return style.green("✔");
  if (status === StepStatus.FAILED) return style.red("✖");
  if (status === StepStatus.SKIPPED) return style.dim("○");
  if (status === StepStatus.WAITING) return style.yellow("◷");
  return style.yellow(status === StepStatus.CANCELLED ? "■" : "…");
}
