import { create, fromBinary } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { ForgeError } from "@forge/protocol";
import { ErrorCode } from "@forge/protocol/common";
import { type LeasedTask, LeasedTaskSchema, type Task, TaskSchema } from "@forge/protocol/worker";
import type { Store, StoredTask } from "../ports/index.ts";
import { taskRecord } from "../stream/build-append.ts";
import { streamRef, taskId } from "./task-id.ts";

/** A task up to here comes with its lease, in bytes; a larger one as an artifact. */
const INLINE_TASK_MAX = 64 * 1024;

/** A task row as its worker gets it. */
export async function leasedTask(task: StoredTask, store: Store): Promise<LeasedTask> {
  return create(LeasedTaskSchema, {
    taskId: taskId(task),
    stream: streamRef(task.streamKind, task.streamId),
    epoch: task.epoch,
    leaseToken: task.token,
    task: await wholeTask(task, store),
    leaseUntil: task.leaseUntilMs === undefined ? undefined : timestampFromMs(task.leaseUntilMs),
  });
}

async function wholeTask(task: StoredTask, store: Store): Promise<Task> {
  const { kind } = taskRecord(task);
  if (kind.case !== "work") throw new Error(`task ${task.key} is no work`);
  const { artifact } = kind.value;
  if (artifact === undefined || artifact.size > INLINE_TASK_MAX) return kind.value;
  const stored = await store.getArtifact(task.namespace, artifact.sha256);
  if (stored === undefined)
    throw new ForgeError(ErrorCode.STORAGE_ERROR, `the input of task ${task.key} is missing from the artifact store: ${artifact.sha256}`);
  return fromBinary(TaskSchema, stored.content);
}
