import { create } from "@bufbuild/protobuf";
import { durationFromMs, durationMs } from "@bufbuild/protobuf/wkt";
import { CommandHeaderSchema, StreamKind, StreamRefSchema } from "@forge/protocol/common";
import { type OutgoingCommand, OutgoingCommandSchema } from "@forge/protocol/engine";
import type { Event } from "@forge/protocol/event";
import { type AgentSpec, AgentSpecSchema, CancelTurnRequestSchema, CreateSessionRequestSchema, StartTurnRequestSchema } from "@forge/protocol/session";
import type { StepDefinition } from "@forge/protocol/workflow";
import { shorten } from "../text.ts";
import { type SessionCommand, sessionCommandId } from "./keys.ts";
import { type CurrentStep, type RunState, stepAt } from "./state.ts";

/** Of CreateSessionRequest.title, by its contract. */
const TITLE_LENGTH_MAX = 256;

/** The commands to an agent step's session: create it and start its turn when an attempt begins, cancel the turn when the run is asked to stop. */
export function commands(state: RunState, event: Event): readonly OutgoingCommand[] {
  const { current } = state;
  if (current === undefined || current.sessionId === "") return [];
  switch (event.payload.case) {
    case "stepStarted":
      return [createSession(state, current), startTurn(state, current)];
    case "runCancelRequested":
      // Asked once, however often people ask.
      return state.cancelRequestCount === 1 ? [cancelTurn(state, current)] : [];
    default:
      return [];
  }
}

function createSession(state: RunState, current: CurrentStep): OutgoingCommand {
  const step = stepAt(state, current.position);
  const value = create(CreateSessionRequestSchema, {
    header: header(state, current, "create"),
    agent: agentOf(state, step),
    policy: state.policy,
    labels: { run_id: state.runId, step_id: current.stepId },
    queue: state.queue,
    title: shorten(`${state.workflowId} / ${current.stepId}`, TITLE_LENGTH_MAX),
    parent: { runId: state.runId, stepId: current.stepId },
  });
  return outgoing(state, current, "create", { case: "createSession", value });
}

function startTurn(state: RunState, current: CurrentStep): OutgoingCommand {
  const value = create(StartTurnRequestSchema, {
    header: header(state, current, "turn"),
    sessionId: current.sessionId,
    input: [{ kind: { case: "text", value: { text: current.prompt } } }],
  });
  return outgoing(state, current, "turn", { case: "startTurn", value });
}

/** The run never learns the turn's id: from a parent, an empty one names the active turn. */
function cancelTurn(state: RunState, current: CurrentStep): OutgoingCommand {
  const value = create(CancelTurnRequestSchema, { header: header(state, current, "cancel"), sessionId: current.sessionId });
  return outgoing(state, current, "cancel", { case: "cancelTurn", value });
}

function outgoing(state: RunState, current: CurrentStep, command: SessionCommand, payload: OutgoingCommand["command"]): OutgoingCommand {
  return create(OutgoingCommandSchema, {
    source: create(StreamRefSchema, { kind: StreamKind.RUN, id: state.runId }),
    target: create(StreamRefSchema, { kind: StreamKind.SESSION, id: current.sessionId }),
    commandId: sessionCommandId(state.runId, current, command),
    command: payload,
  });
}

function header(state: RunState, current: CurrentStep, command: SessionCommand) {
  return create(CommandHeaderSchema, { version: { major: 1, minor: 0 }, commandId: sessionCommandId(state.runId, current, command) });
}

/** The step's agent with the run's model, bounded by the step's timeout. */
function agentOf(state: RunState, step: StepDefinition): AgentSpec {
  if (step.kind.case !== "agent" || step.kind.value.agent === undefined) throw new Error(`step ${step.id} of run ${state.runId} has no agent`);
  const { agent } = step.kind.value;
  const bounds = [step.timeout, agent.budget?.wallTime].flatMap((duration) => (duration === undefined ? [] : [durationMs(duration)]));
  const wallTime = bounds.length === 0 ? undefined : durationFromMs(Math.min(...bounds));
  const budget = wallTime === undefined ? agent.budget : { ...agent.budget, $typeName: "forge.session.v1.Budget" as const, wallTime };
  return create(AgentSpecSchema, { ...agent, model: state.modelOverride || agent.model, budget });
}
