import type { Scenario } from "../scenario.ts";
import { SCENARIOS as APPROVALS } from "./approvals.ts";
import { SCENARIOS as ARTIFACTS } from "./artifacts.ts";
import { SCENARIOS as COMMANDS } from "./commands.ts";
import { SCENARIOS as MISBEHAVIOUR } from "./misbehaviour.ts";
import { SCENARIOS as PAYLOADS } from "./payloads.ts";
import { SCENARIOS as RUNS } from "./runs.ts";
import { SCENARIOS as SCHEDULES } from "./schedules.ts";
import { SCENARIOS as SECRETS } from "./secrets.ts";
import { SCENARIOS as SUB_AGENTS } from "./sub-agents.ts";
import { SCENARIOS as SUBSCRIPTIONS } from "./subscriptions.ts";
import { SCENARIOS as TURNS } from "./turns.ts";
import { SCENARIOS as VERSIONS } from "./versions.ts";

/** Every promise, in the order of the table. */
export const SCENARIOS: readonly Scenario[] = [
  ...COMMANDS,
  ...SUBSCRIPTIONS,
  ...TURNS,
  ...RUNS,
  ...APPROVALS,
  ...SUB_AGENTS,
  ...ARTIFACTS,
  ...SCHEDULES,
  ...PAYLOADS,
  ...SECRETS,
  ...VERSIONS,
  ...MISBEHAVIOUR,
];
