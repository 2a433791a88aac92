import { type Plan, type PlanItem, PlanStepStatus } from "@forge/protocol/session";
import type { Style } from "../output/style.ts";
import { oneLine } from "../output/text.ts";

/** A plan as a checklist; where the one before had the same steps, only what has changed, and how far it is. */
export function planLines(plan: Plan, before: Plan | undefined, style: Style): string[] {
  const { items } = plan;
  const done = items.filter(({ status }) => status === PlanStepStatus.COMPLETED).length;
  const isSame = before !== undefined && before.items.length === items.length && items.every(({ step }, index) => step === before.items[index]?.step);
  const shown = isSame ? items.filter(({ status }, index) => status !== before.items[index]?.status) : items;
  if (isSame && shown.length === 0) return [];
  const title = `${style.bold("Plan")} ${style.dim(`${done}/${items.length}`)}${plan.explanation === "" ? "" : ` ${style.dim(oneLine(plan.explanation))}`}`;
  return [title, ...shown.map((item) => `  ${itemText(item, style)}`)];
}

function itemText({ step, status }: PlanItem, style: Style): string {
  const text = oneLine(step);
  if (status === PlanStepStatus.COMPLETED) return `${style.green("✔")} ${style.dim(text)}`;
  return status === PlanStepStatus.IN_PROGRESS ? `${style.cyan("▸")} ${text}` : `${style.dim("○")} ${text}`;
}
