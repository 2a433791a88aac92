import type { WorkspaceChangeRecorded } from "@forge/protocol/event";
import type { Outcome, TaskContext } from "@forge/worker";

/** One call on its way through the layers. */
export interface Invocation {
  readonly context: TaskContext;
  /** The task's signal, narrowed by the layers. */
  readonly signal: AbortSignal;
  /** Empty until they were read. */
  readonly args: Record<string, unknown>;
  readonly startedAt: number;
  /** What the call changed so far; told with its end, whatever that is. */
  readonly changes: WorkspaceChangeRecorded[];
  /** Told by a tool that `observes`, once it knows that this execution can't write to the workspace. */
  readonly readsOnly?: () => void;
}

/** What a call does from some layer inwards. */
export type Step = (invocation: Invocation) => Promise<Outcome>;

/** Wraps a step: may end the call before it, change what it is given, or what it answers. */
export type Layer = (next: Step) => Step;
