import type { MessageInitShape } from "@bufbuild/protobuf";
import { create } from "@bufbuild/protobuf";
import type { ForgeError, Value } from "@forge/protocol/common";
import { StepAttemptStartedSchema, StepStartedSchema, ToolRequestedSchema } from "@forge/protocol/event";
import type { AgentStep, StepDefinition, ToolStep } from "@forge/protocol/workflow";
import type { Context } from "../decider.ts";
import type { TaskStarted } from "../task.ts";
import { executionsBound } from "./executions-bound.ts";
import { ITEMS_INPUT, itemsOf, namesOfItem } from "./for-each.ts";
import { streamCommandId } from "./keys.ts";
import { renderPrompt } from "./prompt.ts";
import { type RunRecorder, record } from "./recorder.ts";
import { type Execution, type Group, type RunState, type StepCall, stepAt } from "./state.ts";
import { type Names, stepInput } from "./step-input.ts";
import { stepTypeOf } from "./step-type.ts";
import { childInputs } from "./sub-run.ts";
import { grant, servedTool, toolArguments } from "./tool-call.ts";
import { chooseVariant, withVariant } from "./variants.ts";
import { beginWait } from "./wait.ts";

/** An execution that has ended with its beginning: it failed, or there was nothing to wait for. */
export type EndedAtOnce = { readonly error: ForgeError } | { readonly error?: undefined; readonly output: Value | undefined };

/** Which of the step's executions begins: the step's own, or that of an item of its list. */
interface Place {
  readonly position: number;
  readonly step: StepDefinition;
  readonly names: Names;
  readonly item: { readonly groupIndex: number; readonly itemIndex: number } | undefined;
}

type Begun = Omit<MessageInitShape<typeof StepStartedSchema>, "$typeName" | "stepType" | "executionIndex" | "attempt">;

/**
 * Decides on an execution of a step: its input is bound, and with it what is to be dispatched. Returns how it has ended at once, where its input can't be
 * built, nobody serves its tool, or what it waits for is there; it has been recorded as started then, too.
 */
export function beginStep(run: RunRecorder, position: number): EndedAtOnce | undefined {
  const step = stepAt(run.state, position);
  const place: Place = { position, step, names: {}, item: undefined };
  if (step.kind.case === "wait") {
    const { begun, ended } = beginWait(run.state, step, step.kind.value, run.context);
    recordStart(run, place, begun);
    return ended;
  }
  return step.forEach === undefined ? beginWork(run, place) : beginList(run, place);
}

/** The list itself; its items begin one by one as there is room for them. */
function beginList(run: RunRecorder, place: Place): EndedAtOnce | undefined {
  const items = itemsOf(run.state, place.position, run.context);
  if (!items.ok) return failAtOnce(run, place.position, items.error);
  const bound = executionsBound(run.state, place.step.id, 1 + items.value.count);
  if (bound !== undefined) return failAtOnce(run, place.position, bound);
  recordStart(run, place, { input: { [ITEMS_INPUT]: items.value.value }, itemCount: items.value.count });
  return undefined;
}

/** A step that can't be begun has been, so that its failure is one like any other. */
export function failAtOnce(run: RunRecorder, position: number, error: ForgeError): EndedAtOnce {
  recordStart(run, { position, step: stepAt(run.state, position), names: {}, item: undefined }, {});
  return { error };
}

/** The next item of a list. */
export function beginItem(run: RunRecorder, execution: Execution): EndedAtOnce | undefined {
  const { position, executionIndex } = execution;
  const { next } = execution.group as Group;
  const step = stepAt(run.state, position);
  const item = { groupIndex: executionIndex, itemIndex: next };
  const names = namesOfItem(run.state, execution, next, run.context);
  if (names.ok) return beginWork(run, { position, step, names: names.value, item });
  recordStart(run, { position, step, names: {}, item }, {});
  return { error: names.error };
}

function beginWork(run: RunRecorder, place: Place): EndedAtOnce | undefined {
  const { step, position } = place;
  const input = stepInput(run.state, position, run.context, place.names);
  if (!input.ok) {
    recordStart(run, place, {});
    return { error: input.error };
  }
  switch (step.kind.case) {
    case "agent":
      return beginAgent(run, place, step.kind.value, input.value);
    case "tool":
      return beginTool(run, place, step.kind.value, input.value);
    case "workflow":
      return beginSubRun(run, place, input.value);
    case "function":
      recordStart(run, place, { input: input.value });
      return undefined;
    case "wait":
    case undefined:
      throw new Error(`step ${step.id} of run ${run.state.runId} has no work`);
  }
}

