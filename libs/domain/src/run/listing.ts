import { create, toBinary } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { StreamKind } from "@forge/protocol/common";
import { PendingApprovalSchema } from "@forge/protocol/tool";
import { RunStatus, RunStatusSchema } from "@forge/protocol/workflow";
import type { Listing } from "../decider.ts";
import type { Execution, RunState } from "./state.ts";

/** What lists of runs show and filter by, and the approvals that its waits ask for. */
export function listing(state: RunState): Listing {
  return {
    status: RunStatusSchema.value[shownStatus(state)]?.name ?? "",
    detailStatus: "",
    title: state.workflowId,
    subject: state.workflowId,
    version: state.workflowVersion,
    labels: state.labels,
    approvals: state.executions.flatMap((execution) => approvalOf(state, execution)),
  };
}

/** Where a run stands for people: one that goes on may be paused, or do nothing but wait. */
export function shownStatus({ status, paused, queued, executions }: RunState): RunStatus {
  if (status !== RunStatus.RUNNING) return status;
  if (paused) return RunStatus.PAUSED;
  if (queued) return RunStatus.QUEUED;
  const leaves = executions.filter(({ group }) => group === undefined);
  return leaves.length > 0 && leaves.every(({ wait }) => wait !== undefined) ? RunStatus.WAITING : RunStatus.RUNNING;
}

/** A question stays as it is until it is answered, however much else happens. */
const encoded = new WeakMap<Execution, Uint8Array>();

function approvalOf(state: RunState, execution: Execution): Uint8Array[] {
  const { wait, stepId, decidedAtMs, stopSeq } = execution;
  if (wait === undefined || wait.approvalId === "" || stopSeq > 0) return [];
  const known = encoded.get(execution);
  if (known !== undefined) return [known];
  const approval = create(PendingApprovalSchema, {
    stream: { kind: StreamKind.RUN, id: state.runId },
    approvalId: wait.approvalId,
    stepId,
    question: wait.question,
    requestedAt: timestampFromMs(decidedAtMs),
    expiresAt: wait.untilMs === 0 ? undefined : timestampFromMs(wait.untilMs),
  });
  const bytes = toBinary(PendingApprovalSchema, approval);
  encoded.set(execution, bytes);
  return [bytes];
}
