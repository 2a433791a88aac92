import { timestampMs } from "@bufbuild/protobuf/wkt";
import type { Event, HookCompleted, HookEdit } from "@forge/protocol/event";
import { type AgentSpec, HookAt } from "@forge/protocol/session";
import { announcesAction } from "../announces-action.ts";
import { keptText } from "../answer.ts";
import type { HooksState } from "../loop-state.ts";
import type { SessionState, TurnState } from "../state.ts";
import { nextHook } from "./hook-points.ts";
import { REFLEXION, TOOL_ENFORCEMENT } from "./shipped-hooks.ts";

type HookPayload = Extract<Event["payload"], { case: "hookRequested" | "hookCompleted" | "hookFailed" }>;

/** The turn's one open call of a hook, and what hooks change. */
export function evolveHook(state: SessionState, turn: TurnState, event: Event, payload: HookPayload): TurnState {
  switch (payload.case) {
    case "hookRequested": {
      const { hookCallId, hook, at, index } = payload.value;
      const aboutSeq = Number(payload.value.aboutSeq);
      const requestedAtMs = event.occurredAt === undefined ? 0 : timestampMs(event.occurredAt);
      // The point's first hook sees the message, or the answer, that it is about as the last one; those after it see what the hooks before them made of it.
      const isFirst = nextHook(state.agent, at, 0)?.index === index;
      const throughSeq = at === HookAt.PRE_LLM || !isFirst ? Number(event.seq) - 1 : aboutSeq;
      return { ...turn, hooks: { ...turn.hooks, call: { hookCallId, hook, at, index, aboutSeq, throughSeq, requestedAtMs } } };
    }
    case "hookCompleted": {
      const passed = { ...turn, hooks: hookPassed(state.agent, turn.hooks, payload.value) };
      return payload.value.edits.reduce((edited, edit) => applyEdit(edited, payload.value, edit), noteShipped(passed, payload.value));
    }
    case "hookFailed": {
      const hooks = hookPassed(state.agent, turn.hooks, payload.value);
      // After the model has answered, a hook that fails keeps nobody from going on.
      return payload.value.at === HookAt.POST_LLM ? { ...turn, hooks } : { ...turn, hooks, failure: payload.value.error };
    }
    default:
      return payload satisfies never;
  }
}

/** The place where the point's hooks go on. */
function hookPassed(agent: AgentSpec | undefined, hooks: HooksState, { at, index }: Pick<HookCompleted, "at" | "index">): HooksState {
  const closed = { ...hooks, call: undefined };
  switch (at) {
    case HookAt.USER_MESSAGE:
      if (nextHook(agent, at, index + 1) !== undefined) return { ...closed, userNext: index + 1 };
      return { ...closed, unheard: hooks.unheard.slice(1), userNext: 0 };
    case HookAt.PRE_LLM:
      return { ...closed, preNext: index + 1 };
    default:
      return hooks.answer === undefined ? closed : { ...closed, answer: { ...hooks.answer, next: index + 1 } };
  }
}

/** What the shipped hooks remember of themselves. */
function noteShipped(turn: TurnState, { hook }: HookCompleted): TurnState {
  if (hook === TOOL_ENFORCEMENT) return { ...turn, hooks: { ...turn.hooks, nudges: turn.hooks.nudges + 1 } };
  return hook === REFLEXION ? { ...turn, hooks: { ...turn.hooks, failuresInRow: 0 } } : turn;
}

function applyEdit(turn: TurnState, { at, hook }: HookCompleted, edit: HookEdit): TurnState {
  const { kind } = edit;
  switch (kind.case) {
    case "block":
      return { ...turn, hooks: { ...turn.hooks, blocked: kind.value } };
    case "goOn":
      if (!kind.value || turn.hooks.goOn) return turn;
      return { ...turn, extraRounds: turn.extraRounds + 1, hooks: { ...turn.hooks, goOn: true } };
    case "replaceText": {
      if (at !== HookAt.POST_LLM || turn.answer === undefined) return turn;
      const text = keptText(kind.value, turn.answer.isWhole);
      return { ...turn, answer: { ...turn.answer, text, announcesAction: announcesAction(kind.value) } };
    }
    case "denyCall": {
      const { answer } = turn.hooks;
      if (answer === undefined) return turn;
      const { toolCallId, reason } = kind.value;
      return { ...turn, hooks: { ...turn.hooks, answer: { ...answer, denied: [...answer.denied, { toolCallId, reason, hook }] } } };
    }
    case "addMessage":
    case undefined:
      return turn;
    default:
      return kind satisfies never;
  }
}
