import { timestampMs } from "@bufbuild/protobuf/wkt";
import { ErrorCode } from "@forge/protocol/common";
import { type Event, FinishReason, type ModelCompleted } from "@forge/protocol/event";
import { answerOf } from "./answer.ts";
import type { HeldAnswer, StepsState } from "./loop-state.ts";
import type { ModelCallState, SessionState, TurnState } from "./state.ts";

type ModelPayload = Extract<
  Event["payload"],
  { case: "modelRequested" | "modelStarted" | "modelAttemptFailed" | "modelCompleted" | "modelFailed" | "modelCancelled" }
>;

/** The turn's one open model call. */
export function evolveModelCall(state: SessionState, turn: TurnState, event: Event, payload: ModelPayload): TurnState {
  switch (payload.case) {
    case "modelRequested": {
      const { model, conversationThroughSeq } = payload.value;
      return {
        ...turn,
        model,
        modelCallCount: turn.modelCallCount + 1,
        steered: false,
        failure: undefined,
        requestSeq: Number(conversationThroughSeq),
        steps: nextStep(turn.steps, Number(conversationThroughSeq)),
        hooks: { ...turn.hooks, preNext: 0, goOn: false, answer: undefined },
        modelCall: {
          modelCallId: event.modelCallId,
          model,
          conversationThroughSeq,
          dispatched: true,
          started: false,
          failedAttempts: 0,
          lostLeases: 0,
          dueAtMs: 0,
        },
      };
    }
    case "modelStarted":
      return changed(turn, (call) => ({ ...call, started: true }));
    case "modelAttemptFailed": {
      const { error, nextAttemptAt } = payload.value;
      return changed(turn, (call) => ({
        ...call,
        dispatched: !turn.paused,
        started: false,
        failedAttempts: call.failedAttempts + 1,
        lostLeases: call.lostLeases + (error?.code === ErrorCode.WORKER_LOST ? 1 : 0),
        dueAtMs: nextAttemptAt === undefined ? 0 : timestampMs(nextAttemptAt),
      }));
    }
    case "modelCompleted":
      return {
        ...turn,
        modelCall: undefined,
        answer: answerOf(payload.value, isAwaited(state)),
        steps: { ...turn.steps, isAnswered: true, overflowed: false },
        hooks: { ...turn.hooks, answer: heldAnswer(payload.value, Number(event.seq)) },
      };
    case "modelFailed":
      return { ...turn, modelCall: undefined, failure: payload.value.error, steps: { ...turn.steps, callFailed: true } };
    case "modelCancelled":
      return { ...turn, modelCall: undefined };
    default:
      return payload satisfies never;
  }
}

/** A step is an answer with the results of its calls; a call that no answer came of is none. */
function nextStep(steps: StepsState, throughSeq: number): StepsState {
  if (!steps.isAnswered) return { ...steps, callFailed: false };
  return { ...steps, beforeSeq: steps.lastSeq, lastSeq: throughSeq, isAnswered: false, callFailed: false };
}

/** A refused answer is left out of the conversation, so its calls are never made and no hook is asked. */
function heldAnswer({ parts, finishReason }: ModelCompleted, seq: number): HeldAnswer | undefined {
  if (finishReason === FinishReason.CONTENT_FILTER) return undefined;
  const calls = parts.flatMap((part) => (part.kind.case === "toolCall" ? part.kind.value : []));
  const isCut = finishReason === FinishReason.LENGTH || finishReason === FinishReason.ERROR;
  return { seq, next: 0, isCut, calls, requestedCount: 0, denied: [] };
}

function isAwaited({ parent, parentCall, agent }: SessionState): boolean {
  return parent !== undefined || parentCall !== undefined || (agent?.outputSchemaJson ?? "") !== "";
}

function changed(turn: TurnState, change: (call: ModelCallState) => ModelCallState): TurnState {
  return turn.modelCall === undefined ? turn : { ...turn, modelCall: change(turn.modelCall) };
}
