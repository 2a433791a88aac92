import { create, toBinary } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { StreamKind } from "@forge/protocol/common";
import { PendingApprovalSchema } from "@forge/protocol/tool";
import { RunStatus, RunStatusSchema } from "@forge/protocol/workflow";
import type { Listing } from "../decider.ts";
import { perChunk } from "./executions.ts";
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
    approvals: joined(state.executions.chunks.map((chunk) => approvalsIn(chunk, state))),
  };
}

/** Where a run stands for people: one that goes on may be paused, or do nothing but wait. */
export function shownStatus({ status, paused, queued, executions }: RunState): RunStatus {
  if (status !== RunStatus.RUNNING) return status;
  if (paused) return RunStatus.PAUSED;
  if (queued) return RunStatus.QUEUED;
  const leaves = executions.length - executions.lists;
  return leaves > 0 && executions.busy === 0 ? RunStatus.WAITING : RunStatus.RUNNING;
}

const approvalsIn = perChunk((items, state: RunState) => items.flatMap((execution) => approvalOf(state, execution)));

/** By the first of them. */
const lists = new WeakMap<Uint8Array, { readonly parts: readonly (readonly Uint8Array[])[]; readonly whole: readonly Uint8Array[] }>();

/** One list of them all, the same object for as long as it is made of the same: most events change no approval, and a run may wait for thousands. */
function joined(all: readonly (readonly Uint8Array[])[]): readonly Uint8Array[] {
  const parts = all.filter(({ length }) => length > 0);
  const first = parts[0]?.[0];
  if (first === undefined) return [];
  const known = lists.get(first);
  if (known !== undefined && isSame(parts, known.parts, (a, b) => a === b || isSame(a, b, Object.is))) return known.whole;
  const whole = parts.flat();
  lists.set(first, { parts, whole });
  return whole;
}

function isSame<T>(a: readonly T[], b: readonly T[], isEqual: (a: T, b: T) => boolean): boolean {
  return a.length === b.length && a.every((each, index) => isEqual(each, b[index] as T));
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
