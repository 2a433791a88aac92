import type { Usage } from "@forge/protocol/common";
import { TurnOutcome, TurnOutcomeSchema } from "@forge/protocol/session";
import { enumName } from "../output/message-json.ts";
import type { TurnEnd } from "./exit-codes.ts";

/** What `forge exec --json` ends with. */
export interface ExecResult {
  readonly session_id: string;
  readonly turn_id: string;
  readonly status: string;
  readonly outcome: string;
  readonly text: string;
  /** The answer as JSON, where a schema was given. */
  readonly output: unknown;
  readonly error: { readonly code: string; readonly message: string } | null;
  readonly usage: { readonly input_tokens: number; readonly output_tokens: number; readonly cached_input_tokens: number; readonly cost_usd: number | null };
  readonly duration_ms: number;
  /** Paths of the workspace that were changed. */
  readonly changed: readonly string[];
  /** Calls that were denied because nobody was there to allow them. */
  readonly unapproved: readonly string[];
  readonly exit_code: number;
}

export interface ExecFacts {
  readonly sessionId: string;
  readonly turnId: string;
  readonly end: TurnEnd;
  readonly text: string;
  readonly hasSchema: boolean;
  readonly usage: Usage | undefined;
  readonly durationMs: number;
  readonly changed: ReadonlySet<string>;
  readonly unapproved: readonly string[];
  readonly exitCode: number;
}

/** The facts as they are written. */
export function execResult({ sessionId, turnId, end, text, hasSchema, usage, durationMs, changed, unapproved, exitCode }: ExecFacts): ExecResult {
  return {
    session_id: sessionId,
    turn_id: turnId,
    status: end.kind,
    outcome: end.outcome === TurnOutcome.UNSPECIFIED ? end.kind.toUpperCase() : enumName(TurnOutcomeSchema, end.outcome),
    text,
    output: hasSchema ? parsed(text) : null,
    error: end.error === undefined ? null : { code: end.error.reason || String(end.error.code), message: end.error.message },
    usage: {
      input_tokens: Number(usage?.inputTokens ?? 0n),
      output_tokens: Number(usage?.outputTokens ?? 0n),
      cached_input_tokens: Number(usage?.cachedInputTokens ?? 0n),
      cost_usd: usage?.costMicroUsd === undefined ? null : Number(usage.costMicroUsd) / 1_000_000,
    },
    duration_ms: durationMs,
    changed: [...changed].sort(),
    unapproved,
    exit_code: exitCode,
  };
}

/** Models put JSON between fences as well; the schema was checked by the control plane. */
function parsed(text: string): unknown {
  const inside = /^\s*```(?:json)?\s*\n([\s\S]*?)\n```\s*$/.exec(text)?.[1] ?? text;
  try {
    return JSON.parse(inside);
  } catch {
    // The turn's outcome says that the answer is not what was asked for.
    return null;
  }
}
