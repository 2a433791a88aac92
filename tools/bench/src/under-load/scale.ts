/** How much is measured under load. */
export interface LoadScale {
  readonly rounds: number;
  /** Of a round under load. */
  readonly seconds: number;
  /** Of streams followed, of writers, and of subscriptions that are idle. */
  readonly subscribers: number;
  readonly workers: number;
  /** How long one stream is written to at full rate, and how long a system without anything to do is looked at. */
  readonly steadySeconds: number;
  readonly idleSeconds: number;
  /** Events of the long stream. */
  readonly longStream: number;
  /** Sizes that grow, the smallest first: streams of a store, events of a stream, bytes of a state. */
  readonly streams: readonly number[];
  readonly events: readonly number[];
  readonly stateBytes: readonly number[];
  /** Commands one after the other, in a round. */
  readonly commands: number;
  readonly sustainedSeconds: number;
}

export const LOAD_FULL: LoadScale = {
  rounds: 3,
  seconds: 4,
  subscribers: 1_000,
  workers: 500,
  steadySeconds: 60,
  idleSeconds: 15,
  longStream: 100_000,
  streams: [1_000, 1_000_000],
  events: [100, 10_000, 100_000],
  stateBytes: [1_000, 100_000, 5_000_000],
  commands: 500,
  sustainedSeconds: 600,
};
/** Says whether it works at all. */
export const LOAD_QUICK: LoadScale = {
  rounds: 1,
  seconds: 1,
  subscribers: 200,
  workers: 50,
  steadySeconds: 5,
  idleSeconds: 5,
  longStream: 5_000,
  streams: [1_000, 10_000],
  events: [100, 2_000],
  stateBytes: [1_000, 200_000],
  commands: 50,
  sustainedSeconds: 10,
};
