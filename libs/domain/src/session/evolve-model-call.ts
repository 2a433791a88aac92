import { timestampMs } from "@bufbuild/protobuf/wkt";
import { ErrorCode } from "@forge/protocol/common";
import type { Event } from "@forge/protocol/event";
import { answerOf } from "./answer.ts";
import type { ModelCallState, TurnState } from "./state.ts";

type ModelPayload = Extract<
  Event["payload"],
  { case: "modelRequested" | "modelStarted" | "modelAttemptFailed" | "modelCompleted" | "modelFailed" | "modelCancelled" }
>;

/** The turn's one open model call. */
export function evolveModelCall(turn: TurnState, modelCallId: string, payload: ModelPayload, hasParent: boolean): TurnState {
  switch (payload.case) {
    case "modelRequested":
      return {
        ...turn,
        modelCallCount: turn.modelCallCount + 1,
        steered: false,
        modelCall: {
          modelCallId,
          conversationThroughSeq: payload.value.conversationThroughSeq,
          dispatched: true,
          started: false,
          failedAttempts: 0,
          lostLeases: 0,
          dueAtMs: 0,
        },
      };
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
      return { ...turn, modelCall: undefined, answer: answerOf(payload.value, hasParent) };
    case "modelFailed":
      return { ...turn, modelCall: undefined, failure: payload.value.error };
    case "modelCancelled":
      return { ...turn, modelCall: undefined };
    default:
      return payload satisfies never;
  }
}

function changed(turn: TurnState, change: (call: ModelCallState) => ModelCallState): TurnState {
  return turn.modelCall === undefined ? turn : { ...turn, modelCall: change(turn.modelCall) };
}
