import { type Decider, runDecider, sessionDecider } from "@forge/domain";

/** A command as the engine handles it: a generated message, or one of the engine's own. */
export interface Command {
  readonly $typeName: string;
}

export type StreamKindName = "session" | "run";

/** A decider whose types the engine does not look into. */
export type Aggregate = Decider<unknown, Command, unknown>;

const AGGREGATES: Readonly<Record<StreamKindName, Aggregate>> = {
  session: sessionDecider as Aggregate,
  run: runDecider as Aggregate,
};

export function aggregateOf(kind: StreamKindName): Aggregate {
  return AGGREGATES[kind];
}
