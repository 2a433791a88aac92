import { type StepExecution, StepStatusSchema } from "@forge/protocol/workflow";
import type { StateVersion } from "@forge/workflow";
import { enumName } from "../output/message-json.ts";
import type { Style } from "../output/style.ts";
import { oneLine } from "../output/text.ts";
import { changeLines } from "./change-lines.ts";

/** Every version of a run's state with what its step changed. */
export function stateHistoryLines(versions: readonly StateVersion[], style: Style, columns: number): string[] {
  return versions.flatMap(({ version, step, changes }) => [
    `${style.bold(`version ${version}`)}  ${step === undefined ? "the start" : stepName(step)}`,
    ...changeLines(changes, style, columns - 2).map((line) => `  ${line}`),
    ...(changes.length === 0 ? [`  ${style.dim("nothing changed")}`] : []),
  ]);
}

function stepName(step: StepExecution): string {
  return `${oneLine(step.stepId)}  ${enumName(StepStatusSchema, step.status)}`;
}
