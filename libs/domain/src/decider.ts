import type { ForgeError } from "@forge/protocol/common";
import type { OutgoingCommand } from "@forge/protocol/engine";
import type { Event } from "@forge/protocol/event";
import type { ToolSpec } from "@forge/protocol/tool";
import type { Outstanding } from "./task.ts";

/** The kinds of streams, by the names that the store has for them. */
export type StreamKindName = "session" | "run" | "concurrency";

/** All that a decision may depend on beside state and command; whoever calls gathers it beforehand. */
export interface Context {
  readonly namespace: string;
  readonly streamId: string;
  /** Who sent the command, for example "cli" or "worker:executor". */
  readonly principal: string;
  readonly commandId: string;
  /** Milliseconds since the epoch; never before the stream's last event. */
  readonly nowMs: number;
  /** The stream's seq, deltas included; the next event is seq + 1. */
  readonly seq: number;
  /** A fresh UUID (version 7). */
  newId(): string;
  /** A UUID (version 8) that derives from the namespace and the given parts. */
  deriveId(...parts: string[]): string;
  /** SHA-256 of bytes, or of text in UTF-8, hexadecimal. */
  sha256(data: string | Uint8Array): string;
  /** The text of an artifact that `needs` asked for; undefined where it does not exist. */
  artifact(sha256: string): string | undefined;
  /** The tools that live workers of this queue serve now. */
  tools(queue: string): readonly ToolSpec[];
  /** Whether a live worker of the queue serves a capability now, for example "hook:audit". */
  serves(queue: string, capability: string): boolean;
}

/** An event before the engine gives it id, seq, time and cause. */
export interface EventDraft {
  readonly payload: Event["payload"];
  readonly turnId?: string;
  readonly toolCallId?: string;
  readonly modelCallId?: string;
  readonly stepId?: string;
  /** Sensitive where people's or tools' words are inside; public where absent. */
  readonly sensitive?: boolean;
}

/** Accepted: at least one event, and what the caller is answered. */
export interface Accepted<R> {
  readonly events: readonly EventDraft[];
  /** The rpc's response without its seq, which the engine fills in; undefined for the engine's own commands. */
  readonly result: R;
}

/** Refused: nothing happened, nothing is recorded. */
export interface Rejected {
  readonly rejection: ForgeError;
}

export type Decision<R> = Accepted<R> | Rejected;

/** What lists show of a stream and filter by. */
export interface Listing {
  /** The status name as in the proto enum, for example SESSION_STATUS_ACTIVE. */
  readonly status: string;
  /** A second one: the turn's status of a session; empty for a run. */
  readonly detailStatus: string;
  readonly title: string;
  /** A session's model, a run's workflow id. */
  readonly subject: string;
  /** A run's workflow version; empty for a session. */
  readonly version: string;
  readonly labels: Readonly<Record<string, string>>;
  /** Approvals that wait, each an encoded forge.tool.v1.PendingApproval. */
  readonly approvals: readonly Uint8Array[];
}

/**
 * An aggregate: pure functions over a state. `decide` runs to quiescence: what follows without anybody outside joins its events.
 * The functions throw only on a bug or on an event that they do not know (an older version reading a newer stream).
 */
export interface Decider<State, Command, Result, Listed extends Listing | undefined = Listing> {
  readonly kind: StreamKindName;
  /** Raised whenever evolve changes, so that older snapshots are not read. */
  readonly reducerVersion: number;
  initial(): State;
  /** Hashes of artifacts that deciding will read. */
  needs(state: State, command: Command): readonly string[];
  decide(state: State, command: Command, context: Context): Decision<Result>;
  evolve(state: State, event: Event): State;
  /** All tasks that must be in the task table because of this state. */
  outstanding(state: State): Outstanding;
  /** The commands to other streams that an event causes, given the state after it; a pure function of both. */
  commands(state: State, event: Event): readonly OutgoingCommand[];
  /** Undefined where no list shows such streams. */
  listing(state: State): Listed;
  /** The ids that the envelope of a task's output carries. */
  deltaIds(state: State, taskKey: string): Pick<EventDraft, "turnId" | "toolCallId" | "modelCallId" | "stepId">;
}
