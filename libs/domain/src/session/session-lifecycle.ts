import { create } from "@bufbuild/protobuf";
import { SessionClosedSchema, SessionCreatedSchema } from "@forge/protocol/event";
import { CloseSessionResponseSchema, type CreateSessionRequest, CreateSessionResponseSchema, SessionStatus } from "@forge/protocol/session";
import type { Rejected } from "../decider.ts";
import { sessionBusy, sessionClosed, sessionExists, sessionMissing, turnActive } from "./rejections.ts";
import type { SessionRecorder, SessionResult } from "./session-command.ts";
import { activeTurn } from "./state.ts";
import { validateSession } from "./validate-session.ts";

/** Creates the session. That only a run's step may set `parent`, and only a tool call `parent_call`, is checked where the caller is known, before the command comes here. */
export function createSession(recorder: SessionRecorder, request: CreateSessionRequest): SessionResult | Rejected {
  const sessionId = recorder.context.streamId;
  if (recorder.state.status !== SessionStatus.UNSPECIFIED) return sessionExists(sessionId);
  const wrong = validateSession(request);
  if (wrong !== undefined) return wrong;
  const { agent, policy, labels, title, parent, parentCall } = request;
  recorder.record({
    payload: {
      case: "sessionCreated",
      value: create(SessionCreatedSchema, { agent, policy, labels, title, parent, parentCall, queue: request.queue || "default" }),
    },
    sensitive: true,
  });
  return create(CreateSessionResponseSchema, { sessionId });
}

export function closeSession(recorder: SessionRecorder): SessionResult | Rejected {
  const { state } = recorder;
  const sessionId = recorder.context.streamId;
  if (state.status === SessionStatus.UNSPECIFIED) return sessionMissing(sessionId);
  if (state.status === SessionStatus.CLOSED) return sessionClosed(sessionId);
  const turn = activeTurn(state);
  if (turn !== undefined) return turnActive(sessionId, turn.turnId);
  const busy = state.undo === undefined ? undefined : sessionBusy(state);
  if (busy !== undefined) return busy;
  recorder.record({ payload: { case: "sessionClosed", value: create(SessionClosedSchema) } });
  return create(CloseSessionResponseSchema);
}
