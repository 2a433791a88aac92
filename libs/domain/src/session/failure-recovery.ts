import { ErrorCode, type ForgeError } from "@forge/protocol/common";
import type { AgentSpec } from "@forge/protocol/session";
import { compactableThrough } from "./compaction/compact-turn.ts";
import { CONTEXT_OVERFLOW } from "./compaction/evolve-compaction.ts";
import type { SessionState, TurnState } from "./state.ts";

/** How a turn goes on although its model call failed for good. */
export type FailureRecovery =
  | { readonly kind: "fallback"; readonly model: string }
  /** What was said before is summarised, and the same model asked again. */
  | { readonly kind: "compact"; readonly throughSeq: number; readonly model: string };

/**
 * A request that is too long is made shorter once; the next model is asked in the place of one whose call failed for another cause. Undefined where the turn
 * fails: nothing is left to try, the call was stopped, or what failed is no model call.
 */
export function failureRecovery(state: SessionState, turn: TurnState, failure: ForgeError): FailureRecovery | undefined {
  if (!turn.steps.callFailed || failure.code === ErrorCode.CANCELLED) return undefined;
  if (failure.reason === CONTEXT_OVERFLOW) {
    const throughSeq = turn.steps.overflowed ? undefined : compactableThrough(state, turn);
    return throughSeq === undefined ? undefined : { kind: "compact", throughSeq, model: turn.model };
  }
  if (failure.reason === "CONTENT_FILTER") return undefined;
  const model = nextModel(state.agent, turn.model);
  return model === undefined ? undefined : { kind: "fallback", model };
}

function nextModel(agent: AgentSpec | undefined, model: string): string | undefined {
  // A fork may have made one of them its first.
  const models = [...new Set([agent?.model ?? "", ...(agent?.fallbackModels ?? [])])];
  return models[models.indexOf(model) + 1];
}