function beginAgent(run: RunRecorder, place: Place, agent: AgentStep, input: Record<string, Value>): EndedAtOnce | undefined {
  const { runId, executionCount: executionIndex } = run.state;
  const promptVariant = chooseVariant(agent, run.context, { runId, stepId: place.step.id, executionIndex })?.name ?? "";
  const prompt = renderPrompt(run.state, place.step, withVariant(agent, promptVariant), input, run.context, place.names);
  if (!prompt.ok) {
    recordStart(run, place, { input, promptVariant });
    return { error: prompt.error };
  }
  const sessionId = attemptStreamId(run.state, { executionIndex: run.state.executionCount, attempt: 1 }, run.context, "step-session");
  recordStart(run, place, { input, sessionId, prompt: prompt.value, promptVariant });
  return undefined;
}

function beginSubRun(run: RunRecorder, place: Place, input: Record<string, Value>): EndedAtOnce | undefined {
  const inputs = childInputs(place.step, input);
  if (!inputs.ok) {
    recordStart(run, place, { input });
    return { error: inputs.error };
  }
  const childRunId = attemptStreamId(run.state, { executionIndex: run.state.executionCount, attempt: 1 }, run.context, "step-run");
  recordStart(run, place, { input, childRunId });
  return undefined;
}

/** The session or run of an attempt. No client's create can make a stream of this id: theirs derive from other parts. */
function attemptStreamId(
  state: RunState,
  attempt: Pick<Execution, "executionIndex" | "attempt">,
  context: Context,
  purpose: "step-session" | "step-run",
): string {
  return context.deriveId(purpose, streamCommandId(state.runId, attempt, "create"));
}

function beginTool(run: RunRecorder, place: Place, { tool }: ToolStep, input: Record<string, Value>): EndedAtOnce | undefined {
  const { step } = place;
  const spec = servedTool(run.state, step, tool, run.context);
  if (!spec.ok) {
    recordStart(run, place, { input });
    return { error: spec.error };
  }
  const argumentsJson = toolArguments(step, input);
  if (!argumentsJson.ok) {
    recordStart(run, place, { input });
    return { error: argumentsJson.error };
  }
  const toolCallId = run.context.newId();
  const decision = grant(run.state, step, spec.value, argumentsJson.value, run.context);
  const executionIndex = run.state.executionCount;
  recordStart(run, place, { input, toolCallId });
  requestTool(run, { stepId: step.id, executionIndex }, { toolCallId, argumentsJson: argumentsJson.value, decision }, spec.value.idempotent);
  return undefined;
}

/** A tool step's next attempt: another call with the same arguments, granted as the one before. Durable with the failure that it follows. */
export function requestToolAgain(run: RunRecorder, execution: Execution, before: StepCall): void {
  requestTool(run, execution, { ...before, toolCallId: run.context.newId() }, execution.isIdempotentTool);
}

function requestTool(
  run: RunRecorder,
  { stepId, executionIndex }: Pick<Execution, "stepId" | "executionIndex">,
  { toolCallId, argumentsJson, decision }: StepCall,
  idempotent: boolean,
): void {
  const value = create(ToolRequestedSchema, { tool: decision.tool, argumentsJson, decision, idempotent, executionIndex });
  record(run, { case: "toolRequested", value }, { stepId, toolCallId });
}

function recordStart(run: RunRecorder, { position, step, item }: Place, begun: Begun): void {
  const value = create(StepStartedSchema, {
    ...begun,
    ...item,
    stepType: stepTypeOf(run.state, position),
    executionIndex: run.state.executionCount,
    attempt: 1,
  });
  record(run, { case: "stepStarted", value }, { stepId: step.id, toolCallId: begun.toolCallId });
}

/** The next attempt of a step that works in another stream, in a stream of its own. Its input was recorded with the first. */
export function beginAgain(run: RunRecorder, execution: Execution): void {
  const { executionIndex, attempt, position, stepId, item } = execution;
  const isAgent = stepAt(run.state, position).kind.case === "agent";
  const streamId = attemptStreamId(run.state, execution, run.context, isAgent ? "step-session" : "step-run");
  const ids = isAgent ? { sessionId: streamId } : { childRunId: streamId };
  const place = item === undefined ? {} : { groupIndex: item.groupIndex, itemIndex: item.index };
  const value = create(StepStartedSchema, { stepType: stepTypeOf(run.state, position), executionIndex, attempt, ...ids, ...place });
  record(run, { case: "stepStarted", value }, { stepId });
}

/** A worker has got the go-ahead for a function that is not idempotent: the start is on record before anything happens. */
export function recordGoAhead(run: RunRecorder, { attempt, executionIndex, stepId }: Execution, { worker, epoch }: TaskStarted): void {
  record(run, { case: "stepAttemptStarted", value: create(StepAttemptStartedSchema, { attempt, worker, epoch, executionIndex }) }, { stepId });
}
