import type { ForgeError, Usage, Value } from "@forge/protocol/common";
import type { CapabilityDecision } from "@forge/protocol/tool";
import type { Chunks } from "./chunks.ts";

/** An execution of a step, or of one item of a for_each, that has not ended. */
export interface Execution {
  readonly stepId: string;
  /** Where the step stands in the definition. */
  readonly position: number;
  readonly executionIndex: number;
  /** The attempt that runs, or that comes next while a retry waits; 1 for the first. */
  readonly attempt: number;
  /** When the attempt was decided on, milliseconds since the epoch. */
  readonly decidedAtMs: number;
  /** The attempt does not begin before; 0: at once. */
  readonly dueAtMs: number;
  /** Of a step that works in another stream: its next attempt waits for `dueAtMs` and has no stream yet. */
  readonly waiting: boolean;
  /** A worker has got the go-ahead for this attempt. */
  readonly started: boolean;
  /** The seq of the event that asks it to stop; 0: none. */
  readonly stopSeq: number;
  readonly input: Readonly<Record<string, Value>>;
  /** Of an agent step: the session of this attempt. */
  readonly sessionId: string;
  /** Of an agent step: its rendered user message; empty for others. */
  readonly prompt: string;
  /** Of an agent step with variants: the one that was taken. */
  readonly promptVariant: string;
  /** Of a workflow step: the run of this attempt. */
  readonly childRunId: string;
  /** Of a tool step: its tool was served as idempotent. */
  readonly isIdempotentTool: boolean;
  /** Of a tool step: the call of this attempt, until it has ended. */
  readonly call: StepCall | undefined;
  /** What the attempts before this one used. */
  readonly usage: Usage | undefined;
  /** Of a wait. */
  readonly wait: Wait | undefined;
  /** Of a for_each itself. */
  readonly group: Group | undefined;
  /** Of one item of a for_each. */
  readonly item: Item | undefined;
}

export interface StepCall {
  readonly toolCallId: string;
  readonly argumentsJson: string;
  readonly decision: CapabilityDecision;
}

/** What a step waits for. */
export interface Wait {
  /** When it ends, or gives up; 0: never. Milliseconds since the epoch. */
  readonly untilMs: number;
  /** Empty: no signal. */
  readonly signal: string;
  /** Empty: no person. */
  readonly approvalId: string;
  readonly question: string;
}

/** The items of a for_each. */
export interface Group {
  readonly count: number;
  /** The item that begins next. */
  readonly next: number;
  readonly open: number;
  readonly failedCount: number;
  /** Of the first item that failed for good. */
  readonly firstError: ForgeError | undefined;
  readonly outputs: Chunks<Value | undefined>;
}

/** Which item of which for_each. */
export interface Item {
  readonly groupIndex: number;
  readonly index: number;
}
