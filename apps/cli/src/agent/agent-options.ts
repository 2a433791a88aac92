import type { ToolMode } from "@forge/protocol/tool";
import { type Command, InvalidArgumentError, Option } from "commander";
import { collect, oneOf, parseDuration, wholeNumber } from "../arguments/parsers.ts";

/** How much an agent may do, as it is typed. */
export type ModeName = Exclude<keyof typeof ToolMode, "UNSPECIFIED">;

/** Options that say how an agent works; of a new session. */
export interface AgentOptions {
  readonly model?: string;
  readonly tool?: readonly string[];
  readonly system?: string;
  readonly mode?: ModeName;
  /** In US dollars, of one turn. */
  readonly maxCost?: number;
  readonly maxSteps?: number;
  readonly maxTokens?: number;
  /** Of one turn, in milliseconds. */
  readonly deadline?: number;
  readonly fallbackModel?: readonly string[];
}

export const MODE_NAMES: readonly ModeName[] = ["PLAN", "ACT", "BYPASS"];

/** A sum in US dollars: 1, 0.50, $2. */
function parseCost(text: string): number {
  const match = /^\$?(\d{1,6}(?:\.\d{1,6})?)$/.exec(text.trim());
  if (match === null) throw new InvalidArgumentError("Write a sum in US dollars, for example 1.00.");
  return Number(match[1]);
}

/** Adds them to a command. */
export function addAgentOptions(command: Command): Command {
  return command
    .option("--model <provider/model>", "what answers (default: FORGE_MODEL, the project's default_model, what your keys are for, else the demo model)")
    .addOption(
      new Option("--mode <mode>", "plan: only reads; act: you are asked; bypass: nothing is asked, in a trusted workspace only").argParser(oneOf(MODE_NAMES)),
    )
    .option("--tool <name>", "a tool that it may use, or a prefix and *; may be repeated (default: those of a coding agent)", collect)
    .option("--system <text>", "the system prompt (default: that of a coding agent)")
    .addOption(new Option("--max-cost <dollars>", "ends a turn that has cost so much").argParser(parseCost))
    .addOption(new Option("--max-steps <number>", "ends a turn after so many steps").argParser(wholeNumber(1, 1_000)))
    .addOption(new Option("--max-tokens <number>", "ends a turn that has used so many tokens").argParser(wholeNumber(1, 1_000_000_000)))
    .addOption(new Option("--deadline <duration>", "ends a turn that has taken so long").argParser(parseDuration))
    .option("--fallback-model <provider/model>", "answers where the one before fails for good; may be repeated", collect);
}
