import { randomBytes, randomUUID } from "node:crypto";
import type { Listing } from "@forge/domain";
import type { NewTask, StoredEvent, StreamAppend } from "@forge/engine/ports";
import { uuidV7 } from "@forge/protocol";

export function newStreamId(): string {
  return uuidV7(Date.now(), randomBytes(10));
}

/** A namespace of its own keeps tests on one database apart. */
export function newNamespace(): string {
  return `test-${randomUUID()}`;
}

/** Events with seq first to first + count - 1. */
export function eventsFrom(first: number, count = 1): readonly StoredEvent[] {
  return Array.from({ length: count }, (_, index) => ({ seq: first + index, kind: "turn.started", bytes: Buffer.from(`event ${first + index}`) }));
}

export function aCommand(seq: number, commandId: string = randomUUID()): StreamAppend["commands"][number] {
  return { commandId, digest: Buffer.from(`digest of ${commandId}`), seq, resultType: "forge.test.v1.Result", result: Buffer.from(`result of ${commandId}`) };
}

/** An append of one event to a stream at expectedSeq, and nothing else unless said so. */
export function anAppend(append: Partial<StreamAppend> & Pick<StreamAppend, "namespace" | "streamId" | "expectedSeq">): StreamAppend {
  return {
    kind: "run",
    events: eventsFrom(append.expectedSeq + 1),
    deltas: false,
    commands: [],
    requires: [],
    settles: [],
    starts: [],
    addTasks: [],
    removeTasks: [],
    cancelTasks: [],
    listing: undefined,
    artifacts: [],
    ...append,
  };
}

/** Due, unleased work that needs a start. */
export function aTask(task: Partial<NewTask> & Pick<NewTask, "key">): NewTask {
  return {
    kind: "work",
    route: "default tool:echo",
    dueAtMs: 0,
    needsStart: true,
    cancelRequested: false,
    idempotent: false,
    bytes: Buffer.from(`task ${task.key}`),
    lease: undefined,
    ...task,
  };
}

export function aListing(listing: Partial<Listing> = {}): Listing {
  return {
    status: "RUN_STATUS_RUNNING",
    detailStatus: "",
    title: "A run",
    subject: "triage",
    version: "1",
    labels: {},
    approvals: [],
    ...listing,
  };
}
