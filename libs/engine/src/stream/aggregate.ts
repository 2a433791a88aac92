import type { Decider } from "@forge/domain";

/** A command as the engine handles it: a generated message, or one of the engine's own. */
export interface Command {
  readonly $typeName: string;
}

export type StreamKindName = "session" | "run";

/** A decider whose types the engine does not look into. */
export type Aggregate = Decider<unknown, Command, unknown>;

/** The decider of each kind of stream. */
export type Aggregates = Readonly<Record<StreamKindName, Aggregate>>;
