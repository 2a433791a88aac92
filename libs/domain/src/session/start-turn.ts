import { create } from "@bufbuild/protobuf";
import { durationMs, timestampFromMs } from "@bufbuild/protobuf/wkt";
import { CheckpointKind, MessageAddedSchema, TurnStartedSchema } from "@forge/protocol/event";
import { MessageSchema, Role, SessionStatus, type StartTurnRequest, StartTurnResponseSchema } from "@forge/protocol/session";
import type { ToolSpec } from "@forge/protocol/tool";
import type { Rejected } from "../decider.ts";
import { checkpoint } from "./checkpoint.ts";
import { controlTool } from "./control-tools/control-tool.ts";
import { sessionBusy, sessionClosed, sessionMissing, turnActive } from "./rejections.ts";
import type { SessionRecorder, SessionResult } from "./session-command.ts";
import { activeTurn } from "./state.ts";
import { subAgentTools } from "./sub-agents/sub-agent.ts";
import { contextMessages, validateContext } from "./turn-context.ts";
import { validateInput } from "./validate-input.ts";

/** Longer than an approval waits by default. */
const WALL_TIME_MS_DEFAULT = 25 * 3_600_000;

export function startTurn(recorder: SessionRecorder, request: StartTurnRequest): SessionResult | Rejected {
  const { state, context } = recorder;
  if (state.status === SessionStatus.UNSPECIFIED) return sessionMissing(context.streamId);
  if (state.status === SessionStatus.CLOSED) return sessionClosed(context.streamId);
  const active = activeTurn(state);
  if (active !== undefined) return turnActive(context.streamId, active.turnId);
  const busy = state.undo === undefined ? undefined : sessionBusy(state);
  if (busy !== undefined) return busy;
  const wrong = validateInput(request.input) ?? validateContext(request);
  if (wrong !== undefined) return wrong;
  const turnId = context.newId();
  const wallTime = state.agent?.budget?.wallTime;
  const deadlineAt = timestampFromMs(context.nowMs + (wallTime === undefined ? WALL_TIME_MS_DEFAULT : durationMs(wallTime)));
  const served = catalogue(state.agent?.tools ?? [], context.tools(state.queue));
  const tools = [...served, ...subAgentTools(context, state.agent, state.parentCall)];
  recorder.record({
    turnId,
    payload: { case: "turnStarted", value: create(TurnStartedSchema, { tools, deadlineAt, contextSources: request.contextSources }) },
  });
  for (const parts of contextMessages(request.context)) {
    const message = create(MessageSchema, { role: Role.USER, parts, turnId, ephemeral: true });
    recorder.record({ turnId, payload: { case: "messageAdded", value: create(MessageAddedSchema, { message }) }, sensitive: true });
  }
  const message = create(MessageSchema, { role: Role.USER, parts: request.input, turnId });
  recorder.record({ turnId, payload: { case: "messageAdded", value: create(MessageAddedSchema, { message }) }, sensitive: true });
  checkpoint(recorder, turnId, CheckpointKind.AFTER_USER_INPUT);
  return create(StartTurnResponseSchema, { turnId });
}

/**
 * The agent's tools that somebody serves, in the agent's order; the control plane itself is one who does. A prefix stands for all that are served under it. A
 * call of one that nobody serves will fail and say so.
 */
function catalogue(names: readonly string[], served: readonly ToolSpec[]): ToolSpec[] {
  const found = names.flatMap((name) => {
    if (name.endsWith("*")) return served.filter((tool) => tool.name.startsWith(name.slice(0, -1)));
    return controlTool(name)?.spec ?? served.find((tool) => tool.name === name) ?? [];
  });
  return [...new Map(found.map((tool) => [tool.name, tool])).values()];
}
