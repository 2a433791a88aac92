import { Option } from "commander";
import { wholeNumber } from "./parsers.ts";

/** Options of what changes something. */
export interface CommandOptions {
  /** Absent: a fresh one. */
  readonly commandId?: string;
  readonly expectedSeq?: number;
}

/** Adds them to a command. */
export function commandOptions(): readonly [Option, Option] {
  return [
    new Option("--command-id <id>", "sent again with the same id, it has one effect and the same answer (default: a fresh one)"),
    new Option("--expected-seq <seq>", "only if this is the last event of the run or session now").argParser(wholeNumber(0, Number.MAX_SAFE_INTEGER)),
  ];
}

/** The turn that a command is about, for programs: a person means the one that is active. */
export function turnOption(): Option {
  return new Option("--turn <id>", "the turn; refused where another is active (default: the last one)");
}
