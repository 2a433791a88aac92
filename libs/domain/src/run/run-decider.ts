import type { Decider } from "../decider.ts";
import { commands } from "./commands.ts";
import { decide } from "./decide.ts";
import { deltaIds } from "./delta-ids.ts";
import { evolve, RUN_REDUCER_VERSION } from "./evolve.ts";
import { listing } from "./listing.ts";
import { needs } from "./needs.ts";
import { outstanding } from "./outstanding.ts";
import type { RunCommand, RunResult } from "./run-command.ts";
import { initialRunState, type RunState } from "./state.ts";

/** A workflow run: a sequence of steps with branches, or a graph of them, several at a time where nothing says that one must come after another. */
export const runDecider: Decider<RunState, RunCommand, RunResult> = {
  kind: "run",
  reducerVersion: RUN_REDUCER_VERSION,
  initial: initialRunState,
  needs,
  decide,
  evolve,
  outstanding,
  commands,
  listing,
  deltaIds,
};
