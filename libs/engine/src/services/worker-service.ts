import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import { durationFromMs, durationMs, timestampFromMs } from "@bufbuild/protobuf/wkt";
import type { Placement } from "@forge/core";
import { type Api, type Call, checkText, ForgeError } from "@forge/protocol";
import { ErrorCode } from "@forge/protocol/common";
import {
  CapabilityKind,
  CapabilitySchema,
  DrainResponseSchema,
  HeartbeatResponseSchema,
  type LeasedTask,
  LeasedTaskSchema,
  LeaseTasksResponseSchema,
  type RegisterRequest,
  RegisterResponseSchema,
  ReportOutputResponseSchema,
  SettlementSchema,
  SettleTasksResponseSchema,
  StartTasksResponseSchema,
  type Settlement,
  type Task,
  type TaskAnswer,
  TaskAnswerSchema,
  type TaskLease,
  TaskSchema,
  type TaskStart,
  type WorkerService,
} from "@forge/protocol/worker";
import type { Store, StoredTask } from "../ports/index.ts";
import { taskRecord } from "../stream/build-append.ts";
import { newId, sha256 } from "../stream/identity.ts";
import type { StreamEngine } from "../stream/stream-engine.ts";
import { internalId, taskCommand } from "../tasks/internal-command.ts";
import type { LostTasks } from "../tasks/lost-tasks.ts";
import { deltaDraft, type OutputOffsets } from "../tasks/output-offsets.ts";
import { parseTaskId, proofOf, streamRef, taskId } from "../tasks/task-id.ts";
import type { WorkerRegistry } from "../tasks/worker-registry.ts";
import type { WorkerSession, WorkerSessions } from "../tasks/worker-sessions.ts";

/** What WorkerService needs. */
export interface WorkerServicePorts {
  readonly store: Store;
  readonly engine: StreamEngine;
  readonly placement: Placement<StoredTask>;
  readonly sessions: WorkerSessions;
  readonly registry: WorkerRegistry;
  readonly offsets: OutputOffsets;
  readonly lost: LostTasks;
  readonly leaseTtlMs: number;
  readonly heartbeatMs: number;
}

const BATCH_MAX = 1000;
const WAIT_MS_MAX = 60_000;
const SLOTS_MAX = 10_000;
const CAPABILITIES_MAX = 4096;
const QUEUES_MAX = 64;
const EPOCH_MAX = 2 ** 31 - 1;
const TOKEN_BYTES = 16;
/** A task up to here comes with its lease; a larger one as an artifact. */
const INLINE_TASK_MAX = 64 * 1024;

/** Refusals that say that a task is no longer the worker's. */
const HAS_ENDED: ReadonlySet<string> = new Set(["LEASE_LOST", "TASK_NOT_OPEN"]);

function startId(key: string, epoch: number): string {
  return `start/${key}/${epoch}`;
}

