import type { ArtifactRef, ForgeError, Usage } from "@forge/protocol/common";
import type { FinishReason } from "@forge/protocol/event";
import { type AgentSpec, type ParentStep, SessionStatus, type TurnOutcome, TurnStatus } from "@forge/protocol/session";
import type { CapabilityDecision, Decision, ToolPolicy, ToolSpec } from "@forge/protocol/tool";

/**
 * What is true of a session: counters, open calls and references, never the conversation. All of it is plain data, so that a snapshot of it can be
 * cloned, stored and compared.
 */
export interface SessionState {
  readonly sessionId: string;
  /** UNSPECIFIED until the session is created. */
  readonly status: SessionStatus;
  readonly agent: AgentSpec | undefined;
  readonly policy: ToolPolicy | undefined;
  readonly labels: Readonly<Record<string, string>>;
  readonly title: string;
  readonly queue: string;
  readonly parent: ParentStep | undefined;
  /** The principal that gave the session its policy: when it created it, or later. */
  readonly policyBy: string;
  readonly createdAtMs: number;
  readonly updatedAtMs: number;
  readonly turnCount: number;
  readonly usage: Usage | undefined;
  /** The active turn, or the last one. */
  readonly turn: TurnState | undefined;
  /** Tool calls that were dispatched and have ended, newest last, so that a late answer finds its call. At most ENDED_CALLS_MAX. */
  readonly endedCalls: readonly EndedCall[];
  /** The newest compaction: its event's seq, and up to where its summary reaches. */
  readonly compaction: { readonly seq: number; readonly throughSeq: number } | undefined;
  /** What a compaction takes whole or not at all: turns that ended, and the messages that a fork began with; newest last. At most SPANS_MAX. */
  readonly spans: readonly Span[];
}

/** Who compacts keeps the newest turns; further back than this lies nothing that is worth keeping beside a summary. */
export const SPANS_MAX = 64;

/** A late answer comes within minutes or never; more calls than this do not end meanwhile. */
export const ENDED_CALLS_MAX = 64;

/** Second answers to an approval or a question come within the turn; the newest are enough to tell who was first. */
export const RESOLUTIONS_MAX = 64;

/** Events that belong together, both ends inclusive. */
export interface Span {
  readonly firstSeq: number;
  readonly lastSeq: number;
}

export interface TurnState {
  readonly turnId: string;
  /** The seq of its first event. */
  readonly startedSeq: number;
  readonly startedAtMs: number;
  readonly deadlineAtMs: number;
  /** The catalogue, frozen for the turn; empty once it has ended. */
  readonly tools: readonly ToolSpec[];
  readonly modelCallCount: number;
  readonly toolCallCount: number;
  readonly usage: Usage | undefined;
  readonly modelCall: ModelCallState | undefined;
  /** Tool calls that have not ended, in the order of the answer. */
  readonly toolCalls: readonly ToolCallState[];
  /** The newest answer of the model. */
  readonly answer: AnswerState | undefined;
  /** Set once the turn was asked to stop. */
  readonly cancel: { readonly reason: string } | undefined;
  /** Nothing is dispatched while it is set. */
  readonly paused: boolean;
  /** A person said something that no model call has read. */
  readonly steered: boolean;
  /** Set when a model call failed for good. */
  readonly failure: ForgeError | undefined;
  /** Approvals of this turn that were answered, newest last. At most RESOLUTIONS_MAX. */
  readonly resolutions: readonly Resolution[];
  /** Questions of this turn that were settled, newest last. At most RESOLUTIONS_MAX. */
  readonly inputs: readonly SettledInput[];
  readonly end: TurnEnd | undefined;
}

export interface ModelCallState {
  readonly modelCallId: string;
  readonly conversationThroughSeq: bigint;
  /** In the task table; false only for a next attempt that a pause holds back. */
  readonly dispatched: boolean;
  readonly started: boolean;
  readonly failedAttempts: number;
  /** Of the failed attempts, those whose worker was lost. */
  readonly lostLeases: number;
  /** The next attempt is not dispatched before; 0: at once. */
  readonly dueAtMs: number;
}

