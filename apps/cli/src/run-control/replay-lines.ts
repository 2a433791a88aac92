import { type ReplayMismatch, type ReplayRunResponse, StepStatusSchema } from "@forge/protocol/workflow";
import { enumName } from "../output/message-json.ts";
import type { Style } from "../output/style.ts";
import { table } from "../output/table.ts";
import { cut, oneLine } from "../output/text.ts";
import { colouredStatus } from "../run/run-summary.ts";

export interface ReplayLinesOptions {
  /** Whether everything was decided anew and compared. */
  readonly isVerified: boolean;
  readonly style: Style;
  readonly columns: number;
}

const HASH_CHARACTERS = 12;

/** A replay for people: each execution of a step, and where what is recorded does not follow. */
export function replayLines({ events, steps, mismatches, status }: ReplayRunResponse, { isVerified, style, columns }: ReplayLinesOptions): string[] {
  const wrong = new Set(mismatches.map(({ seq }) => seq));
  const rows = steps.map((step) => [
    String(step.executionIndex),
    oneLine(step.stepId),
    enumName(StepStatusSchema, step.status),
    step.stateBeforeHash.slice(0, HASH_CHARACTERS),
    step.stateAfterHash.slice(0, HASH_CHARACTERS),
    step.seq === 0n ? "" : String(step.seq),
    !isVerified ? "" : wrong.has(step.seq) ? "differs" : "as recorded",
  ]);
  const titles = [
    { title: "#", align: "right" as const },
    { title: "STEP", shrinks: true },
    { title: "STATUS" },
    { title: "STATE BEFORE" },
    { title: "STATE AFTER" },
    { title: "SEQ", align: "right" as const },
    { title: isVerified ? "REPLAYED" : "" },
  ];
  const [head = "", ...lines] = table(titles, rows, columns);
  return [
    style.dim(head),
    ...lines,
    "",
    ...mismatches.flatMap((mismatch) => mismatchLines(mismatch, style, columns)),
    `${colouredStatus(status, style)} after ${events} events, ${verdict(mismatches.length, isVerified, style)}`,
  ];
}

function verdict(count: number, isVerified: boolean, style: Style): string {
  if (count > 0) return style.red(`${count} of which ${count === 1 ? "does" : "do"} not follow from what came before`);
  return isVerified ? style.green("each of which follows from those before") : "gone through; --verify-state decides everything anew and compares";
}

function mismatchLines({ seq, stepId, path, recordedJson, recomputedJson }: ReplayMismatch, style: Style, columns: number): string[] {
  const value = (label: string, json: string): string => cut(`    ${style.dim(label)} ${json === "" ? style.dim("nothing") : oneLine(json)}`, columns);
  const step = stepId === "" ? "" : `step ${oneLine(stepId)}, `;
  return [
    `${style.red("✖")} event ${seq}, ${step}first differs at ${style.bold(oneLine(path))}`,
    value("recorded  ", recordedJson),
    value("recomputed", recomputedJson),
    "",
  ];
}
