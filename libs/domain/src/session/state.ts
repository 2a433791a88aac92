import type { ArtifactRef, ForgeError, Usage } from "@forge/protocol/common";
import type { FinishReason } from "@forge/protocol/event";
import { type AgentSpec, type ParentCall, type ParentStep, type Plan, SessionStatus, type TurnOutcome, TurnStatus } from "@forge/protocol/session";
import type { CapabilityDecision, Decision, Grant, ToolMode, ToolPolicy, ToolPreview, ToolSpec } from "@forge/protocol/tool";
import type { CompactingState, ContextState, HooksState, StepsState } from "./loop-state.ts";

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
  /** The tool call of another session that this one works for. */
  readonly parentCall: ParentCall | undefined;
  /** The principal that gave the session its policy: when it created it, or later. */
  readonly policyBy: string;
  readonly createdAtMs: number;
  readonly updatedAtMs: number;
  readonly turnCount: number;
  readonly usage: Usage | undefined;
  /** The active turn, or the last one. */
  readonly turn: TurnState | undefined;
  /** What people allowed beyond single calls, oldest first. Those of a turn go with it. At most GRANTS_MAX. */
  readonly grants: readonly Grant[];
  /** Set while a worker takes back changes of files. */
  readonly undo: UndoState | undefined;
  /** Changes of files that stand. */
  readonly changeCount: number;
  /** The newest event that told of a change of files, or of its undoing; 0: none. */
  readonly changesSeq: number;
  /** Tool calls that were dispatched and have ended, newest last, so that a late answer finds its call. At most ENDED_CALLS_MAX. */
  readonly endedCalls: readonly EndedCall[];
  /** The newest compaction: its event's seq, up to where its summary reaches, and after which seq lies what is still told beside it. */
  readonly compaction: { readonly seq: number; readonly throughSeq: number; readonly keptAfterSeq: number } | undefined;
  /** A summary that a model is writing. */
  readonly compacting: CompactingState | undefined;
  /** How full the model's context is. */
  readonly context: ContextState;
  /** The last plan that the agent told. */
  readonly plan: Plan | undefined;
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

export interface UndoState {
  readonly undoId: string;
  /** Newest first. */
  readonly changeIds: readonly string[];
  /** The conversation is rewound to here once all are undone; 0: it stays. */
  readonly rewindThroughSeq: number;
  readonly requestedAtMs: number;
}

export interface TurnState {
  readonly turnId: string;
  /** The seq of its first event. */
  readonly startedSeq: number;
  readonly startedAtMs: number;
  readonly deadlineAtMs: number;
  /** The catalogue, frozen for the turn; empty once it has ended. */
  readonly tools: readonly ToolSpec[];
  /** The agent's, or the fallback that stands in for it until the turn ends. */
  readonly model: string;
  readonly modelCallCount: number;
  readonly toolCallCount: number;
  /** Rounds that hooks, or an answer that did not match its schema, added. */
  readonly extraRounds: number;
  readonly usage: Usage | undefined;
  readonly steps: StepsState;
  readonly hooks: HooksState;
  /** A summary that is waited for before the next model call; the turn's own, or one that was asked for before the turn began. */
  readonly compaction: { readonly compactionId: string; readonly isOwn: boolean } | undefined;
  /** Up to where the newest model call reads; 0 before the first. */
  readonly requestSeq: number;
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
  /** Set when a tool call failed and the agent's recovery is to stop. */
  readonly toolFailure: ForgeError | undefined;
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
  readonly model: string;
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
  /** The session's mode when it was decided on. */
  readonly mode: ToolMode;
  /** Set while a worker is to tell what the call would do; `dispatched` once that is in the task table. */
  readonly previewing: { readonly dispatched: boolean } | undefined;
  /** Times that it was previewed before, or is for now. */
  readonly previewCount: number;
  /** What was told and decided on; its diff only while a person is asked. */
  readonly previewed: ToolPreview | undefined;
  /** The seq of the event that it was told with. */
  readonly previewedSeq: number;
  /** A person changed the arguments and allowed them so. */
  readonly edited: boolean;
  /** In the task table, from the moment on when its turn in the order has come. */
  readonly dispatched: boolean;
  readonly started: boolean;
  readonly lostLeases: number;
  /** Attempts that failed and were followed by another. */
  readonly failedAttempts: number;
  /** The next attempt is not dispatched before; 0: at once. */
  readonly dueAtMs: number;
  /** What a person answered so that the call could go on, in order. At most INPUT_ROUNDS_MAX. */
  readonly providedInputs: readonly string[];
  /** What the worker left for itself when it last asked. */
  readonly resumeJson: string;
  /** A sub-agent does it, in a session of its own whose id is the call's. */
  readonly isChild: boolean;
  readonly approval: ApprovalState | undefined;
  /** Set while a person is asked for the call's output. */
  readonly input: InputState | undefined;
}

