import { TurnOutcome } from "@forge/protocol/session";
import { expect, it } from "vitest";
import { execExitCode, type TurnEnd } from "./exit-codes.ts";

const code = (outcome: TurnOutcome, end: Partial<TurnEnd> = {}) => execExitCode({ kind: "completed", outcome, unapproved: 0, isLate: false, ...end });

it("tells how a turn ended, each way by another number", () => {
  expect(code(TurnOutcome.TASK_COMPLETED)).toBe(0);
  expect(code(TurnOutcome.TASK_FAILED, { kind: "failed" })).toBe(1);
  expect(code(TurnOutcome.OUTPUT_INVALID)).toBe(1);
  for (const outcome of [TurnOutcome.REFUSED, TurnOutcome.DENIED, TurnOutcome.BLOCKED]) expect(code(outcome)).toBe(6);
  for (const outcome of [TurnOutcome.BUDGET_COST, TurnOutcome.BUDGET_STEPS, TurnOutcome.BUDGET_TOKENS]) expect(code(outcome)).toBe(7);
  expect(code(TurnOutcome.BUDGET_WALL_TIME)).toBe(8);
  expect(code(TurnOutcome.UNSPECIFIED, { kind: "cancelled", isLate: true })).toBe(8);
  expect(code(TurnOutcome.TASK_COMPLETED, { unapproved: 1 })).toBe(9);
  expect(code(TurnOutcome.UNSPECIFIED, { kind: "cancelled" })).toBe(130);
});
