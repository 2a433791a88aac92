import { create } from "@bufbuild/protobuf";
import { durationMs, timestampFromMs } from "@bufbuild/protobuf/wkt";
import { CheckpointKind, MessageAddedSchema, TurnStartedSchema } from "@forge/protocol/event";
import { MessageSchema, Role, SessionStatus, type StartTurnRequest, StartTurnResponseSchema } from "@forge/protocol/session";
import type { ToolSpec } from "@forge/protocol/tool";
import type { Rejected } from "../decider.ts";
import { ASK_TOOL } from "./ask-tool.ts";
import { checkpoint } from "./checkpoint.ts";
import { sessionClosed, sessionMissing, turnActive } from "./rejections.ts";
import type { SessionRecorder, SessionResult } from "./session-command.ts";
import { activeTurn } from "./state.ts";
import { validateInput } from "./validate-input.ts";

/** Longer than an approval waits by default. */
const WALL_TIME_MS_DEFAULT = 25 * 3_600_000;

export function startTurn(recorder: SessionRecorder, request: StartTurnRequest): SessionResult | Rejected {
  const { state, context } = recorder;
  if (state.status === SessionStatus.UNSPECIFIED) return sessionMissing(context.streamId);
  if (state.status === SessionStatus.CLOSED) return sessionClosed(context.streamId);
  const active = activeTurn(state);
  if (active !== undefined) return turnActive(context.streamId, active.turnId);
  const wrong = validateInput(request.input);
  if (wrong !== undefined) return wrong;
  const turnId = context.newId();
  const wallTime = state.agent?.budget?.wallTime;
  const deadlineAt = timestampFromMs(context.nowMs + (wallTime === undefined ? WALL_TIME_MS_DEFAULT : durationMs(wallTime)));
  const tools = catalogue(state.agent?.tools ?? [], context.tools(state.queue));
  recorder.record({ turnId, payload: { case: "turnStarted", value: create(TurnStartedSchema, { tools, deadlineAt }) } });
  const message = create(MessageSchema, { role: Role.USER, parts: request.input, turnId });
  recorder.record({ turnId, payload: { case: "messageAdded", value: create(MessageAddedSchema, { message }) }, sensitive: true });
  checkpoint(recorder, turnId, CheckpointKind.AFTER_USER_INPUT);
  return create(StartTurnResponseSchema, { turnId });
}

/** The agent's tools that somebody serves, in the agent's order; the control plane itself is one who does. A call of one that nobody serves will fail and say so. */
function catalogue(names: readonly string[], served: readonly ToolSpec[]): ToolSpec[] {
  return names.flatMap((name) => (name === ASK_TOOL.name ? ASK_TOOL : (served.find((tool) => tool.name === name) ?? [])));
}
