import type { HookToolCall, HookView } from "@forge/worker";

/** Where a definition says what it does; lines, not events: nothing of them is kept in a stream. */
export interface Logger {
  debug(message: string, fields?: Readonly<Record<string, unknown>>): void;
  info(message: string, fields?: Readonly<Record<string, unknown>>): void;
  warn(message: string, fields?: Readonly<Record<string, unknown>>): void;
  error(message: string, fields?: Readonly<Record<string, unknown>>): void;
}

/** What every call is given beside its input. */
interface CallContext {
  /** Aborted on cancellation, on a lost lease and at the deadline; `reason` is a ForgeError with code cancelled, worker_lost or deadline_exceeded. */
  readonly signal: AbortSignal;
  /** The same for every attempt of one call: hand it to services that deduplicate. */
  readonly idempotencyKey: string;
  readonly logger: Logger;
  /** Says that the work goes on: of a step with a `heartbeat_timeout`, what says nothing for so long is stopped. */
  heartbeat(): void;
}

/** What a tool is given beside its input. */
export interface ToolContext extends CallContext {
  readonly toolCallId: string;
  /** Of a session's call. */
  readonly sessionId?: string;
  readonly turnId?: string;
  /** Of a run's step. */
  readonly runId?: string;
  readonly stepId?: string;
  /** Shows a piece of output while the call runs; whoever follows the session or run sees it. */
  report(text: string): void;
  /** What a person answered, in order, to the questions that this call asked by throwing InputRequired. */
  readonly inputs: readonly string[];
  /** What the call left for itself when it asked; undefined before. */
  readonly resume: unknown;
  /**
   * Tells people how far the call is: at most 1,024 characters, longer ones are cut, and where it is known a fraction from 0 to 1. Beyond 1,000 pieces of a
   * call, those of `structured` counted, nothing more is told.
   */
  progress(message: string, fraction?: number): void;
  /** Tells an application something of its own, under its name for it (1 to 128 characters), as at most 16 KiB of JSON. Errors: validation. */
  structured(type: string, value: unknown): void;
}

/** What a hook is told when it is called. */
export interface HookContext extends CallContext, Omit<HookView, "hook"> {
  /** Of the last message: at on_user_message what the person said, at on_post_llm what the model answered. */
  readonly text: string;
  /** Of the last message: at on_post_llm the calls that the model wants. */
  readonly calls: readonly HookToolCall[];
}

/** What a function is given beside its input. */
export interface FunctionContext extends CallContext {
  readonly runId: string;
  readonly stepId: string;
  /** 1 for the first. */
  readonly attempt: number;
}
