import type { CompactionReason } from "@forge/protocol/event";
import type { HookAt, ToolCallPart } from "@forge/protocol/session";

/** A compaction that is under way. */
export interface CompactingState {
  readonly compactionId: string;
  readonly throughSeq: number;
  readonly reason: CompactionReason;
  readonly instructions: string;
  readonly model: string;
  /** The turn that waits for it; empty where somebody asked for it between turns. */
  readonly turnId: string;
  readonly requestedAtMs: number;
}

/** What a request to the model takes, as far as anybody can say before it is sent. */
export interface ContextState {
  /** Input and output of the last model call, as its provider counted. */
  readonly tokens: number;
  /** Bytes of text that joined the conversation since. */
  readonly bytes: number;
  /** Of those, the bytes that the model call under way can't have read. */
  readonly unreadBytes: number;
  /** 0: not known. */
  readonly windowTokens: number;
}

/** Where the turn's steps, each an answer with the results of its calls, end. */
export interface StepsState {
  /** The seq that the last step begins after. */
  readonly lastSeq: number;
  /** The seq that the step before it begins after. */
  readonly beforeSeq: number;
  /** The model has answered since the last request. */
  readonly isAnswered: boolean;
  /** A model call was refused as too long, and what came before was compacted for the next one. */
  readonly overflowed: boolean;
  /** The last model call failed for good. */
  readonly callFailed: boolean;
  /** A compaction by the window's estimate failed in this turn; it is not tried again. */
  readonly windowFailed: boolean;
}

/** How far the hooks of a turn are. */
export interface HooksState {
  /** Messages of people whose hooks are not done, by their events' seqs, oldest first. */
  readonly unheard: readonly number[];
  /** The first of the agent's hooks that is still to be called for the oldest of them. */
  readonly userNext: number;
  /** The first that is still to be called before the next model call. */
  readonly preNext: number;
  /** The newest answer, until its calls are requested. */
  readonly answer: HeldAnswer | undefined;
  /** The hook that a worker is asked. */
  readonly call: HookCallState | undefined;
  /** A hook, or the control plane itself, wants another model call although the answer called no tool. */
  readonly goOn: boolean;
  /** Why a hook ended the turn. */
  readonly blocked: string | undefined;
  /** How often forge.tool_enforcement has spoken in this turn. */
  readonly nudges: number;
  /** Tool calls that failed since one completed, or since forge.reflexion has spoken. */
  readonly failuresInRow: number;
  /** Answers of this turn that did not match the agent's schema and were told so. */
  readonly repairs: number;
}

/** An answer whose hooks are not done, or whose calls were not requested. */
export interface HeldAnswer {
  readonly seq: number;
  readonly next: number;
  /** The answer broke off, so that its calls may be incomplete. */
  readonly isCut: boolean;
  /** Those that were not requested yet, in order; no more than the settlement of a model call carries. */
  readonly calls: readonly ToolCallPart[];
  /** How many were requested. */
  readonly requestedCount: number;
  readonly denied: readonly { readonly toolCallId: string; readonly reason: string; readonly hook: string }[];
}

export interface HookCallState {
  readonly hookCallId: string;
  readonly hook: string;
  readonly at: HookAt;
  readonly index: number;
  readonly aboutSeq: number;
  /** The conversation that it may read: up to this seq. */
  readonly throughSeq: number;
  readonly requestedAtMs: number;
}

/** Before anything was said. */
export const NO_HOOKS: HooksState = {
  unheard: [],
  userNext: 0,
  preNext: 0,
  answer: undefined,
  call: undefined,
  goOn: false,
  blocked: undefined,
  nudges: 0,
  failuresInRow: 0,
  repairs: 0,
};