export interface ApprovalState {
  readonly approvalId: string;
  readonly requestedAtMs: number;
  readonly expiresAtMs: number;
}

/** Questions that one call may ask before it has to end: more is a tool that never gets on. */
export const INPUT_ROUNDS_MAX = 16;

export interface InputState {
  readonly inputId: string;
  readonly question: string;
  /** Set where the call failed with it, and the answer is what comes of the call; else a tool goes on with the answer, or it was the call's purpose. */
  readonly error: ForgeError | undefined;
  readonly requestedAtMs: number;
  readonly expiresAtMs: number;
}

export interface AnswerState {
  readonly finishReason: FinishReason;
  readonly toolCallCount: number;
  /** A parent waits for the text, or a schema binds it: it is whole up to what one Value holds, else only the preview. */
  readonly isWhole: boolean;
  readonly text: string;
  /** The text says that the model is going to do something, which it then did not do. */
  readonly announcesAction: boolean;
  /** The first artifact of the answer, where it had no text. */
  readonly artifact: ArtifactRef | undefined;
  /** Of its calls, those that completed and said that nothing is left for the model to do. */
  readonly breakCount: number;
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
  readonly tool: string;
  readonly isChild: boolean;
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
    parentCall: undefined,
    policyBy: "",
    createdAtMs: 0,
    updatedAtMs: 0,
    turnCount: 0,
    usage: undefined,
    turn: undefined,
    grants: [],
    undo: undefined,
    changeCount: 0,
    changesSeq: 0,
    endedCalls: [],
    compaction: undefined,
    compacting: undefined,
    context: { tokens: 0, bytes: 0, unreadBytes: 0, windowTokens: 0 },
    plan: undefined,
    spans: [],
  };
}

/** The turn that has not ended, if there is one. */
export function activeTurn(state: SessionState): TurnState | undefined {
  return state.turn !== undefined && state.turn.end === undefined ? state.turn : undefined;
}

/** Whether the turn has work under way: in the task table, or in a sub-agent's session. */
export function isWorking(turn: TurnState): boolean {
  if (turn.modelCall?.dispatched === true || turn.hooks.call !== undefined || turn.compaction?.isOwn === true) return true;
  return turn.toolCalls.some((call) => isUnderWay(call) || call.previewing?.dispatched === true);
}

/** Whether somebody does the call, or is to: a worker, or a sub-agent's session that has been asked for. */
export function isUnderWay(call: ToolCallState): boolean {
  return call.dispatched && (!call.isChild || call.started);
}

/** Whether nothing of the turn is under way or waited for. A summary that somebody else asked for holds only model calls back. */
export function isIdle(turn: TurnState): boolean {
  return turn.modelCall === undefined && turn.toolCalls.length === 0 && turn.hooks.call === undefined && turn.compaction?.isOwn !== true;
}

/**
 * Whether nobody outside can move the turn, though it has not ended. No decision leaves a turn so; a history that breaks off within one, or that a version
 * with other rules wrote, may.
 */
export function isStalled(turn: TurnState): boolean {
  if (isWorking(turn)) return false;
  if (turn.cancel !== undefined) return true;
  if (turn.paused || turn.compaction !== undefined) return false;
  return turn.toolCalls.every((call) => call.approval === undefined && call.input === undefined);
}

/** A turn waits, or is paused, once nothing of it runs; what waits for a person meanwhile is among its open calls. */
export function turnStatus(turn: TurnState): TurnStatus {
  if (turn.end !== undefined) return turn.end.status;
  if (turn.cancel !== undefined) return TurnStatus.CANCELLING;
  if (isWorking(turn)) return TurnStatus.RUNNING;
  if (turn.paused) return TurnStatus.PAUSED;
  if (turn.toolCalls.some((call) => call.approval !== undefined)) return TurnStatus.WAITING_APPROVAL;
  return turn.toolCalls.some((call) => call.input !== undefined) ? TurnStatus.WAITING_INPUT : TurnStatus.RUNNING;
}

/** The tool as the turn's model sees it; undefined where the agent may not use it or nobody served it when the turn began. */
export function findTool(turn: TurnState, name: string): ToolSpec | undefined {
  return turn.tools.find((tool) => tool.name === name);
}
