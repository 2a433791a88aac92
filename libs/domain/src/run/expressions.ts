import type { NextRule, StepDefinition } from "@forge/protocol/workflow";
import type { Expression } from "../expression/expression.ts";
import { parseExpression } from "../expression/parse.ts";
import type { Result } from "../expression/result.ts";

const parsedRules = new WeakMap<NextRule, Result<Expression>>();
const parsedSteps = new WeakMap<StepDefinition, Result<Expression>>();

/** The condition of a graph's step, parsed once per definition in memory. */
export function whenOf(step: StepDefinition): Result<Expression> {
  let parsed = parsedSteps.get(step);
  if (parsed === undefined) {
    parsed = parseExpression(step.when);
    parsedSteps.set(step, parsed);
  }
  return parsed;
}

/** A rule's condition, parsed once per definition in memory. */
export function conditionOf(rule: NextRule): Result<Expression> {
  let parsed = parsedRules.get(rule);
  if (parsed === undefined) {
    parsed = parseExpression(rule.when);
    parsedRules.set(rule, parsed);
  }
  return parsed;
}
