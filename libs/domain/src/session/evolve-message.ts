import type { Event } from "@forge/protocol/event";
import { type Message, Role } from "@forge/protocol/session";
import { heard } from "./evolve-turn.ts";
import { activeTurn, type SessionState } from "./state.ts";

/** A message beside the model's own: what a person begins a turn with, what the host found for it, or what the control plane has to say in it. */
export function evolveMessage(state: SessionState, event: Event, message: Message | undefined): SessionState {
  const turn = activeTurn(state);
  if (turn === undefined || event.turnId !== turn.turnId || message === undefined) return state;
  if (!message.ephemeral) return message.role === Role.USER ? { ...state, turn: heard(state, turn, event) } : state;
  // After an answer, the one who speaks is the control plane: the answer did not match the agent's schema.
  if (!turn.steps.isAnswered) return state;
  const hooks = { ...turn.hooks, repairs: turn.hooks.repairs + 1, goOn: true };
  return { ...state, turn: { ...turn, extraRounds: turn.extraRounds + 1, hooks } };
}
