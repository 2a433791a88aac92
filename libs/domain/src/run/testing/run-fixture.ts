import { create, type MessageInitShape } from "@bufbuild/protobuf";
import { type Value, ValueSchema } from "@forge/protocol/common";
import {
  type OutgoingCommand,
  RejectCommandSchema,
  type ReportRunEnd,
  ReportRunEndSchema,
  type ReportTurnEnd,
  ReportTurnEndSchema,
} from "@forge/protocol/engine";
import { type Event, ResolveApprovalRequestSchema } from "@forge/protocol/event";
import { TurnOutcome, TurnStatus } from "@forge/protocol/session";
import { Decision, RiskLevel, type ToolSpec, ToolSpecSchema } from "@forge/protocol/tool";
import { FunctionResultSchema, TaskCancelledSchema, TaskFailureSchema, ToolResultSchema } from "@forge/protocol/worker";
import {
  CancelRunRequestSchema,
  ContinueRunRequestSchema,
  OnError,
  PauseRunRequestSchema,
  ResumeRunRequestSchema,
  RunStatus,
  SignalRunRequestSchema,
  type StartRunRequest,
  StartRunRequestSchema,
  type StepDefinitionSchema,
  type WaitStepSchema,
  type WorkflowDefinition,
  WorkflowDefinitionSchema,
} from "@forge/protocol/workflow";
import type { Context } from "../../decider.ts";
import type { TaskLost, TaskReportedLate, TaskSettled, TaskStarted, WorkTask } from "../../task.ts";
import { type Effect, TestStream } from "../../testing/test-stream.ts";
import { allExecutions } from "../executions.ts";
import type { RunCommand, RunResult } from "../run-command.ts";
import { runDecider } from "../run-decider.ts";
import type { Execution, RunState } from "../state.ts";

export const RUN_ID = "00000000-0000-8000-8000-0000000000aa";

export const SEARCH: ToolSpec = create(ToolSpecSchema, {
  name: "tools.search",
  description: "Searches.",
  inputSchemaJson: "{}",
  idempotent: true,
  risk: RiskLevel.READ,
});
export const WRITE: ToolSpec = create(ToolSpecSchema, { name: "tools.write", description: "Writes.", inputSchemaJson: "{}", risk: RiskLevel.CHANGE });

export type Step = MessageInitShape<typeof StepDefinitionSchema>;
type StepOptions = Omit<Step, "$typeName" | "id" | "kind">;

export function functionStep(id: string, options: StepOptions & { name?: string; notIdempotent?: boolean } = {}): Step {
  const { name = `module.${id}`, notIdempotent = false, ...rest } = options;
  return { id, kind: { case: "function", value: { name, notIdempotent } }, inputs: { fixed: literal(1) }, ...rest };
}

export function toolStep(id: string, tool: string, options: StepOptions = {}): Step {
  return { id, kind: { case: "tool", value: { tool } }, inputs: { fixed: literal(1) }, ...options };
}

export function agentStep(id: string, options: StepOptions & { prompt?: string; model?: string } = {}): Step {
  const { prompt = "Do it.", model = "demo/triage", ...rest } = options;
  return { id, kind: { case: "agent", value: { agent: { model }, prompt } }, ...rest };
}

export function waitStep(id: string, kind: NonNullable<MessageInitShape<typeof WaitStepSchema>["kind"]>, options: StepOptions = {}): Step {
  return { id, kind: { case: "wait", value: { kind } }, ...options };
}

export function subRunStep(id: string, definition: WorkflowDefinition, options: StepOptions = {}): Step {
  return { id, kind: { case: "workflow", value: { definition } }, ...options };
}

export function literal(value: unknown) {
  return { kind: { case: "literalJson" as const, value: JSON.stringify(value) } };
}

export function path(text: string) {
  return { kind: { case: "path" as const, value: text } };
}

export function template(text: string) {
  return { kind: { case: "template" as const, value: text } };
}

export function json(value: unknown): Value {
  return create(ValueSchema, { kind: { case: "json", value: JSON.stringify(value) } });
}

export function artifact(sha256: string, mediaType = "application/json"): Value {
  return create(ValueSchema, { kind: { case: "artifact", value: { sha256, size: 70_000n, mediaType, preview: "..." } } });
}

