import { create, toBinary } from "@bufbuild/protobuf";
import type { Outstanding, OutstandingTask, WorkTask } from "@forge/domain";
import { type OutgoingCommand, TaskRecordSchema } from "@forge/protocol/engine";
import { type Task, TaskSchema } from "@forge/protocol/worker";
import type { NewTask } from "../ports/index.ts";
import { sha256Hex } from "./identity.ts";
import { findTask, partsBeside } from "./outstanding.ts";
import { routeOf } from "./routes.ts";

/** A task row carries at most this; a larger one points to an artifact. */
const TASK_BYTES_MAX = 16 * 1024;

/**
 * How much longer the work of a run whose priority is one less may have waited and still comes later. The oldest due comes first, so that nothing waits for
 * ever, and one index serves both.
 */
const PRIORITY_MS = 60_000;

export interface ArtifactToStore {
  readonly sha256: string;
  readonly content: Uint8Array;
}

/** A task to add, with what must be stored before it may be. */
export interface PreparedTask {
  readonly row: NewTask;
  readonly artifact: ArtifactToStore | undefined;
}

function externalise(task: Task): { task: Task; artifact: ArtifactToStore | undefined } {
  const content = toBinary(TaskSchema, task);
  if (content.length <= TASK_BYTES_MAX) return { task, artifact: undefined };
  const sha256 = sha256Hex(content);
  const pointer = create(TaskSchema, {
    idempotencyKey: task.idempotencyKey,
    needsStart: task.needsStart,
    deadlineAt: task.deadlineAt,
    timeout: task.timeout,
    artifact: { sha256, size: BigInt(content.length), mediaType: "application/x-protobuf" },
  });
  return { task: pointer, artifact: { sha256, content } };
}

export function prepareWork(task: WorkTask): PreparedTask {
  const { task: kept, artifact } = externalise(task.task);
  return {
    row: {
      key: task.key,
      kind: "work",
      route: routeOf(task.queue, task.capability),
      dueAtMs: task.dueAtMs > 0 ? task.dueAtMs : -(task.priority ?? 0) * PRIORITY_MS,
      needsStart: task.task.needsStart,
      idempotent: task.idempotent,
      cancelRequested: task.cancelRequested,
      bytes: toBinary(TaskRecordSchema, create(TaskRecordSchema, { kind: { case: "work", value: kept } })),
      lease: undefined,
    },
    artifact,
  };
}

export function prepareTask(task: OutstandingTask): PreparedTask {
  if (task.kind === "work") return prepareWork(task);
  const record = create(TaskRecordSchema, { kind: { case: "timer", value: { purpose: task.key } } });
  return {
    row: {
      key: task.key,
      kind: "timer",
      route: "timer",
      dueAtMs: task.dueAtMs,
      needsStart: false,
      idempotent: true,
      cancelRequested: false,
      bytes: toBinary(TaskRecordSchema, record),
      lease: undefined,
    },
    artifact: undefined,
  };
}

export function prepareCommand(key: string, command: OutgoingCommand): NewTask {
  const record = create(TaskRecordSchema, { kind: { case: "command", value: command } });
  return {
    key,
    kind: "command",
    route: "command",
    dueAtMs: 0,
    needsStart: false,
    idempotent: true,
    cancelRequested: false,
    bytes: toBinary(TaskRecordSchema, record),
    lease: undefined,
  };
}

/** What must change in the task table when a stream's state changes. */
export interface TaskChanges {
  readonly add: readonly OutstandingTask[];
  readonly remove: readonly string[];
  readonly cancel: readonly string[];
}

/** Compares what is outstanding before and after; parts that are in both are not looked into. */
export function taskChanges(before: Outstanding, after: Outstanding): TaskChanges {
  const [gone, come] = [partsBeside(before, after), partsBeside(after, before)];
  const add: OutstandingTask[] = [];
  const cancel: string[] = [];
  for (const task of come.flat()) {
    const known = findTask(gone, task.key);
    if (known === undefined) add.push(task);
    else if (task.kind === "work" && task.cancelRequested && known.kind === "work" && !known.cancelRequested) cancel.push(task.key);
  }
  const remove = gone.flat().flatMap(({ key }) => (findTask(come, key) === undefined ? [key] : []));
  return { add, remove, cancel };
}
