import { create } from "@bufbuild/protobuf";
import { type Duration, durationFromMs, durationMs } from "@bufbuild/protobuf/wkt";
import { CommandHeaderSchema, StreamKind, StreamRefSchema } from "@forge/protocol/common";
import { ForkChildSessionSchema, type OutgoingCommand, OutgoingCommandSchema } from "@forge/protocol/engine";
import {
  type AgentSpec,
  AgentSpecSchema,
  type Budget,
  BudgetSchema,
  CancelTurnRequestSchema,
  type CreateSessionRequest,
  CreateSessionRequestSchema,
  StartTurnRequestSchema,
  SubAgentHistory,
  UpdateSessionPolicyRequestSchema,
} from "@forge/protocol/session";
import { ToolMode, type ToolPolicy, ToolPolicySchema } from "@forge/protocol/tool";
import { shorten } from "../../text.ts";
import { modelCallBudget, stepBudget, toolCallBudget } from "../budget.ts";
import type { SessionState, ToolCallState, TurnState } from "../state.ts";
import { subAgentOf, taskOf } from "./sub-agent.ts";

/** Of CreateSessionRequest.title and labels, by their contract. */
const TITLE_LENGTH_MAX = 256;

/** Labels of a sub-agent's session, which tell whose it is. */
const PARENT_LABEL = "forge.parent_session_id";
const ROOT_LABEL = "forge.root_session_id";
const CALL_LABEL = "forge.parent_call_id";
const AGENT_LABEL = "forge.agent";

/** What a sub-agent's session is asked, and by which command it is known. */
export type ChildCommand = "create" | "turn" | "cancel" | `policy:${string}`;

export function childCommandId(toolCallId: string, command: ChildCommand): string {
  return `sub-agent:${toolCallId}:${command}`;
}

/** A session for the sub-agent, and its turn. The session has the call's id, so that both ends know each other without a word. */
export function startChild(state: SessionState, turn: TurnState, call: ToolCallState, nowMs: number): OutgoingCommand[] {
  const sub = subAgentOf(state.agent, call.tool);
  const task = taskOf(call.argumentsJson);
  if (sub?.agent === undefined || task === undefined) throw new Error(`tool call ${call.toolCallId} of session ${state.sessionId} starts no sub-agent`);
  const request = createRequest(state, turn, call, sub.agent, sub.history, nowMs);
  const isFresh = sub.history !== SubAgentHistory.FORKED && sub.history !== SubAgentHistory.SHARED;
  // The conversation up to the call is what the model read that made it.
  const throughSeq = BigInt(turn.requestSeq);
  const creation: OutgoingCommand["command"] = isFresh
    ? { case: "createSession", value: request }
    : { case: "forkChildSession", value: create(ForkChildSessionSchema, { create: request, throughSeq }) };
  const start = create(StartTurnRequestSchema, {
    header: header(call.toolCallId, "turn"),
    sessionId: call.toolCallId,
    input: [{ kind: { case: "text", value: { text: task } } }],
  });
  return [outgoing(state, call.toolCallId, "create", creation), outgoing(state, call.toolCallId, "turn", { case: "startTurn", value: start })];
}

/** The caller never learns the turn's id: from a parent, an empty one names the active turn. */
export function cancelChild(state: SessionState, toolCallId: string): OutgoingCommand {
  const value = create(CancelTurnRequestSchema, { header: header(toolCallId, "cancel"), sessionId: toolCallId });
  return outgoing(state, toolCallId, "cancel", { case: "cancelTurn", value });
}

/** What a caller may no longer do, its sub-agents may not either; what it may do from now on, they may. */
export function updateChildPolicy(
  state: SessionState,
  { toolCallId, tool }: ToolCallState,
  { seq, revokesGrants }: { readonly seq: bigint; readonly revokesGrants: boolean },
): OutgoingCommand {
  const command: ChildCommand = `policy:${seq}`;
  const value = create(UpdateSessionPolicyRequestSchema, {
    header: header(toolCallId, command),
    sessionId: toolCallId,
    policy: policyFor(state, subAgentOf(state.agent, tool)?.history) ?? create(ToolPolicySchema),
    revokeGrants: revokesGrants,
  });
  return outgoing(state, toolCallId, command, { case: "updateSessionPolicy", value });
}