export function createWorkerService(ports: WorkerServicePorts): Api<typeof WorkerService> {
  const { store, engine, placement, sessions, registry, offsets, lost } = ports;

  async function sessionOf(sessionId: string, call: Call): Promise<WorkerSession> {
    let session = sessions.get(sessionId);
    if (session === undefined) {
      // It registered with another replica, or this one has just started.
      await registry.refresh(call.namespace);
      const worker = registry.find(call.namespace, sessionId);
      // Another call of the same session may have come first meanwhile.
      session = sessions.get(sessionId);
      if (session === undefined && worker !== undefined) {
        session = sessions.add(worker);
        placement.add(sessionId, worker.namespace, session.routes);
        if (worker.draining) placement.drain(sessionId);
      }
    }
    if (session === undefined || session.worker.namespace !== call.namespace || session.worker.principal !== call.principal) {
      throw new ForgeError(ErrorCode.NOT_FOUND, `worker session ${sessionId} does not exist: register again`, { reason: "WORKER_SESSION", relatedIds: [sessionId] });
    }
    return session;
  }

  async function leased(task: StoredTask): Promise<LeasedTask> {
    return create(LeasedTaskSchema, {
      taskId: taskId(task),
      stream: streamRef(task.streamKind, task.streamId),
      epoch: task.epoch,
      leaseToken: task.token,
      task: await wholeTask(task),
      leaseUntil: task.leaseUntilMs === undefined ? undefined : timestampFromMs(task.leaseUntilMs),
    });
  }

  async function wholeTask(task: StoredTask): Promise<Task> {
    const { kind } = taskRecord(task);
    if (kind.case !== "work") throw new Error(`task ${task.key} is no work`);
    const { artifact } = kind.value;
    if (artifact === undefined || artifact.size > INLINE_TASK_MAX) return kind.value;
    const stored = await store.getArtifact(task.namespace, artifact.sha256);
    if (stored === undefined) throw new ForgeError(ErrorCode.STORAGE_ERROR, `the input of task ${task.key} is missing from the artifact store: ${artifact.sha256}`);
    return fromBinary(TaskSchema, stored.content);
  }

  function answer(id: string, error?: unknown): TaskAnswer {
    if (error === undefined) return create(TaskAnswerSchema, { taskId: id });
    if (error instanceof ForgeError) return create(TaskAnswerSchema, { taskId: id, error: error.detail });
    throw error;
  }

  function leaseOf(lease: TaskLease | undefined, field: string): TaskLease {
    if (lease === undefined) throw ForgeError.validation(field, `${field} is missing`);
    if (lease.epoch < 1 || lease.epoch > EPOCH_MAX) throw ForgeError.validation(`${field}.epoch`, `${field}.epoch must be the one that LeaseTasks gave`);
    if (lease.leaseToken.length !== TOKEN_BYTES) throw ForgeError.validation(`${field}.lease_token`, `${field}.lease_token must have ${TOKEN_BYTES} bytes, as LeaseTasks gave it`);
    return lease;
  }

  async function start(one: TaskStart, session: WorkerSession, call: Call): Promise<void> {
    const lease = leaseOf(one.lease, "starts.lease");
    const name = parseTaskId(lease.taskId, "starts.lease.task_id");
    if (one.kind.case === undefined) throw ForgeError.validation("starts.kind", "a start says what starts: model or tool");
    checkText(one.kind.value, "starts");
    const value = { ...one.kind.value, worker: session.worker.name, epoch: lease.epoch };
    await engine.execute(
      taskCommand({
        namespace: call.namespace,
        principal: call.principal,
        kind: name.kind,
        streamId: name.streamId,
        command: { $typeName: "task.started", key: name.key, worker: session.worker.name, epoch: lease.epoch, start: { ...one.kind, value } as TaskStart["kind"] },
        commandId: startId(name.key, lease.epoch),
        digest: sha256(lease.leaseToken),
        proofs: [proofOf(lease, name)],
      }),
    );
  }

  async function settle(one: Settlement, session: WorkerSession, call: Call): Promise<void> {
    const lease = leaseOf(one.lease, "settlements.lease");
    const name = parseTaskId(lease.taskId, "settlements.lease.task_id");
    if (one.outcome.case === undefined) throw ForgeError.validation("settlements.outcome", "a settlement says how the task ended");
    checkText(one.outcome.value, "settlements");
    sessions.get(session.worker.sessionId)?.onItsWay.delete(lease.taskId);
    const shared = { namespace: call.namespace, principal: call.principal, kind: name.kind, streamId: name.streamId, digest: sha256(toBinary(SettlementSchema, one)) };
    try {
      await engine.execute(
        taskCommand({
          ...shared,
          command: { $typeName: "task.settled", key: name.key, worker: session.worker.name, outcome: one.outcome },
          commandId: `settle/${name.key}/${lease.epoch}`,
          proofs: [proofOf(lease, name)],
        }),
      );
    } catch (error) {
      if (!(error instanceof ForgeError) || !HAS_ENDED.has(error.reason)) throw error;
      await recordLate(one, name, lease, session, shared);
      throw new ForgeError(ErrorCode.CONFLICT, error.message, { reason: "LEASE_LOST", relatedIds: [name.streamId] });
    }
  }

  /** The worker is refused; the stream remembers that an answer came after the end, where it has a place for that. */
  async function recordLate(
    one: Settlement,
    name: ReturnType<typeof parseTaskId>,
    lease: TaskLease,
    session: WorkerSession,
    shared: { namespace: string; principal: string; kind: "session" | "run"; streamId: string; digest: Uint8Array },
  ): Promise<void> {
    if (!(await hadStarted(lease, name, shared.namespace))) return;
    try {
      await engine.execute(
        taskCommand({
          ...shared,
          command: { $typeName: "task.reported_late", key: name.key, worker: session.worker.name, outcome: one.outcome },
          commandId: `late/${name.key}/${lease.epoch}`,
          proofs: [],
        }),
      );
    } catch (error) {
      // A task whose stream records no late answers, or that another epoch still works on: the refusal alone is the answer.
      if (!(error instanceof ForgeError)) throw error;
    }
  }

  /** Only who once had the go-ahead for the task may have its late answer remembered: the record of the start holds a digest of its token. */
  async function hadStarted(lease: TaskLease, name: ReturnType<typeof parseTaskId>, namespace: string): Promise<boolean> {
    const [record] = await store.findCommands(namespace, name.streamId, [internalId(startId(name.key, lease.epoch))]);
    return record !== undefined && Buffer.compare(record.digest, sha256(lease.leaseToken)) === 0;
  }

  async function each<T>(items: readonly T[], field: string, id: (item: T) => string, act: (item: T) => Promise<void>): Promise<TaskAnswer[]> {
    if (items.length > BATCH_MAX) throw ForgeError.validation(field, `${field} has ${items.length} entries: at most ${BATCH_MAX}`);
    return Promise.all(
      items.map((item) =>
        act(item).then(
          () => answer(id(item)),
          (error: unknown) => answer(id(item), error),
        ),
      ),
    );
  }

  return {
    async register(request, call) {
      checkRegister(request, call);
      const sessionId = newId(Date.now());
      const worker = {
        sessionId,
        namespace: call.namespace,
        name: request.workerName,
        principal: call.principal,
        queues: request.queues,
        capabilities: request.capabilities.map((capability) => toBinary(CapabilitySchema, capability)),
        slots: request.slots,
        draining: false,
      };
      const saved = await store.saveWorker(worker, ports.leaseTtlMs);
      if (saved === undefined) {
        throw new ForgeError(ErrorCode.PERMISSION_DENIED, `the name ${request.workerName} belongs to a live worker of another credential: choose another`, { metadata: { field: "worker_name" } });
      }
      const { replaced } = saved;
      for (const old of replaced) {
        placement.remove(old);
        sessions.remove(old);
      }
      const session = sessions.add(worker);
      placement.add(sessionId, call.namespace, session.routes);
      await registry.refresh(call.namespace);
      if (replaced.length > 0) {
        const released = await store.releaseOwners(replaced);
        await lost.lost(released.started);
        for (const { namespace, route } of released.routes) placement.touch(namespace, route);
        store.wake(released.routes.map(({ namespace, route }) => ({ namespace, streamId: "", seq: 0, routes: [route] })));
      }
      return create(RegisterResponseSchema, { workerSessionId: sessionId, heartbeatInterval: durationFromMs(ports.heartbeatMs), leaseTtl: durationFromMs(ports.leaseTtlMs) });
    },

    async leaseTasks(request, call) {
      const session = await sessionOf(request.workerSessionId, call);
      if (request.slots === 0 || request.slots > SLOTS_MAX) throw ForgeError.validation("slots", `slots must be 1 to ${SLOTS_MAX}`);
      const waitMs = Math.min(request.wait === undefined ? 0 : durationMs(request.wait), WAIT_MS_MAX);
      const untilMs = Date.now() + waitMs;
      for (;;) {
        const found = await placement.poll(request.workerSessionId, request.slots, Math.max(0, untilMs - Date.now()), call.signal);
        const tasks = [...found.tasks];
        if (found.wanted > 0) {
          const more = await store.leaseTasks({ namespace: call.namespace, routes: session.routes, owner: request.workerSessionId, ttlMs: ports.leaseTtlMs, limit: found.wanted });
          // Where there were as many as asked for there may be more: the next poll asks again.
          if (more.length === found.wanted) placement.touchOwner(request.workerSessionId);
          tasks.push(...more);
        }
        if (tasks.length > 0 || found.ended || Date.now() >= untilMs) {
          for (const task of tasks) sessions.send(session, taskId(task), task, Date.now());
          return create(LeaseTasksResponseSchema, { tasks: await Promise.all(tasks.map(leased)) });
        }
      }
    },

    async startTasks(request, call) {
      const session = await sessionOf(request.workerSessionId, call);
      const answers = await each(request.starts, "starts", (one) => one.lease?.taskId ?? "", (one) => start(one, session, call));
      return create(StartTasksResponseSchema, { answers });
    },

    async heartbeat(request, call) {
      const session = await sessionOf(request.workerSessionId, call);
      const names = new Map(request.held.map((lease) => [lease.taskId, { ...parseTaskId(lease.taskId, "held.task_id"), epoch: lease.epoch }]));
      const onItsWay = [...sessions.unnamed(session, new Map([...names].map(([id, name]) => [id, name.epoch])), Date.now()), ...placement.undelivered(request.workerSessionId)];
      const held = [
        ...[...names.values()].map(({ streamId, key, epoch }) => ({ namespace: call.namespace, streamId, key, epoch })),
        ...onItsWay.map(({ namespace, streamId, key, epoch }) => ({ namespace, streamId, key, epoch })),
      ];
      const beat = await store.heartbeat({ sessionId: request.workerSessionId, ttlMs: ports.leaseTtlMs, held });
      if (!beat.known) {
        // A session that ended holds nothing any more, whatever it thinks.
        const released = await store.releaseOwners([request.workerSessionId]);
        await lost.lost([...beat.abandoned, ...released.started]);
        sessions.remove(request.workerSessionId);
        placement.remove(request.workerSessionId);
        throw new ForgeError(ErrorCode.NOT_FOUND, `worker session ${request.workerSessionId} has ended: register again`, { reason: "WORKER_SESSION" });
      }
      await lost.lost(beat.abandoned);
      for (const { namespace, route } of beat.routes) placement.touch(namespace, route);
      const idOf = new Map([...names].map(([id, name]) => [`${name.streamId}/${name.key}`, id]));
      const toIds = (tasks: readonly { streamId: string; key: string }[]) =>
        tasks.map((task) => idOf.get(`${task.streamId}/${task.key}`)).filter((id) => id !== undefined);
      const lostTaskIds = toIds(beat.lost);
      let cancelTaskIds: readonly string[] = toIds(beat.cancelled);
      if (cancelTaskIds.length + lostTaskIds.length === 0) {
        cancelTaskIds = await sessions.waitForCancel((id) => names.has(id) || session.onItsWay.has(id), ports.heartbeatMs, call.signal);
      }
      return create(HeartbeatResponseSchema, { cancelTaskIds: [...cancelTaskIds], lostTaskIds });
    },

    async reportOutput(request, call) {
      await sessionOf(request.workerSessionId, call);
      const answers = await each(request.deltas, "deltas", (one) => one.lease?.taskId ?? "", async (one) => {
        const lease = leaseOf(one.lease, "deltas.lease");
        const name = parseTaskId(lease.taskId, "deltas.lease.task_id");
        checkText(one.kind.value, "deltas");
        const draft = deltaDraft(one);
        if (draft === undefined) throw ForgeError.validation("deltas.kind", "a delta is of a turn or of a tool");
        if (!offsets.isNew(lease.taskId, one)) return;
        const entry = await engine.peek(call.namespace, name.streamId, name.kind);
        await engine.appendDelta({
          namespace: call.namespace,
          principal: call.principal,
          kind: name.kind,
          streamId: name.streamId,
          drafts: [entry === undefined ? draft : { ...draft, ...entry.aggregate.deltaIds(entry.state, name.key) }],
          proof: proofOf(lease, name),
        });
        offsets.count(lease.taskId, one);
      });
      return create(ReportOutputResponseSchema, { answers });
    },

    async settleTasks(request, call) {
      const session = await sessionOf(request.workerSessionId, call);
      const answers = await each(request.settlements, "settlements", (one) => one.lease?.taskId ?? "", (one) => settle(one, session, call));
      return create(SettleTasksResponseSchema, { answers });
    },

    async drain(request, call) {
      await sessionOf(request.workerSessionId, call);
      placement.drain(request.workerSessionId);
      await store.drainWorker(request.workerSessionId);
      await registry.refresh(call.namespace);
      return create(DrainResponseSchema);
    },
  };
}

