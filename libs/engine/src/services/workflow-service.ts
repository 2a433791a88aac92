import { create, type DescMessage, type MessageShape } from "@bufbuild/protobuf";
import { forkPoint, type RunState, runView } from "@forge/domain";
import { type Api, type Call, ForgeError } from "@forge/protocol";
import { ErrorCode } from "@forge/protocol/common";
import {
  CancelRunRequestSchema,
  CancelRunResponseSchema,
  ContinueRunRequestSchema,
  ContinueRunResponseSchema,
  ForkRunRequestSchema,
  ForkRunResponseSchema,
  GetRunResponseSchema,
  ListRunsResponseSchema,
  PauseRunRequestSchema,
  PauseRunResponseSchema,
  ResumeRunRequestSchema,
  ResumeRunResponseSchema,
  RunStatusSchema,
  SignalRunRequestSchema,
  SignalRunResponseSchema,
  StartRunRequestSchema,
  StartRunResponseSchema,
  type WorkflowDefinition,
  type WorkflowService,
} from "@forge/protocol/workflow";
import type { Store } from "../ports/index.ts";
import type { StreamEngine } from "../stream/stream-engine.ts";
import { runSummary } from "../stream/summaries.ts";
import type { WorkerRegistry } from "../tasks/worker-registry.ts";
import { archiveRuns } from "./archive-runs.ts";
import { checkLabels, checkNoNul, checkPageSize, checkUuid } from "./check.ts";
import { getDefinition, listDefinitions, registerDefinition, resolveDefinition } from "./definitions.ts";
import { enumName } from "./enum-name.ts";
import type { CommandMessage, Executor } from "./execute.ts";
import { modelsOf } from "./models-of.ts";
import { pageToken, parsePageToken } from "./page-token.ts";
import { replay } from "./replay-run.ts";
import { hasEnded, runEvents } from "./run-history.ts";
import { checkServed } from "./served.ts";

export interface WorkflowServicePorts {
  readonly store: Store;
  readonly engine: StreamEngine;
  readonly executor: Executor;
  readonly registry: WorkerRegistry;
  /** Whether every live control plane can read an archived run. */
  readonly mayArchive: () => Promise<boolean>;
}

/** What must be served before a run may start: its functions, and the models of its agents, those of the workflows inside it included. */
function required(definition: WorkflowDefinition, modelOverride: string): readonly string[] {
  const capabilities = new Set<string>();
  for (const { kind } of definition.steps) {
    if (kind.case === "function") capabilities.add(`function:${kind.value.name}`);
    if (kind.case === "agent" && kind.value.agent !== undefined) {
      const { agent } = kind.value;
      for (const model of modelsOf({ ...agent, model: modelOverride || agent.model })) capabilities.add(`model:${model}`);
    }
    const inner = kind.case === "workflow" ? kind.value.definition : undefined;
    if (inner !== undefined) for (const capability of required(inner, modelOverride)) capabilities.add(capability);
  }
  return [...capabilities];
}

