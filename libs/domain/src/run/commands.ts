import { create } from "@bufbuild/protobuf";
import { type Duration, durationFromMs, durationMs } from "@bufbuild/protobuf/wkt";
import { CommandHeaderSchema, StreamKind, StreamRefSchema } from "@forge/protocol/common";
import { type OutgoingCommand, OutgoingCommandSchema, ReportRunEndSchema, StartChildRunSchema } from "@forge/protocol/engine";
import type { Event } from "@forge/protocol/event";
import { type AgentSpec, AgentSpecSchema, CancelTurnRequestSchema, CreateSessionRequestSchema, StartTurnRequestSchema } from "@forge/protocol/session";
import { CancelRunRequestSchema, type RunParent, StartRunRequestSchema, type StepDefinition, type WorkflowDefinition } from "@forge/protocol/workflow";
import { shorten } from "../text.ts";
import { acquireKey, releaseKey } from "./concurrency.ts";
import { askedIn } from "./executions.ts";
import { type StreamCommand, streamCommandId } from "./keys.ts";
import { LABELS_MAX } from "./limits.ts";
import { type Execution, executionAt, type RunState, stepAt } from "./state.ts";
import { childInputs } from "./sub-run.ts";
import { withVariant } from "./variants.ts";
import { withModel } from "./with-model.ts";

/** The label that names the run whose step started a run. */
export const PARENT_LABEL = "parent_run_id";

/** Of CreateSessionRequest.title, by its contract. */
const TITLE_LENGTH_MAX = 256;

/**
 * What a run asks of the streams that work for its steps: an agent step's session is created and its turn started when an attempt begins, a workflow step's
 * run is started; either is cancelled when its execution is asked to stop. A run that has ended tells the one whose step started it.
 */
export function commands(state: RunState, event: Event): readonly OutgoingCommand[] {
  const { payload } = event;
  switch (payload.case) {
    case "stepStarted": {
      const execution = executionAt(state, payload.value.executionIndex);
      if (execution === undefined) return [];
      if (execution.childRunId !== "") return [startChildRun(state, execution)];
      return execution.sessionId === "" ? [] : [createSession(state, execution), startTurn(state, execution)];
    }
    case "runCancelRequested":
    case "runDeadlinePassed":
    case "stepFailed":
      // Asked once, however often people ask, and whatever else goes wrong meanwhile.
      return askedIn(state.executions).flatMap((execution) => (execution.stopSeq === Number(event.seq) ? cancel(state, execution) : []));
    case "runQueued":
      return [acquireKey(state, event.seq)];
    case "runCompleted":
    case "runFailed":
    case "runCancelled":
      return [
        ...(state.concurrencyStreamId === "" ? [] : [releaseKey(state, event.seq)]),
        ...(state.parent === undefined ? [] : [reportEnd(state, state.parent, event)]),
      ];
    default:
      return [];
  }
}

function cancel(state: RunState, execution: Execution): readonly OutgoingCommand[] {
  if (execution.childRunId !== "") return [cancelChildRun(state, execution)];
  return execution.sessionId === "" ? [] : [cancelTurn(state, execution)];
}

function startChildRun(state: RunState, execution: Execution): OutgoingCommand {
  const step = stepAt(state, execution.position);
  const inputs = childInputs(step, execution.input);
  if (step.kind.case !== "workflow" || !inputs.ok) throw new Error(`step ${step.id} of run ${state.runId} starts no run`);
  const request = create(StartRunRequestSchema, {
    header: header(state, execution, "create"),
    definition: boundedBy(step.kind.value.definition, step.timeout),
    inputs: inputs.value,
    labels: childLabels(state),
    queue: state.queue,
    modelOverride: state.modelOverride,
    policy: state.policy,
    overwritePolicy: state.overwritePolicy,
    priority: state.priority,
  });
  const value = create(StartChildRunSchema, {
    request,
    parent: { runId: state.runId, stepId: execution.stepId },
    depth: state.depth + 1,
    heldConcurrencyKeys: [...state.heldKeys],
  });
  return outgoing(state, execution, "create", { case: "startChildRun", value });
}

/** A run that has no room for one label more does without: what started it is on record anyway. */
function childLabels({ labels, runId }: RunState): Record<string, string> {
  const isFull = Object.keys(labels).length >= LABELS_MAX && !Object.hasOwn(labels, PARENT_LABEL);
  return isFull ? { ...labels } : { ...labels, [PARENT_LABEL]: runId };
}