export interface ToolCallState {
  readonly toolCallId: string;
  readonly providerCallId: string;
  readonly tool: string;
  readonly argumentsJson: string;
  readonly decision: CapabilityDecision;
  /** In the task table, from the moment on when its turn in the order has come. */
  readonly dispatched: boolean;
  readonly started: boolean;
  readonly lostLeases: number;
  readonly approval: ApprovalState | undefined;
  /** Set while a person is asked for the call's output. */
  readonly input: InputState | undefined;
}

export interface ApprovalState {
  readonly approvalId: string;
  readonly requestedAtMs: number;
  readonly expiresAtMs: number;
}

export interface InputState {
  readonly inputId: string;
  readonly question: string;
  readonly requestedAtMs: number;
  readonly expiresAtMs: number;
}

export interface AnswerState {
  readonly finishReason: FinishReason;
  readonly toolCallCount: number;
  /** The answer's text; whole up to what one Value holds where a parent waits for it, else only the preview. */
  readonly text: string;
  /** The first artifact of the answer, where it had no text. */
  readonly artifact: ArtifactRef | undefined;
}

export interface Resolution {
  readonly approvalId: string;
  readonly decision: Decision;
  readonly decidedBy: string;
}

export interface SettledInput {
  readonly inputId: string;
  /** Who answered; "expiry" or "cancel" where nobody did. */
  readonly providedBy: string;
}

export interface EndedCall {
  readonly toolCallId: string;
  readonly turnId: string;
  readonly reportedLate: boolean;
}

export interface TurnEnd {
  readonly status: TurnStatus;
  readonly outcome: TurnOutcome;
  readonly error: ForgeError | undefined;
  readonly endedAtMs: number;
}

export function initialSessionState(): SessionState {
  return {
    sessionId: "",
    status: SessionStatus.UNSPECIFIED,
    agent: undefined,
    policy: undefined,
    labels: {},
    title: "",
    queue: "",
    parent: undefined,
    policyBy: "",
    createdAtMs: 0,
    updatedAtMs: 0,
    turnCount: 0,
    usage: undefined,
    turn: undefined,
    endedCalls: [],
    compaction: undefined,
    spans: [],
  };
}

/** The turn that has not ended, if there is one. */
export function activeTurn(state: SessionState): TurnState | undefined {
  return state.turn !== undefined && state.turn.end === undefined ? state.turn : undefined;
}

/** Whether work of the turn is in the task table. */
export function isWorking(turn: TurnState): boolean {
  return turn.modelCall?.dispatched === true || turn.toolCalls.some((call) => call.dispatched);
}

/** Whether nothing of the turn is under way or waited for. */
export function isIdle(turn: TurnState): boolean {
  return turn.modelCall === undefined && turn.toolCalls.length === 0;
}

/**
 * Whether nobody outside can move the turn, though it has not ended. No decision leaves a turn so; a history that breaks off within one, or that a version
 * with other rules wrote, may.
 */
export function isStalled(turn: TurnState): boolean {
  if (isWorking(turn)) return false;
  if (turn.cancel !== undefined) return true;
  return !turn.paused && turn.toolCalls.every((call) => call.approval === undefined && call.input === undefined);
}

/**
 * A paused turn is called so once nothing runs, whatever else it waits for. A turn with an open approval waits, even while other calls of the same answer run:
 * a person is needed before they can all. A question is waited for once nothing else runs.
 */
export function turnStatus(turn: TurnState): TurnStatus {
  if (turn.end !== undefined) return turn.end.status;
  if (turn.cancel !== undefined) return TurnStatus.CANCELLING;
  const working = isWorking(turn);
  if (turn.paused && !working) return TurnStatus.PAUSED;
  if (turn.toolCalls.some((call) => call.approval !== undefined)) return TurnStatus.WAITING_APPROVAL;
  return !working && turn.toolCalls.some((call) => call.input !== undefined) ? TurnStatus.WAITING_INPUT : TurnStatus.RUNNING;
}

/** The tool as the turn's model sees it; undefined where the agent may not use it or nobody served it when the turn began. */
export function findTool(turn: TurnState, name: string): ToolSpec | undefined {
  return turn.tools.find((tool) => tool.name === name);
}
