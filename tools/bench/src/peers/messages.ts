import type { Round } from "../statistics.ts";

/** What a peer's program is told at its start. */
export interface PeerConfig {
  /** Of a database of its own; Restate's programs have none. */
  readonly databaseUrl?: string;
  /** Where Restate's server takes calls. */
  readonly ingressUrl?: string;
  /** Where Restate's server finds the service. */
  readonly port?: number;
  /** Each execution of a step adds a line "run step" to this file. */
  readonly log?: string;
}

/** Runs of trivial steps, so many at once, until the time or the count is over. */
export interface RoundQuestion {
  readonly type: "round";
  readonly steps: number;
  readonly inFlight: number;
  readonly seconds: number;
  readonly countMax?: number;
}

/** What was measured, and the ids of the runs under which the peer has recorded them. */
export interface RoundAnswer {
  readonly type: "round";
  readonly round: Round;
  readonly ids: readonly string[];
}

/** Starts runs whose steps write to the log, and does not wait for their ends. */
export interface StartQuestion {
  readonly type: "start";
  readonly ids: readonly string[];
  readonly steps: number;
}

/** All are recorded: none may be lost from here on. */
export interface StartAnswer {
  readonly type: "started";
}

/** The question failed; the peer goes on. */
export interface FailedAnswer {
  readonly type: "failed";
  readonly message: string;
}
