import { create } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { type OpenCall, OpenCallSchema, type Session, SessionSchema, type Turn, TurnOutcome, TurnSchema } from "@forge/protocol/session";
import { estimatedTokens, windowTokens } from "./compaction/context-use.ts";
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
    turn: state.turn === undefined ? undefined : turnView(state.turn),
    turnCount: state.turnCount,
    usage: state.usage,
    parent: state.parent,
    parentCall: state.parentCall,
    context: { tokens: BigInt(estimatedTokens(state.context)), windowTokens: windowTokens(state) },
    plan: state.plan,
    compactionId: state.compacting?.compactionId,
    grants: [...state.grants],
    undoId: state.undo?.undoId,
    changeCount: state.changeCount,
  });
}

function turnView(turn: TurnState): Turn {
  return create(TurnSchema, {
    turnId: turn.turnId,
    status: turnStatus(turn),
    outcome: turn.end?.outcome ?? TurnOutcome.UNSPECIFIED,
    startedAt: timestampFromMs(turn.startedAtMs),
    endedAt: turn.end === undefined ? undefined : timestampFromMs(turn.end.endedAtMs),
    openCalls: openCalls(turn),
    usage: turn.usage,
    error: turn.end?.error,
    paused: turn.end === undefined && turn.paused,
  });
}

function openCalls(turn: TurnState): OpenCall[] {
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
  const { modelCallId, model, started } = turn.modelCall;
  return [create(OpenCallSchema, { id: modelCallId, name: model, isModelCall: true, started, cancellationPending }), ...calls];
}
