import { ErrorCode, type ForgeError } from "@forge/protocol/common";
import { TurnOutcome } from "@forge/protocol/session";
import { EXIT } from "../exit-code.ts";

/** How a turn ended that nobody watched. */
export interface TurnEnd {
  readonly kind: "completed" | "failed" | "cancelled" | "abandoned";
  readonly outcome: TurnOutcome;
  readonly error?: ForgeError;
  /** Calls that were denied because nobody was there to allow them. */
  readonly unapproved: number;
  /** It was stopped because its time was up. */
  readonly isLate: boolean;
}

/** The exit code of `forge exec`; docs/reference/cli.md lists them. */
export function execExitCode({ kind, outcome, error, unapproved, isLate }: TurnEnd): number {
  if (isLate || outcome === TurnOutcome.BUDGET_WALL_TIME || error?.code === ErrorCode.DEADLINE_EXCEEDED) return EXIT.DEADLINE;
  switch (outcome) {
    case TurnOutcome.TASK_COMPLETED:
      return unapproved > 0 ? EXIT.NEEDS_APPROVAL : EXIT.OK;
    case TurnOutcome.REFUSED:
    case TurnOutcome.DENIED:
    case TurnOutcome.BLOCKED:
      return EXIT.REFUSED;
    case TurnOutcome.BUDGET_MODEL_CALLS:
    case TurnOutcome.BUDGET_TOOL_CALLS:
    case TurnOutcome.BUDGET_TOKENS:
    case TurnOutcome.BUDGET_COST:
    case TurnOutcome.BUDGET_STEPS:
      return EXIT.BUDGET;
    case TurnOutcome.CANCELLED:
      return EXIT.CANCELLED;
    default:
      return kind === "cancelled" ? EXIT.CANCELLED : EXIT.FAILED;
  }
}