/** The step's timeout is a deadline of the run that it starts. */
function boundedBy(definition: WorkflowDefinition | undefined, timeout: Duration | undefined): WorkflowDefinition | undefined {
  if (definition === undefined || timeout === undefined) return definition;
  const own = definition.deadline;
  return own !== undefined && durationMs(own) <= durationMs(timeout) ? definition : { ...definition, deadline: timeout };
}

function cancelChildRun(state: RunState, execution: Execution): OutgoingCommand {
  const value = create(CancelRunRequestSchema, { header: header(state, execution, "cancel"), runId: execution.childRunId });
  return outgoing(state, execution, "cancel", { case: "cancelRun", value });
}

/** A resumed run ends again, so the end's seq is part of what names it. */
function reportEnd(state: RunState, parent: RunParent, { payload, seq }: Event): OutgoingCommand {
  const output = payload.case === "runCompleted" ? payload.value.output : undefined;
  const error = payload.case === "runFailed" ? payload.value.error : undefined;
  const value = create(ReportRunEndSchema, { stepId: parent.stepId, runId: state.runId, status: state.status, output, error, usage: state.usage });
  return create(OutgoingCommandSchema, {
    source: create(StreamRefSchema, { kind: StreamKind.RUN, id: state.runId }),
    target: create(StreamRefSchema, { kind: StreamKind.RUN, id: parent.runId }),
    commandId: `run-end:${state.runId}:${seq}`,
    command: { case: "reportRunEnd", value },
  });
}

function createSession(state: RunState, execution: Execution): OutgoingCommand {
  const step = stepAt(state, execution.position);
  const value = create(CreateSessionRequestSchema, {
    header: header(state, execution, "create"),
    agent: agentOf(state, step, execution),
    policy: state.policy,
    labels: { run_id: state.runId, step_id: execution.stepId },
    queue: state.queue,
    title: shorten(`${state.workflowId} / ${execution.stepId}`, TITLE_LENGTH_MAX),
    parent: { runId: state.runId, stepId: execution.stepId },
  });
  return outgoing(state, execution, "create", { case: "createSession", value });
}

function startTurn(state: RunState, execution: Execution): OutgoingCommand {
  const value = create(StartTurnRequestSchema, {
    header: header(state, execution, "turn"),
    sessionId: execution.sessionId,
    input: [{ kind: { case: "text", value: { text: execution.prompt } } }],
  });
  return outgoing(state, execution, "turn", { case: "startTurn", value });
}

/** The run never learns the turn's id: from a parent, an empty one names the active turn. */
function cancelTurn(state: RunState, execution: Execution): OutgoingCommand {
  const value = create(CancelTurnRequestSchema, { header: header(state, execution, "cancel"), sessionId: execution.sessionId });
  return outgoing(state, execution, "cancel", { case: "cancelTurn", value });
}

function outgoing(state: RunState, execution: Execution, command: StreamCommand, payload: OutgoingCommand["command"]): OutgoingCommand {
  return create(OutgoingCommandSchema, {
    source: create(StreamRefSchema, { kind: StreamKind.RUN, id: state.runId }),
    target: targetOf(execution),
    commandId: streamCommandId(state.runId, execution, command),
    command: payload,
  });
}

function targetOf({ sessionId, childRunId }: Execution) {
  const [kind, id] = childRunId === "" ? [StreamKind.SESSION, sessionId] : [StreamKind.RUN, childRunId];
  return create(StreamRefSchema, { kind, id });
}

function header(state: RunState, execution: Execution, command: StreamCommand) {
  return create(CommandHeaderSchema, { version: { major: 1, minor: 0 }, commandId: streamCommandId(state.runId, execution, command) });
}

/** The step's agent with the run's model, bounded by the step's timeout. */
function agentOf(state: RunState, step: StepDefinition, { promptVariant }: Execution): AgentSpec {
  const agent = step.kind.case === "agent" ? withVariant(step.kind.value, promptVariant).agent : undefined;
  if (agent === undefined) throw new Error(`step ${step.id} of run ${state.runId} has no agent`);
  const bounds = [step.timeout, agent.budget?.wallTime].flatMap((duration) => (duration === undefined ? [] : [durationMs(duration)]));
  const wallTime = bounds.length === 0 ? undefined : durationFromMs(Math.min(...bounds));
  const budget = wallTime === undefined ? agent.budget : { ...agent.budget, $typeName: "forge.session.v1.Budget" as const, wallTime };
  return create(AgentSpecSchema, { ...withModel(agent, state.modelOverride), budget });
}
