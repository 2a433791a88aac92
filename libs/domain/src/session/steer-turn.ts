import { create } from "@bufbuild/protobuf";
import { CheckpointKind, TurnSteeredSchema } from "@forge/protocol/event";
import { MessageSchema, Role, type SteerTurnRequest, SteerTurnResponseSchema } from "@forge/protocol/session";
import type { Rejected } from "../decider.ts";
import { checkpoint } from "./checkpoint.ts";
import { namedTurn } from "./named-turn.ts";
import { tooManySteers, turnCancelling } from "./rejections.ts";
import type { SessionRecorder, SessionResult } from "./session-command.ts";
import { validateInput } from "./validate-input.ts";

/** Messages that wait for the hooks that they have to pass. */
const UNHEARD_MAX = 64;

/** What a person says while the turn goes on. The model reads it with its next call, which follows even where the one under way would have been the last. */
export function steerTurn(recorder: SessionRecorder, request: SteerTurnRequest): SessionResult | Rejected {
  const named = namedTurn(recorder, request.turnId);
  if ("rejection" in named) return named;
  const { turnId, cancel } = named.turn;
  if (cancel !== undefined) return turnCancelling(recorder.context.streamId, turnId);
  if (named.turn.hooks.unheard.length >= UNHEARD_MAX) return tooManySteers(turnId);
  const wrong = validateInput(request.input);
  if (wrong !== undefined) return wrong;
  const message = create(MessageSchema, { role: Role.USER, parts: request.input, turnId });
  recorder.record({ turnId, payload: { case: "turnSteered", value: create(TurnSteeredSchema, { message }) }, sensitive: true });
  checkpoint(recorder, turnId, CheckpointKind.AFTER_USER_INPUT);
  return create(SteerTurnResponseSchema);
}
