import { fromBinary } from "@bufbuild/protobuf";
import { type Call, ForgeError } from "@forge/protocol";
import { ErrorCode, type TaskLease } from "@forge/protocol/common";
import { TaskRecordSchema } from "@forge/protocol/engine";
import type { TaskStore } from "../ports/index.ts";
import { recordRefersTo } from "../stream/artifacts-of.ts";
import { fenced } from "../stream/refusals.ts";
import { parseTaskId } from "../tasks/task-id.ts";
import { checkLease } from "../tasks/task-lease.ts";

/** What a worker wants to do beside its tasks' own rpcs. */
export type LeasedAccess =
  /** `throughSeq`: how far it is read, 0 for all of it; absent where no message is. */
  | { readonly kind: "conversation"; readonly sessionId: string; readonly throughSeq?: number }
  | { readonly kind: "putArtifact" }
  | { readonly kind: "getArtifact"; readonly sha256: string };

/**
 * Lets a worker no further than its tasks: it reads the conversation that a task of its belongs to, and the artifacts that the task or its stream refers to, and
 * puts artifacts for it. Whoever is no worker passes. Errors: permission_denied, LEASE_REQUIRED (also where a hook reads beyond what it is about); conflict, LEASE_LOST; validation.
 */
export async function checkWorkerLease(store: Pick<TaskStore, "leasedTask">, call: Call, lease: TaskLease | undefined, access: LeasedAccess): Promise<void> {
  if (call.role !== "worker") return;
  if (lease === undefined) throw refused("a worker reads and puts under its leases only: send the one of the task that this is for");
  checkLease(lease, "lease");
  const { kind, streamId, key } = parseTaskId(lease.taskId, "lease.task_id");
  if (access.kind === "conversation" && (kind !== "session" || streamId !== access.sessionId)) {
    throw refused(`the lease is of a task of ${kind} ${streamId}: it lets its holder read no other conversation than that`, streamId);
  }
  const found = await store.leasedTask(
    { namespace: call.namespace, streamId, key, epoch: lease.epoch, token: lease.leaseToken, principal: call.principal },
    access.kind === "getArtifact" ? access.sha256 : undefined,
  );
  if (found === undefined) throw fenced({ kind, streamId });
  if (access.kind === "conversation" && access.throughSeq !== undefined) {
    const limit = hookReads(found.bytes);
    if (limit !== undefined && (access.throughSeq === 0 || access.throughSeq > limit)) {
      throw refused(`a hook reads the conversation up to seq ${limit}, which its task names: send it as through_seq`, streamId);
    }
  }
  if (access.kind === "getArtifact" && !found.refersTo && !recordRefersTo(found.bytes, access.sha256)) {
    throw refused(`neither the task nor ${kind} ${streamId} refers to artifact ${access.sha256}`, streamId);
  }
}

/** Up to where the hook that a task's record asks may read; undefined where the task is another's. */
function hookReads(bytes: Uint8Array): number | undefined {
  const { kind } = fromBinary(TaskRecordSchema, bytes);
  return kind.case === "work" && kind.value.kind.case === "hook" ? Number(kind.value.kind.value.conversationThroughSeq) : undefined;
}

function refused(message: string, streamId?: string): ForgeError {
  return new ForgeError(ErrorCode.PERMISSION_DENIED, message, { reason: "LEASE_REQUIRED", relatedIds: streamId === undefined ? [] : [streamId] });
}
