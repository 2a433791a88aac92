import { type Bound, ratiosOf, valueRow } from "../report/compare.ts";
import type { Row, Unit } from "../report/row.ts";
import { type Round, spread } from "../statistics.ts";
import type { Load, Peer } from "./peer.ts";

/** Of each peer that came through: its rounds, of which those with the same index were measured one after the other. */
export type PeerRounds = ReadonlyMap<string, readonly Round[]>;

export interface Taken {
  readonly rounds: PeerRounds;
  /** What became of those that failed, in sentences. */
  readonly failures: readonly string[];
}

/** Opens the peers one after the other; one that does not come up is told of and left out. */
export async function openPeers<Opened extends Peer>(
  openings: readonly { readonly name: string; readonly open: () => Promise<Opened> }[],
  progress: (text: string) => void,
): Promise<{ readonly peers: readonly Opened[]; readonly failures: readonly string[] }> {
  const peers: Opened[] = [];
  const failures: string[] = [];
  for (const { name, open } of openings) {
    try {
      peers.push(await open());
    } catch (error) {
      failures.push(failure(name, error));
      progress(`  ${failures.at(-1)}`);
    }
  }
  return { peers, failures };
}

export function failure(name: string, error: unknown): string {
  const message = error instanceof Error ? error.message : String(error);
  return `${name} failed in this run: ${message.replaceAll(/\s+/g, " ").slice(0, 300)}.`;
}

/** Rounds that take turns, after one of each that does not count. A peer that fails once is left out from there on. None begins after `until`. */
export async function takeRounds(peers: readonly Peer[], load: Load, count: number, until: number, progress: (text: string) => void): Promise<Taken> {
  const rounds = new Map<string, Round[]>();
  const failures: string[] = [];
  const failed = new Set<string>();
  for (let index = 0; index <= count && (index <= 1 || performance.now() < until); index++) {
    for (const peer of peers.filter(({ name }) => !failed.has(name))) {
      try {
        const round = await peer.round(load);
        if (index > 0) rounds.set(peer.name, [...(rounds.get(peer.name) ?? []), round]);
        progress(`  ${index === 0 ? "warm-up" : `round ${index}`}, ${peer.name}: ${round.count} runs of ${load.steps} in ${round.seconds.toFixed(2)} s`);
      } catch (error) {
        failed.add(peer.name);
        rounds.delete(peer.name);
        failures.push(failure(peer.name, error));
        progress(`  ${failures.at(-1)}`);
      }
    }
  }
  return { rounds, failures };
}

/** What one number of each round was. */
export function numberRow(name: string, unit: Unit, rounds: readonly Round[], of: (round: Round) => number): Row {
  return { name, unit, value: spread(rounds.map(of)) };
}

/** Ours to theirs within each round, which must be at least or at most something in the middle. */
export function ratioRow(name: string, ours: readonly number[], theirs: readonly number[], bound?: Bound): Row {
  return valueRow(name, "ratio", ratiosOf(ours, theirs), bound);
}