/** The JSON inside an inline value. */
export function parsed(value: Value | undefined): unknown {
  return value?.kind.case === "json" ? (JSON.parse(value.kind.value) as unknown) : value?.kind.value;
}

export function workflow(steps: readonly Step[], options: Partial<MessageInitShape<typeof WorkflowDefinitionSchema>> = {}): WorkflowDefinition {
  return create(WorkflowDefinitionSchema, { id: "triage", version: "v1", onError: OnError.FAIL_FAST, steps: [...steps], ...options } as MessageInitShape<
    typeof WorkflowDefinitionSchema
  >);
}

export function startRun(definition: WorkflowDefinition, options: Omit<MessageInitShape<typeof StartRunRequestSchema>, "$typeName"> = {}): StartRunRequest {
  return create(StartRunRequestSchema, { definition, ...options });
}

export function cancelRun(): RunCommand {
  return create(CancelRunRequestSchema, { runId: RUN_ID });
}

export function pauseRun(): RunCommand {
  return create(PauseRunRequestSchema, { runId: RUN_ID });
}

export function continueRun(): RunCommand {
  return create(ContinueRunRequestSchema, { runId: RUN_ID });
}

export function resumeRun(workflowHash = ""): RunCommand {
  return create(ResumeRunRequestSchema, { runId: RUN_ID, workflowHash });
}

/** Without a payload where none is given. */
export function signalRun(name: string, payload?: unknown): RunCommand {
  return create(SignalRunRequestSchema, { runId: RUN_ID, name, ...(payload === undefined ? {} : { payload: json(payload) }) });
}

export function answer(approvalId: string, decision: Decision = Decision.ALLOW, comment = ""): RunCommand {
  return create(ResolveApprovalRequestSchema, { approvalId, decision, comment });
}

export function fired(key: string): RunCommand {
  return { $typeName: "timer.fired", key };
}

export function runReport(runId: string, options: Omit<MessageInitShape<typeof ReportRunEndSchema>, "$typeName"> = {}): ReportRunEnd {
  return create(ReportRunEndSchema, { runId, status: RunStatus.COMPLETED, ...options });
}

export function started(key: string, epoch = 1): TaskStarted {
  return { $typeName: "task.started", key, worker: "executor", epoch, start: { case: undefined } };
}

function settled(key: string, outcome: TaskSettled["outcome"]): TaskSettled {
  return { $typeName: "task.settled", key, worker: "executor", outcome };
}

export function returned(key: string, output: unknown): TaskSettled {
  return returnedValue(key, json(output));
}

export function returnedValue(key: string, output: Value): TaskSettled {
  return settled(key, { case: "function", value: create(FunctionResultSchema, { output, durationMs: 5n }) });
}

export function toolReturned(key: string, output: unknown): TaskSettled {
  return settled(key, { case: "tool", value: create(ToolResultSchema, { output: json(output), durationMs: 7n }) });
}

export function taskFailed(key: string, message = "It broke.", options: { unknown?: boolean; retryAfterSeconds?: number } = {}): TaskSettled {
  const retryAfter = options.retryAfterSeconds === undefined ? undefined : { seconds: BigInt(options.retryAfterSeconds) };
  return settled(key, { case: "failure", value: create(TaskFailureSchema, { error: { code: 14, message, retryAfter }, unknown: options.unknown ?? false }) });
}

export function taskCancelled(key: string): TaskSettled {
  return settled(key, { case: "cancelled", value: create(TaskCancelledSchema) });
}

export function lost(key: string): TaskLost {
  return { $typeName: "task.lost", key, epoch: 1 };
}

export function reportedLate(key: string): TaskReportedLate {
  return { $typeName: "task.reported_late", key, worker: "executor", outcome: toolReturned(key, "late").outcome };
}

export function turnReport(sessionId: string, options: Omit<MessageInitShape<typeof ReportTurnEndSchema>, "$typeName"> = {}): ReportTurnEnd {
  return create(ReportTurnEndSchema, {
    sessionId,
    turnId: "turn",
    status: TurnStatus.COMPLETED,
    outcome: TurnOutcome.TASK_COMPLETED,
    text: json("Done."),
    ...options,
  });
}

export function rejected(commandId: string): RunCommand {
  return create(RejectCommandSchema, { commandId, error: { code: 1, reason: "REFUSED", message: "It was refused." } });
}

