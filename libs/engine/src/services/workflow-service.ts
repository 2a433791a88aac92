import { create, fromBinary } from "@bufbuild/protobuf";
import { runView } from "@forge/domain";
import { type Api, ForgeError } from "@forge/protocol";
import { ErrorCode } from "@forge/protocol/common";
import { type Event, EventSchema } from "@forge/protocol/event";
import {
  CancelRunRequestSchema,
  CancelRunResponseSchema,
  GetRunResponseSchema,
  ListRunsResponseSchema,
  RunStatusSchema,
  StartRunRequestSchema,
  StartRunResponseSchema,
  type WorkflowDefinition,
  type WorkflowService,
} from "@forge/protocol/workflow";
import type { Store, StoredEvent } from "../ports/index.ts";
import { runSummary } from "../stream/summaries.ts";
import type { WorkerRegistry } from "../tasks/worker-registry.ts";
import { checkLabels, checkNoNul, checkPageSize, checkUuid } from "./check.ts";
import { enumName } from "./enum-name.ts";
import type { Executor } from "./execute.ts";
import { pageToken, parsePageToken } from "./page-token.ts";
import { checkServed } from "./served.ts";

export interface WorkflowServicePorts {
  readonly store: Store;
  readonly executor: Executor;
  readonly registry: WorkerRegistry;
}

const PAGE = 5_000;

/** What must be served before a run may start: its functions, and the models of its agents. */
function required(definition: WorkflowDefinition, modelOverride: string): readonly string[] {
  const capabilities = new Set<string>();
  for (const { kind } of definition.steps) {
    if (kind.case === "function") capabilities.add(`function:${kind.value.name}`);
    if (kind.case === "agent") capabilities.add(`model:${modelOverride === "" ? (kind.value.agent?.model ?? "") : modelOverride}`);
  }
  return [...capabilities];
}

export function createWorkflowService({ store, executor, registry }: WorkflowServicePorts): Api<typeof WorkflowService> {
  async function eventsOf(namespace: string, runId: string): Promise<{ events: readonly Event[]; seq: number }> {
    const events: Event[] = [];
    let afterSeq = 0;
    for (;;) {
      const page = await store.readEvents(namespace, runId, { afterSeq, limit: PAGE, deltas: false });
      events.push(...page.events.map((stored) => fromBinary(EventSchema, stored.bytes)));
      if (page.events.length < PAGE) return { events, seq: page.headSeq };
      afterSeq = (page.events.at(-1) as StoredEvent).seq;
    }
  }

  return {
    async startRun(request, call) {
      if (request.definition === undefined) throw ForgeError.validation("definition", "definition is missing");
      checkLabels(request.labels);
      for (const [key, value] of Object.entries(request.labels)) {
        checkNoNul(key, "labels", 128);
        checkNoNul(value, "labels", 128);
      }
      checkNoNul(request.queue, "queue", 128);
      checkNoNul(request.modelOverride, "model_override", 256);
      checkNoNul(request.definition.id, "definition.id", 128);
      checkNoNul(request.definition.version, "definition.version", 128);
      const capabilities = required(request.definition, request.modelOverride);
      return executor.run({
        call,
        kind: "run",
        schema: StartRunRequestSchema,
        request,
        response: StartRunResponseSchema,
        admit: () => checkServed(registry, call.namespace, request.queue, capabilities),
      });
    },
    async cancelRun(request, call) {
      return executor.run({
        call,
        kind: "run",
        streamId: checkUuid(request.runId, "run_id"),
        schema: CancelRunRequestSchema,
        request,
        response: CancelRunResponseSchema,
      });
    },
    async getRun(request, call) {
      const runId = checkUuid(request.runId, "run_id");
      const { events, seq } = await eventsOf(call.namespace, runId);
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
