import type { Decider } from "../decider.ts";
import { concurrencyCommands } from "./commands.ts";
import { type ConcurrencyCommand, decideConcurrency } from "./decide.ts";
import { CONCURRENCY_REDUCER_VERSION, evolveConcurrency } from "./evolve.ts";
import { type ConcurrencyState, initialConcurrencyState } from "./state.ts";

/**
 * A concurrency key: at most `limit` of the runs that ask for it hold it at a time. A stream like any other, so that no two control planes can both give the
 * last place away, and nothing is lost with either. It has no tasks of its own: runs are told by commands.
 */
export const concurrencyDecider: Decider<ConcurrencyState, ConcurrencyCommand, undefined, undefined> = {
  kind: "concurrency",
  reducerVersion: CONCURRENCY_REDUCER_VERSION,
  initial: initialConcurrencyState,
  needs: () => [],
  decide: decideConcurrency,
  evolve: evolveConcurrency,
  outstanding: () => [],
  commands: concurrencyCommands,
  // Nobody lists keys; the runs that wait are listed.
  listing: () => undefined,
  deltaIds: () => ({}),
};
