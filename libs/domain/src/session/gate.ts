import { ErrorCode } from "@forge/protocol/common";
import { Decision, type ToolSpec } from "@forge/protocol/tool";
import type { Context } from "../decider.ts";
import { utf8Length } from "../text.ts";
import { applyPolicy, approvalTtlMs, type JudgedCall, mayPreview, toolDigest } from "../tool-policy.ts";
import { toolCallBudget } from "./budget.ts";
import { argumentsProblem } from "./control-tools/arguments-problem.ts";
import { coveringGrant } from "./grants.ts";
import type { SessionState, TurnState } from "./state.ts";

const ARGUMENTS_BYTES_MAX = 65_536;
/** More calls than this in one answer are a runaway model; it keeps an answer's open calls within a few megabytes. */
const CALLS_PER_ANSWER_MAX = 256;

/** A call as the model wrote it. */
export interface WantedCall {
  readonly tool: string;
  readonly argumentsJson: string;
  /** The answer broke off, so that its calls may be incomplete. */
  readonly isCut: boolean;
  /** Among the calls of its answer, from 0. */
  readonly index: number;
}

/** What the gate says of a call. `source` is what decided. */
export type Verdict =
  | { readonly kind: "granted"; readonly source: string; readonly grantedBy?: string }
  /** Not decided before the worker has told what the call would do. */
  | { readonly kind: "previewed"; readonly source: string }
  | { readonly kind: "asked"; readonly source: string; readonly ttlMs: number }
  | { readonly kind: "denied"; readonly source: string; readonly reason: string }
  /** It can't be executed, whoever might allow it. */
  | { readonly kind: "impossible"; readonly source: string; readonly code: ErrorCode; readonly reason: string; readonly message: string }
  /** Its turn was asked to stop. */
  | { readonly kind: "stopped"; readonly source: string };

/** Decides on a call. Only what is granted, here or by a person who is asked, is ever dispatched. */
export function passGate(context: Pick<Context, "sha256">, state: SessionState, turn: TurnState, tool: ToolSpec | undefined, call: WantedCall): Verdict {
  if (turn.cancel !== undefined) return { kind: "stopped", source: "gate:TURN_CANCELLING" };
  if (tool === undefined) return impossible(ErrorCode.NOT_FOUND, "TOOL_NOT_FOUND", notFoundMessage(turn, call.tool, state.agent?.tools ?? []));
  if (call.isCut) return impossible(ErrorCode.VALIDATION, "ARGUMENTS_CUT", "The answer broke off, so this call may be incomplete. Call again, with less text.");
  const wrong = argumentsError(call.argumentsJson) ?? argumentsProblem(state.agent, tool.name, call.argumentsJson);
  if (wrong !== undefined) return impossible(ErrorCode.VALIDATION, "INVALID_ARGUMENTS", wrong);
  if (call.index >= CALLS_PER_ANSWER_MAX) {
    return impossible(ErrorCode.RESOURCE_EXHAUSTED, "TOO_MANY_CALLS", `One answer may call at most ${CALLS_PER_ANSWER_MAX} tools.`);
  }
  if (turn.toolCallCount >= toolCallBudget(state.agent?.budget)) {
    return { kind: "denied", source: "budget:tool_calls", reason: "The turn may make no more tool calls." };
  }
  return judge(context, state, turn, { tool, preview: undefined });
}

/**
 * What the policy and what people granted say of a call that can be executed: the mode and the rules, then grants, then whoever answers in a person's place,
 * then a person, who is told what the call would do where a worker can tell.
 */
export function judge(context: Pick<Context, "sha256">, state: SessionState, turn: TurnState, call: JudgedCall): Verdict {
  const { decision, source } = applyPolicy(state.policy, call);
  if (decision === Decision.ALLOW) return { kind: "granted", source };
  if (decision === Decision.DENY) return { kind: "denied", source, reason: denial(source) };
  if (decision === Decision.PREVIEW) return { kind: "previewed", source };
  const grant = coveringGrant(state.grants, turn.turnId, call, toolDigest(context, call.tool));
  if (grant !== undefined) return { kind: "granted", source: `grant:${grant.approvalId}`, grantedBy: grant.grantedBy };
  const answer = state.policy?.answer;
  if (answer === Decision.ALLOW) return { kind: "granted", source: ANSWER };
  if (mayPreview(call)) return { kind: "previewed", source };
  if (answer === Decision.DENY) return { kind: "denied", source: ANSWER, reason: denial(ANSWER) };
  return { kind: "asked", source, ttlMs: approvalTtlMs(state.policy) };
}

const ANSWER = "policy:answer";

function denial(source: string): string {
  if (source === "policy:mode") return "The session is in plan mode, in which only what reads is executed.";
  return "The session's policy denies this tool.";
}

/** Whether an event can carry the argument text. */
export function argumentsFit(argumentsJson: string): boolean {
  return utf8Length(argumentsJson) <= ARGUMENTS_BYTES_MAX;
}

function impossible(code: ErrorCode, reason: string, message: string): Verdict {
  return { kind: "impossible", source: `gate:${reason}`, code, reason, message: `${message} The call was not executed.` };
}

function notFoundMessage(turn: TurnState, name: string, agentTools: readonly string[]): string {
  if (agentTools.includes(name)) return `Tool ${name} is not served by any worker.`;
  const known = turn.tools.map((tool) => tool.name).join(", ");
  return `There is no tool ${JSON.stringify(name)}. ${known === "" ? "No tools can be called." : `Tools that can be called: ${known}.`}`;
}

/** What is wrong with the argument text, as a sentence; undefined where it is a JSON object. */
export function argumentsError(argumentsJson: string): string | undefined {
  if (!argumentsFit(argumentsJson)) return "The arguments are longer than 64 KiB.";
  try {
    const value: unknown = JSON.parse(argumentsJson);
    return typeof value === "object" && value !== null && !Array.isArray(value) ? undefined : "The arguments are not a JSON object.";
  } catch {
    // The parser's own words are left out: they quote the text and differ between versions.
    return "The arguments are not valid JSON.";
  }
}
