import { create } from "@bufbuild/protobuf";
import { ForgeError } from "@forge/protocol";
import { ErrorCode } from "@forge/protocol/common";
import { type ForkFromRun, ForkFromRunSchema } from "@forge/protocol/engine";
import { type Event, InheritedStepSchema, RunCreatedSchema, RunForkedSchema } from "@forge/protocol/event";
import { type ForkRunRequest, ForkRunResponseSchema, RunStatus, StartRunRequestSchema } from "@forge/protocol/workflow";
import type { Rejected } from "../decider.ts";
import { allOf } from "./chunks.ts";
import { PARENT_LABEL } from "./commands.ts";
import { beginOrQueue } from "./concurrency.ts";
import { refusal } from "./errors.ts";
import { evolve } from "./evolve.ts";
import { InvalidField } from "./invalid-field.ts";
import { suggestion } from "./nearest.ts";
import { type RunRecorder, record } from "./recorder.ts";
import { integrity } from "./resume-run.ts";
import type { RunResult } from "./run-command.ts";
import { initialRunState, type RunState } from "./state.ts";
import { unservedTools } from "./unserved-tools.ts";
import { validateStart } from "./validate-start.ts";

/** Begins a run in the middle of another. */
export function forkFromRun(run: RunRecorder, { created, forked }: ForkFromRun): RunResult | Rejected {
  const { state, context } = run;
  if (state.status !== RunStatus.UNSPECIFIED) return refusal(ErrorCode.CONFLICT, "RUN_EXISTS", `run ${context.streamId} was started already`, context.streamId);
  if (created === undefined || forked === undefined) throw new Error("a fork without a history");
  record(run, { case: "runCreated", value: created });
  record(run, { case: "runForked", value: forked });
  beginOrQueue(run);
  const { definition, queue } = created;
  return create(ForkRunResponseSchema, { runId: context.streamId, warnings: definition === undefined ? [] : unservedTools(definition, queue, context) });
}

/** What a fork takes over: all that had come of the other run just before the last execution of the step began. `events` are all of the other run's. */
export function forkPoint(request: ForkRunRequest, events: readonly Event[]): ForkFromRun | Rejected {
  const created = events[0]?.payload;
  if (created?.case !== "runCreated") return refusal(ErrorCode.NOT_FOUND, "RUN_NOT_FOUND", `there is no run ${request.runId}`, request.runId);
  const ids = created.value.definition?.steps.map(({ id }) => id) ?? [];
  if (!ids.includes(request.stepId)) {
    return refusal(
      ErrorCode.NOT_FOUND,
      "STEP_NOT_FOUND",
      `run ${request.runId} has no step "${request.stepId}"${suggestion(request.stepId, ids)}`,
      request.runId,
    );
  }
  const changed = integrity(
    { runId: request.runId, workflowId: created.value.definition?.id ?? "", workflowHash: created.value.workflowHash },
    request.workflowHash,
  );
  if (changed !== undefined) return changed;
  const at = events.findLastIndex(
    ({ payload, stepId }) =>
      payload.case === "stepStarted" && stepId === request.stepId && payload.value.groupIndex === undefined && payload.value.attempt === 1,
  );
  if (at === -1) {
    return refusal(
      ErrorCode.VALIDATION,
      "STEP_NOT_REACHED",
      `step "${request.stepId}" was never reached in run ${request.runId}, so there is no state to begin it with`,
      request.runId,
    );
  }
  const labels = { ...created.value.labels, ...request.labels };
  // No other run's step started the fork.
  if (created.value.parent !== undefined) delete labels[PARENT_LABEL];
  const wrong = wrongLabels(labels);
  if (wrong !== undefined) return wrong;
  const before = events.slice(0, at).reduce(evolve, initialRunState());
  const origin = { runId: request.runId, seq: events[at - 1]?.seq ?? 0n, stepId: request.stepId };
  return create(ForkFromRunSchema, {
    request,
    created: create(RunCreatedSchema, { ...created.value, labels, parent: undefined, depth: 0, heldConcurrencyKeys: [] }),
    forked: create(RunForkedSchema, { origin, steps: inherited(before) }),
  });
}

function wrongLabels(labels: Record<string, string>): Rejected | undefined {
  try {
    validateStart(create(StartRunRequestSchema, { labels }));
    return undefined;
  } catch (error) {
    if (error instanceof InvalidField) return { rejection: ForgeError.validation(error.field, error.message, { origin: "control-plane" }).detail };
    throw error;
  }
}

/** What had ended; of the step that the fork begins with in a loop, what came of it the last time round. */
function inherited(state: RunState) {
  const noValue = { kind: { case: undefined } } as const;
  return allOf(state.steps).flatMap(({ executionCount, outcome, output, items }, position) => {
    if (outcome === undefined) return [];
    const stepId = state.definition?.steps[position]?.id ?? "";
    return [
      create(InheritedStepSchema, {
        stepId,
        executionCount,
        output,
        failed: outcome === "failed",
        skipped: outcome === "skipped",
        hasItems: items !== undefined,
        items: items?.map((item) => item ?? noValue) ?? [],
      }),
    ];
  });
}
