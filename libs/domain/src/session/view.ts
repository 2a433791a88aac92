import { create } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { type OpenCall, OpenCallSchema, type Session, SessionSchema, type Turn, TurnOutcome, TurnSchema } from "@forge/protocol/session";
import { type SessionState, type TurnState, turnStatus } from "./state.ts";

/** The session as clients see it. `seq` is the stream's newest, deltas included. */
export function sessionView(state: SessionState, seq: number): Session {
  return create(SessionSchema, {
    sessionId: state.sessionId,
    seq: BigInt(seq),
    status: state.status,
    agent: state.agent,
    policy: state.policy,
    labels: { ...state.labels },
    title: state.title,
    queue: state.queue,
    createdAt: timestampFromMs(state.createdAtMs),
    updatedAt: timestampFromMs(state.updatedAtMs),
    turn: state.turn === undefined ? undefined : turnView(state.turn, state.agent?.model ?? ""),
    turnCount: state.turnCount,
    usage: state.usage,
    parent: state.parent,
  });
}

function turnView(turn: TurnState, model: string): Turn {
  return create(TurnSchema, {
    turnId: turn.turnId,
    status: turnStatus(turn),
    outcome: turn.end?.outcome ?? TurnOutcome.UNSPECIFIED,
    startedAt: timestampFromMs(turn.startedAtMs),
    endedAt: turn.end === undefined ? undefined : timestampFromMs(turn.end.endedAtMs),
    openCalls: openCalls(turn, model),
    usage: turn.usage,
    error: turn.end?.error,
    paused: turn.end === undefined && turn.paused,
  });
}

function openCalls(turn: TurnState, model: string): OpenCall[] {
  const cancellationPending = turn.cancel !== undefined;
  const calls = turn.toolCalls.map((call) =>
    create(OpenCallSchema, {
      id: call.toolCallId,
      name: call.tool,
      started: call.started,
      cancellationPending,
      approvalPending: call.approval !== undefined,
      inputPending: call.input !== undefined,
      inputId: call.input?.inputId,
      question: call.input?.question,
    }),
  );
  if (turn.modelCall === undefined) return calls;
  const { modelCallId, started } = turn.modelCall;
  return [create(OpenCallSchema, { id: modelCallId, name: model, isModelCall: true, started, cancellationPending }), ...calls];
}
