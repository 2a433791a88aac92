import { create } from "@bufbuild/protobuf";
import { ForgeError, isUuid } from "@forge/protocol";
import { type StreamRef, StreamRefSchema, type TaskLease } from "@forge/protocol/common";

import type { LeaseProof } from "../ports/index.ts";
import { STREAM_KINDS, type StreamKindName } from "../stream/aggregate.ts";

/** Names one task row: `<kind>/<stream id>/<key>`. Opaque to workers. */
export function taskId(task: { readonly streamKind: StreamKindName; readonly streamId: string; readonly key: string }): string {
  return `${task.streamKind}/${task.streamId}/${task.key}`;
}

export interface TaskName {
  readonly kind: StreamKindName;
  readonly streamId: string;
  readonly key: string;
}

export function parseTaskId(id: string, field: string): TaskName {
  const [kind, streamId, ...rest] = id.split("/");
  if ((kind !== "session" && kind !== "run") || streamId === undefined || !isUuid(streamId) || rest.length === 0) {
    throw ForgeError.validation(field, `${field} is no task id: pass the one that LeaseTasks gave`);
  }
  return { kind, streamId, key: rest.join("/") };
}

/** A lease of a worker's session as the append checks it. */
export function proofOf(lease: TaskLease, name: TaskName, sessionId: string): LeaseProof {
  return { streamId: name.streamId, key: name.key, epoch: lease.epoch, token: lease.leaseToken, owner: sessionId };
}

export function streamRef(kind: StreamKindName, id: string): StreamRef {
  return create(StreamRefSchema, { kind: STREAM_KINDS[kind], id });
}