function checkRegister(request: RegisterRequest, call: Call): void {
  checkText(request);
  if (request.version?.major !== 1) {
    throw new ForgeError(ErrorCode.UNSUPPORTED_VERSION, `worker protocol version ${request.version?.major ?? "(none)"} is not spoken here: this server speaks 1.x`);
  }
  if (!/^[\x21-\x7e]{1,128}$/.test(request.workerName)) throw ForgeError.validation("worker_name", "worker_name must be 1 to 128 visible ASCII characters");
  if (request.slots === 0 || request.slots > SLOTS_MAX) throw ForgeError.validation("slots", `slots must be 1 to ${SLOTS_MAX}`);
  if (request.queues.length === 0 || request.queues.length > QUEUES_MAX) throw ForgeError.validation("queues", `queues must name 1 to ${QUEUES_MAX} queues`);
  if (request.capabilities.length > CAPABILITIES_MAX) throw ForgeError.validation("capabilities", `capabilities has ${request.capabilities.length} entries: at most ${CAPABILITIES_MAX}`);
  for (const queue of request.queues) {
    if (!/^[\x21-\x7e]{1,128}$/.test(queue)) throw ForgeError.validation("queues", `queue "${queue.slice(0, 40)}" must be 1 to 128 visible ASCII characters`);
    if (call.queues !== undefined && call.queues.length > 0 && !call.queues.includes(queue)) {
      throw new ForgeError(ErrorCode.PERMISSION_DENIED, `this credential does not grant queue ${queue}: it grants ${call.queues.join(", ")}`, { metadata: { field: "queues" } });
    }
  }
  for (const capability of request.capabilities) {
    if (capability.kind === CapabilityKind.UNSPECIFIED) throw ForgeError.validation("capabilities.kind", "a capability is of a model, a tool or a function");
    if (!/^[\x21-\x7e]{1,256}$/.test(capability.name)) throw ForgeError.validation("capabilities.name", "a capability's name must be 1 to 256 visible ASCII characters");
    if (capability.kind === CapabilityKind.MODEL && !capability.name.endsWith("/*")) {
      throw ForgeError.validation("capabilities.name", `model capability ${capability.name} must name a provider: for example openai/*`);
    }
    if ((capability.kind === CapabilityKind.TOOL) !== (capability.tool !== undefined)) throw ForgeError.validation("capabilities.tool", `capability ${capability.name}: a tool carries its spec, nothing else does`);
    if (capability.tool !== undefined && capability.tool.name !== capability.name) throw ForgeError.validation("capabilities.tool.name", `capability ${capability.name} carries the spec of ${capability.tool.name}`);
  }
}
