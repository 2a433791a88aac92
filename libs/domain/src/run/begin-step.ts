import { create } from "@bufbuild/protobuf";
import type { ForgeError, Value } from "@forge/protocol/common";
import { StepAttemptStartedSchema, StepStartedSchema, ToolRequestedSchema } from "@forge/protocol/event";
import type { AgentStep, StepDefinition, ToolStep } from "@forge/protocol/workflow";
import type { Context } from "../decider.ts";
import type { TaskStarted } from "../task.ts";
import { sessionCommandId } from "./keys.ts";
import { renderPrompt } from "./prompt.ts";
import { type RunRecorder, record } from "./recorder.ts";
import { type CurrentStep, type RunState, type StepCall, stepAt } from "./state.ts";
import { stepInput } from "./step-input.ts";
import { stepTypeOf } from "./step-type.ts";
import { grant, servedTool, toolArguments } from "./tool-call.ts";

/**
 * Decides on an execution of a step: its input is bound, and with it what is to be dispatched. Returns why it has failed at once, where its input can't be
 * built or nobody serves its tool; it has been recorded as started then, too.
 */
export function beginStep(run: RunRecorder, position: number): ForgeError | undefined {
  const step = stepAt(run.state, position);
  const input = stepInput(run.state, position, run.context);
  if (!input.ok) {
    recordStart(run, position, {});
    return input.error;
  }
  switch (step.kind.case) {
    case "agent":
      return beginAgent(run, position, step, step.kind.value, input.value);
    case "tool":
      return beginTool(run, position, step, step.kind.value, input.value);
    case "function":
      recordStart(run, position, input.value);
      return undefined;
    case undefined:
      throw new Error(`step ${step.id} of run ${run.state.runId} has no kind`);
  }
}

function beginAgent(run: RunRecorder, position: number, step: StepDefinition, agent: AgentStep, input: Record<string, Value>): ForgeError | undefined {
  const prompt = renderPrompt(run.state, step, agent, input, run.context);
  if (!prompt.ok) {
    recordStart(run, position, input);
    return prompt.error;
  }
  const sessionId = attemptSessionId(run.state, { executionIndex: run.state.executionCount, attempt: 1 }, run.context);
  recordStart(run, position, input, { sessionId, prompt: prompt.value });
  return undefined;
}

/** The session of an attempt. No client's create can make a stream of this id: theirs derive from other parts. */
function attemptSessionId(state: RunState, attempt: Pick<CurrentStep, "executionIndex" | "attempt">, context: Context): string {
  return context.deriveId("step-session", sessionCommandId(state.runId, attempt, "create"));
}

function beginTool(run: RunRecorder, position: number, step: StepDefinition, { tool }: ToolStep, input: Record<string, Value>): ForgeError | undefined {
  const spec = servedTool(run.state, step, tool, run.context);
  const argumentsJson = toolArguments(step, input);
  if (!spec.ok || !argumentsJson.ok) {
    recordStart(run, position, input);
    return spec.ok ? (argumentsJson.ok ? undefined : argumentsJson.error) : spec.error;
  }
  const toolCallId = run.context.newId();
  const decision = grant(run.state, step, spec.value, argumentsJson.value, run.context);
  recordStart(run, position, input, { toolCallId });
  requestTool(run, step.id, { toolCallId, argumentsJson: argumentsJson.value, decision }, spec.value.idempotent);
  return undefined;
}

/** A tool step's next attempt: another call with the same arguments, granted as the one before. Durable with the failure that it follows. */
export function requestToolAgain(run: RunRecorder, current: CurrentStep, before: StepCall): void {
  requestTool(run, current.stepId, { ...before, toolCallId: run.context.newId() }, current.isIdempotentTool);
}

function requestTool(run: RunRecorder, stepId: string, { toolCallId, argumentsJson, decision }: StepCall, idempotent: boolean): void {
  const value = create(ToolRequestedSchema, { tool: decision.tool, argumentsJson, decision, idempotent });
  record(run, { case: "toolRequested", value }, { stepId, toolCallId });
}

function recordStart(
  run: RunRecorder,
  position: number,
  input: Record<string, Value>,
  ids: { readonly sessionId?: string; readonly toolCallId?: string; readonly prompt?: string } = {},
): void {
  const value = create(StepStartedSchema, {
    stepType: stepTypeOf(run.state, position),
    executionIndex: run.state.executionCount,
    attempt: 1,
    input,
    sessionId: ids.sessionId ?? "",
    toolCallId: ids.toolCallId ?? "",
    prompt: ids.prompt ?? "",
  });
  record(run, { case: "stepStarted", value }, { stepId: stepAt(run.state, position).id, toolCallId: ids.toolCallId });
}

/** An agent step's next attempt, in a session of its own. Its input was recorded with the first. */
export function beginAgentAgain(run: RunRecorder, current: CurrentStep): void {
  const { executionIndex, attempt } = current;
  const sessionId = attemptSessionId(run.state, current, run.context);
  const value = create(StepStartedSchema, { stepType: stepTypeOf(run.state, current.position), executionIndex, attempt, sessionId });
  record(run, { case: "stepStarted", value }, { stepId: current.stepId });
}

/** A worker has got the go-ahead for a function that is not idempotent: the start is on record before anything happens. */
export function recordGoAhead(run: RunRecorder, current: CurrentStep, { worker, epoch }: TaskStarted): void {
  const value = create(StepAttemptStartedSchema, { attempt: current.attempt, worker, epoch });
  record(run, { case: "stepAttemptStarted", value }, { stepId: current.stepId });
}
