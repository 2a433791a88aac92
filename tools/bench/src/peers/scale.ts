/** How much is measured beside the peers. */
export interface PeerScale {
  readonly rounds: number;
  /** Of a round under load. */
  readonly seconds: number;
  /** Runs one at a time, in a round. */
  readonly repetitions: number;
  readonly recoveries: number;
  readonly recoveryRuns: number;
  /** Steps of a long run. */
  readonly longRun: number;
  /** Of a run that waits for many things at once. */
  readonly openWaits: number;
  readonly finishedRuns: number;
}

/** Of which nothing begins later than this after the start. */
export const PEERS_MS_MAX = 12 * 60_000;

export const PEERS_FULL: PeerScale = {
  rounds: 7,
  seconds: 3,
  repetitions: 200,
  recoveries: 3,
  recoveryRuns: 200,
  longRun: 10_000,
  openWaits: 5_000,
  finishedRuns: 1_000_000,
};
/** Says whether it works at all. */
export const PEERS_QUICK: PeerScale = {
  rounds: 1,
  seconds: 0.5,
  repetitions: 10,
  recoveries: 1,
  recoveryRuns: 20,
  longRun: 300,
  openWaits: 300,
  finishedRuns: 2_000,
};