/** The caller's; one that shares its caller's conversation only reads. */
function policyFor({ policy }: SessionState, history: SubAgentHistory | undefined): ToolPolicy | undefined {
  return history === SubAgentHistory.SHARED ? { ...(policy ?? create(ToolPolicySchema)), mode: ToolMode.PLAN } : policy;
}

function createRequest(
  state: SessionState,
  turn: TurnState,
  call: ToolCallState,
  agent: AgentSpec,
  history: SubAgentHistory,
  nowMs: number,
): CreateSessionRequest {
  const { sessionId, parentCall, queue } = state;
  const { toolCallId } = call;
  const rootSessionId = parentCall?.rootSessionId ?? sessionId;
  return create(CreateSessionRequestSchema, {
    header: header(toolCallId, "create"),
    agent: create(AgentSpecSchema, { ...agent, budget: leftOf(state, turn, agent.budget, nowMs) }),
    policy: policyFor(state, history),
    labels: { [PARENT_LABEL]: sessionId, [ROOT_LABEL]: rootSessionId, [CALL_LABEL]: toolCallId, [AGENT_LABEL]: call.tool },
    queue,
    title: shorten(`${state.title === "" ? sessionId : state.title} / ${call.tool}`, TITLE_LENGTH_MAX),
    parentCall: { sessionId, turnId: turn.turnId, toolCallId, rootSessionId, depth: (parentCall?.depth ?? 0) + 1 },
  });
}

/**
 * A sub-agent's own budget, within what is left of the caller's turn. Tokens and cost are its share of that among the calls of sub-agents that are open: what one of them
 * has been given is at most its share, so that all together never have more than what was left. Calls and steps bound the loop of each turn, and are not shared.
 */
function leftOf(state: SessionState, turn: TurnState, own: Budget | undefined, nowMs: number): Budget {
  const budget = state.agent?.budget;
  const { usage } = turn;
  const tokens = (usage?.inputTokens ?? 0n) + (usage?.outputTokens ?? 0n);
  const sharers = BigInt(turn.toolCalls.filter(({ isChild }) => isChild).length);
  return create(BudgetSchema, {
    modelCalls: Math.min(modelCallBudget(own), Math.max(0, modelCallBudget(budget) - turn.modelCallCount)),
    toolCalls: Math.min(toolCallBudget(own), Math.max(0, toolCallBudget(budget) - turn.toolCallCount)),
    steps: Math.min(stepBudget(own), Math.max(0, stepBudget(budget) - turn.modelCallCount - turn.extraRounds)),
    tokens: smaller(own?.tokens, shareOf(left(budget?.tokens, tokens), sharers)),
    costMicroUsd: smaller(own?.costMicroUsd, shareOf(left(budget?.costMicroUsd, usage?.costMicroUsd ?? 0n), sharers)),
    wallTime: shorter(own?.wallTime, Math.max(1, turn.deadlineAtMs - nowMs)),
  });
}

function left(bound: bigint | undefined, used: bigint): bigint | undefined {
  if (bound === undefined) return undefined;
  return bound > used ? bound - used : 0n;
}

function shareOf(amount: bigint | undefined, sharers: bigint): bigint | undefined {
  return amount === undefined ? undefined : amount / sharers;
}

function smaller(one: bigint | undefined, other: bigint | undefined): bigint | undefined {
  if (one === undefined || other === undefined) return one ?? other;
  return one < other ? one : other;
}

function shorter(own: Duration | undefined, leftMs: number): Duration {
  return durationFromMs(own === undefined ? leftMs : Math.min(durationMs(own), leftMs));
}

function outgoing(state: SessionState, toolCallId: string, command: ChildCommand, payload: OutgoingCommand["command"]): OutgoingCommand {
  return create(OutgoingCommandSchema, {
    source: create(StreamRefSchema, { kind: StreamKind.SESSION, id: state.sessionId }),
    target: create(StreamRefSchema, { kind: StreamKind.SESSION, id: toolCallId }),
    commandId: childCommandId(toolCallId, command),
    command: payload,
  });
}

function header(toolCallId: string, command: ChildCommand) {
  return create(CommandHeaderSchema, { version: { major: 1, minor: 0 }, commandId: childCommandId(toolCallId, command) });
}
