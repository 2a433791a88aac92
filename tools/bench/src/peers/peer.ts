import type { Round } from "../statistics.ts";

/** How much a round holds: runs of trivial steps, so many at once. */
export interface Load {
  readonly steps: number;
  readonly inFlight: number;
  readonly seconds: number;
  readonly countMax?: number;
}

/** Something that runs durable steps. */
export interface Peer {
  readonly name: string;
  /** Each run that is counted has been found ended well, with all its steps, where the peer records it. Throws otherwise. */
  round(load: Load): Promise<Round>;
  close(): Promise<void>;
}

/** A peer that is killed and started again. */
export interface RecoverablePeer extends Peer {
  /** Starts runs whose steps write to the log that the peer was opened with; resolves once all are recorded. */
  start(ids: readonly string[], steps: number): Promise<void>;
  /** kill -9 of everything of it but the database. */
  kill(): Promise<void>;
  restart(): Promise<void>;
  /** How many runs have ended well, in all, by its own records. */
  completed(): Promise<number>;
}