export function createWorkflowService({ store, engine, executor, registry, mayArchive }: WorkflowServicePorts): Api<typeof WorkflowService> {
  /** A command to a run that exists. */
  const toRun = <I extends DescMessage, O extends DescMessage>(
    call: Call,
    request: MessageShape<I> & CommandMessage & { readonly runId: string },
    schema: I,
    response: O,
    admit?: () => Promise<void>,
  ): Promise<MessageShape<O>> => executor.run({ call, kind: "run", streamId: checkUuid(request.runId, "run_id"), schema, request, response, admit });

  /** What a run that goes on will need must be served, as at its start. */
  async function checkServedAgain(namespace: string, runId: string): Promise<void> {
    const entry = await engine.read(namespace, runId, "run");
    const state = entry?.state as RunState | undefined;
    // Whether it exists and can go on is for the run itself to say.
    if (state?.definition === undefined) return;
    await checkServed(registry, namespace, state.queue, required(state.definition, state.modelOverride));
  }

  return {
    async startRun(request, call) {
      const given = request.definition;
      if (given === undefined && request.workflow === "")
        throw ForgeError.validation("definition", "definition is missing, and no registered workflow is named");
      if (given !== undefined && request.workflow !== "") throw ForgeError.validation("workflow", "workflow stands in place of definition: give one of them");
      checkLabels(request.labels);
      for (const [key, value] of Object.entries(request.labels)) {
        checkNoNul(key, "labels", 128);
        checkNoNul(value, "labels", 128);
      }
      checkNoNul(request.queue, "queue", 128);
      checkNoNul(request.modelOverride, "model_override", 256);
      const checkServedFor = (definition: WorkflowDefinition) =>
        checkServed(registry, call.namespace, request.queue, required(definition, request.modelOverride));
      const command = { call, kind: "run", schema: StartRunRequestSchema, request, response: StartRunResponseSchema } as const;
      if (given !== undefined) {
        checkNoNul(given.id, "definition.id", 128);
        checkNoNul(given.version, "definition.version", 128);
        return executor.run({ ...command, admit: () => checkServedFor(given) });
      }
      return executor.run({
        ...command,
        // Looked up once: whoever retries gets the run that was started, whatever has been registered since.
        prepare: async () => {
          const definition = await resolveDefinition(store, call.namespace, request.workflow);
          await checkServedFor(definition);
          return { ...request, definition, workflow: "" };
        },
      });
    },
    async cancelRun(request, call) {
      return toRun(call, request, CancelRunRequestSchema, CancelRunResponseSchema);
    },
    async signalRun(request, call) {
      return toRun(call, request, SignalRunRequestSchema, SignalRunResponseSchema);
    },
    async pauseRun(request, call) {
      return toRun(call, request, PauseRunRequestSchema, PauseRunResponseSchema);
    },
    async continueRun(request, call) {
      return toRun(call, request, ContinueRunRequestSchema, ContinueRunResponseSchema);
    },
    async resumeRun(request, call) {
      return toRun(call, request, ResumeRunRequestSchema, ResumeRunResponseSchema, () => checkServedAgain(call.namespace, checkUuid(request.runId, "run_id")));
    },
    async forkRun(request, call) {
      const runId = checkUuid(request.runId, "run_id");
      checkLabels(request.labels);
      return executor.run({
        call,
        kind: "run",
        schema: ForkRunRequestSchema,
        request,
        response: ForkRunResponseSchema,
        prepare: async () => {
          const { events } = await runEvents(store, call.namespace, runId);
          const fork = forkPoint(request, events);
          if ("rejection" in fork) throw ForgeError.from(fork.rejection);
          if (!hasEnded(events))
            throw new ForgeError(ErrorCode.CONFLICT, `run ${runId} has not ended; cancel it, or wait for its end`, {
              reason: "RUN_ACTIVE",
              relatedIds: [runId],
            });
          const definition = fork.created?.definition;
          if (definition !== undefined)
            await checkServed(registry, call.namespace, fork.created?.queue ?? "", required(definition, fork.created?.modelOverride ?? ""));
          return fork;
        },
      });
    },
    async archiveRuns(request, call) {
      return archiveRuns({ store, mayArchive }, request, call);
    },
    async registerDefinition(request, call) {
      return registerDefinition(store, request, call);
    },
    async getDefinition(request, call) {
      return getDefinition(store, request, call);
    },
    async listDefinitions(request, call) {
      return listDefinitions(store, request, call);
    },
    async replayRun(request, call) {
      return replay(store, call.namespace, checkUuid(request.runId, "run_id"), request.verifyState);
    },
    async getRun(request, call) {
      const runId = checkUuid(request.runId, "run_id");
      const { events, seq } = await runEvents(store, call.namespace, runId);
      if (events[0]?.payload.case !== "runCreated")
        throw new ForgeError(ErrorCode.NOT_FOUND, `run ${runId} does not exist`, { reason: "RUN_NOT_FOUND", relatedIds: [runId] });
      return create(GetRunResponseSchema, { run: { ...runView(events), seq: BigInt(seq) } });
    },
    async listRuns(request, call) {
      const limit = checkPageSize(request.pageSize);
      const rows = await store.list(call.namespace, {
        kind: "run",
        status: enumName(RunStatusSchema, request.status, "status"),
        subject: request.workflowId === "" ? undefined : request.workflowId,
        labels: request.labels,
        limit,
        before: parsePageToken(request.pageToken),
      });
      const last = rows.at(-1);
      return create(ListRunsResponseSchema, {
        runs: rows.map(runSummary),
        nextPageToken: rows.length === limit && last !== undefined ? pageToken(last) : "",
      });
    },
  };
}
