import { create, type JsonValue } from "@bufbuild/protobuf";
import { type Plan, PlanSchema, PlanStepStatus } from "@forge/protocol/session";
import { RiskLevel, ToolSpecSchema } from "@forge/protocol/tool";
import { isStorable } from "../../text.ts";

const ITEMS_MAX = 64;
const STEP_MAX = 256;
const EXPLANATION_MAX = 1_024;

const STATUSES: ReadonlyMap<JsonValue | undefined, PlanStepStatus> = new Map([
  ["pending", PlanStepStatus.PENDING],
  ["in_progress", PlanStepStatus.IN_PROGRESS],
  ["completed", PlanStepStatus.COMPLETED],
]);

/** The agent tells people what it is going to do, and how far it is. */
export const PLAN_TOOL = create(ToolSpecSchema, {
  name: "tools.update_plan",
  description:
    "Tells the person whom you work for what you are going to do, step by step, and how far you are. Send the whole plan each time; at most one step is in progress.",
  inputSchemaJson: JSON.stringify({
    type: "object",
    properties: {
      plan: {
        type: "array",
        maxItems: ITEMS_MAX,
        items: {
          type: "object",
          properties: { step: { type: "string", minLength: 1, maxLength: STEP_MAX }, status: { enum: ["pending", "in_progress", "completed"] } },
          required: ["step", "status"],
        },
      },
      explanation: { type: "string", maxLength: EXPLANATION_MAX, description: "Why the plan has changed." },
    },
    required: ["plan"],
  }),
  risk: RiskLevel.READ,
  idempotent: true,
});

/** What a call has to look like, for a model that got it wrong. */
export const PLAN_EXPECTED = `The argument plan has to be a list of at most ${ITEMS_MAX} steps, each with step, a text of 1 to ${STEP_MAX} characters, and status, one of pending, in_progress and completed; explanation is a text of at most ${EXPLANATION_MAX} characters or left out.`;

/** The plan in a call's arguments, a JSON object; undefined where they hold none that can be kept. */
export function planOf(argumentsJson: string): Plan | undefined {
  const { plan, explanation = "" } = JSON.parse(argumentsJson) as { readonly plan?: JsonValue; readonly explanation?: JsonValue };
  if (!Array.isArray(plan) || plan.length > ITEMS_MAX || !isText(explanation, 0, EXPLANATION_MAX)) return undefined;
  const items = plan.flatMap((item) => {
    if (typeof item !== "object" || item === null || Array.isArray(item)) return [];
    const status = STATUSES.get(item["status"]);
    return status !== undefined && isText(item["step"], 1, STEP_MAX) ? [{ step: item["step"], status }] : [];
  });
  return items.length === plan.length ? create(PlanSchema, { items, explanation }) : undefined;
}

function isText(value: JsonValue | undefined, min: number, max: number): value is string {
  return typeof value === "string" && value.trim().length >= min && value.length <= max && isStorable(value);
}
