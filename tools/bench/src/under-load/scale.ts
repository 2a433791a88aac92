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
  /** Streams of the large store. */
  readonly streams: number;
  readonly sustainedSeconds: number;
}

export const LOAD_FULL: LoadScale = {
  rounds: 5,
  seconds: 4,
  subscribers: 1_000,
  workers: 500,
  steadySeconds: 60,
  idleSeconds: 20,
  longStream: 100_000,
  streams: 1_000_000,
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
  streams: 10_000,
  sustainedSeconds: 60,
};
