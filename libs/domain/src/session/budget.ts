import { type Budget, TurnOutcome } from "@forge/protocol/session";
import type { TurnState } from "./state.ts";

const MODEL_CALLS_DEFAULT = 32;
const TOOL_CALLS_DEFAULT = 128;
const STEPS_DEFAULT = 64;

/** How many model calls one turn may make. */
export function modelCallBudget(budget: Budget | undefined): number {
  return budget?.modelCalls ?? MODEL_CALLS_DEFAULT;
}

/** How many model calls, and rounds that hooks add, one turn may make. */
export function stepBudget(budget: Budget | undefined): number {
  return budget?.steps ?? STEPS_DEFAULT;
}

/** How many tool calls one turn may make. */
export function toolCallBudget(budget: Budget | undefined): number {
  return budget?.toolCalls ?? TOOL_CALLS_DEFAULT;
}

/**
 * The bound that forbids another model call, as the outcome that it ends the turn with. Calls of tools beyond their bound were refused at the gate, and
 * it is their having been asked for that ends the turn.
 */
export function exceededBudget(turn: TurnState, budget: Budget | undefined): TurnOutcome | undefined {
  if (turn.toolCallCount > toolCallBudget(budget)) return TurnOutcome.BUDGET_TOOL_CALLS;
  if (turn.modelCallCount >= modelCallBudget(budget)) return TurnOutcome.BUDGET_MODEL_CALLS;
  if (turn.modelCallCount + turn.extraRounds >= stepBudget(budget)) return TurnOutcome.BUDGET_STEPS;
  const usage = turn.usage;
  if (usage === undefined) return undefined;
  if (budget?.tokens !== undefined && usage.inputTokens + usage.outputTokens >= budget.tokens) return TurnOutcome.BUDGET_TOKENS;
  if (budget?.costMicroUsd !== undefined && (usage.costMicroUsd ?? 0n) >= budget.costMicroUsd) return TurnOutcome.BUDGET_COST;
  return undefined;
}
