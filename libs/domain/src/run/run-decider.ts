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

/** A workflow run: steps one after the other, with retries and branches, each settled before the next is decided on. */
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
