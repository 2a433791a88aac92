import { ForgeError } from "@forge/protocol";
import { ErrorCode } from "@forge/protocol/common";
import type { Rejected } from "../decider.ts";
import { conflict } from "./rejections.ts";
import type { TurnState } from "./state.ts";

/** Why a task gets no go-ahead: it has one already, or its turn was asked to stop, so that nothing new may begin. */
export function mayNotStart(turn: TurnState, started: boolean, key: string): Rejected | undefined {
  if (started) return conflict("TASK_STARTED", `The start of task ${key} is recorded already.`, [], { key });
  if (turn.cancel === undefined) return undefined;
  const message = `Turn ${turn.turnId} was asked to stop; settle task ${key} as cancelled.`;
  return { rejection: new ForgeError(ErrorCode.CANCELLED, message, { reason: "TURN_CANCELLING", origin: "control-plane", relatedIds: [turn.turnId] }).detail };
}