type ValueOf<Payload> = Payload extends { value: infer Value } ? Value : never;

/** A run as the engine treats it: only artifacts that were asked for can be read, and the commands that events cause are collected. */
export class RunStream extends TestStream<RunState, RunCommand, RunResult> {
  readonly sent: OutgoingCommand[] = [];
  readonly artifacts: Record<string, string>;
  #needed: ReadonlySet<string> = new Set();

  constructor(options: { tools?: readonly ToolSpec[]; artifacts?: Record<string, string> } = {}) {
    super(runDecider, { streamId: RUN_ID, tools: options.tools ?? [] });
    this.artifacts = options.artifacts ?? {};
  }

  override context(principal?: string): Context {
    return {
      ...super.context(principal),
      artifact: (sha256) => {
        if (!this.#needed.has(sha256)) throw new Error(`The artifact ${sha256} was read without being asked for.`);
        return this.artifacts[sha256];
      },
    };
  }

  override execute(command: RunCommand, principal?: string): Effect<RunResult> {
    this.#needed = new Set(runDecider.needs(this.state, command));
    const before = this.state;
    const effect = super.execute(command, principal);
    let state = before;
    for (const event of effect.events) {
      state = runDecider.evolve(state, event);
      this.sent.push(...runDecider.commands(state, event));
    }
    return effect;
  }

  /** The one task that is outstanding. */
  get task(): WorkTask {
    const [task, ...more] = this.work();
    if (task === undefined || more.length > 0) throw new Error(`One task was expected, not ${this.work().length}.`);
    return task;
  }

  /** The key of the one task that is outstanding. */
  get key(): string {
    return this.task.key;
  }

  /** The execution that began last, of those that are under way. */
  get current(): Execution | undefined {
    return allExecutions(this.state.executions).at(-1);
  }

  /** The open session. */
  get sessionId(): string {
    return this.current?.sessionId ?? "";
  }

  /** The status that lists show, without its prefix. */
  get status(): string {
    return this.decider.listing(this.state).status.replace("RUN_STATUS_", "");
  }

  /** Ids of the steps that have an open task, in order; an item's with its index. */
  get working(): readonly string[] {
    return allExecutions(this.state.executions).flatMap(({ group, item, stepId }) =>
      group === undefined ? [item === undefined ? stepId : `${stepId}.${item.index}`] : [],
    );
  }

  /** The open execution of a step, or of its item. */
  open(stepId: string, item?: number): Execution {
    const found = allExecutions(this.state.executions).find((each) => each.stepId === stepId && each.group === undefined && each.item?.index === item);
    if (found === undefined) throw new Error(`Step ${stepId} is not under way.`);
    return found;
  }

  /** The key of a step's task, or of its item's. */
  keyOf(stepId: string, item?: number): string {
    const { executionIndex, attempt } = this.open(stepId, item);
    return `step:${executionIndex}:${attempt}`;
  }

  /** The payload of the newest event of a step that is of a kind. */
  lastOf<Case extends string>(payloadCase: Case, stepId: string): ValueOf<Extract<Event["payload"], { case: Case }>> {
    const found = this.events.findLast((event) => event.payload.case === payloadCase && event.stepId === stepId);
    if (found === undefined) throw new Error(`There is no ${payloadCase} of ${stepId}.`);
    return found.payload.value as ValueOf<Extract<Event["payload"], { case: Case }>>;
  }

  /** Settles the open function task. */
  return(output: unknown): Effect<RunResult> {
    return this.must(returned(this.key, output));
  }

  /** The newest payload of a kind. */
  last<Case extends string>(payloadCase: Case) {
    const found = this.events.findLast((event) => event.payload.case === payloadCase);
    if (found === undefined) throw new Error(`There is no ${payloadCase}.`);
    return found.payload as Extract<typeof found.payload, { case: Case }>;
  }
}

/** A run that has started. */
export function runOf(
  definition: WorkflowDefinition,
  options: ConstructorParameters<typeof RunStream>[0] & { inputs?: unknown; start?: Parameters<typeof startRun>[1] } = {},
): RunStream {
  const { inputs, start = {}, ...rest } = options;
  const run = new RunStream(rest);
  run.must(startRun(definition, inputs === undefined ? start : { ...start, inputs: json(inputs) }));
  return run;
}
