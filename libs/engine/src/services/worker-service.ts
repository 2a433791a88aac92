import { create, toBinary } from "@bufbuild/protobuf";
import { durationFromMs, durationMs } from "@bufbuild/protobuf/wkt";
import { Batcher, type Placement } from "@forge/core";
import { type Api, type Call, ForgeError } from "@forge/protocol";
import { ErrorCode, type TaskLease } from "@forge/protocol/common";
import {
  CapabilitySchema,
  DrainResponseSchema,
  HeartbeatResponseSchema,
  LeaseTasksResponseSchema,
  RegisterResponseSchema,
  ReportOutputResponseSchema,
  SettleTasksResponseSchema,
  StartTasksResponseSchema,
  type TaskAnswer,
  TaskAnswerSchema,
  type WorkerService,
} from "@forge/protocol/worker";
import type { Heartbeat, HeartbeatAnswer, Store, StoredTask } from "../ports/index.ts";
import { newId } from "../stream/identity.ts";
import { leasedTask } from "../tasks/leased-task.ts";
import type { LostTasks } from "../tasks/lost-tasks.ts";
import type { Replicas } from "../tasks/replicas.ts";
import { parseTaskId, taskId } from "../tasks/task-id.ts";
import type { TaskReports } from "../tasks/task-reports.ts";
import type { WorkerRegistry } from "../tasks/worker-registry.ts";
import type { WorkerSession, WorkerSessions } from "../tasks/worker-sessions.ts";
import { checkRegister, SLOTS_MAX } from "./check-register.ts";

/** What WorkerService needs. */
export interface WorkerServicePorts {
  readonly store: Store;
  readonly placement: Placement<StoredTask>;
  readonly sessions: WorkerSessions;
  readonly registry: WorkerRegistry;
  readonly reports: TaskReports;
  readonly lost: LostTasks;
  readonly leaseTtlMs: number;
  readonly heartbeatMs: number;
  readonly replicas: Replicas;
  /** Of leased tasks those that this control plane can read; the others are given back. */
  readonly readable: (tasks: readonly StoredTask[]) => Promise<readonly StoredTask[]>;
}

const BATCH_MAX = 1000;
const WAIT_MS_MAX = 60_000;
/** Heartbeats of many workers share their statements: the first goes at once, those that follow wait for each other, for so small a part of a lease that none ends by it. */
const BEATS_PER_LEASE = 150;
const BEATS_MAX = 256;

export function createWorkerService(ports: WorkerServicePorts): Api<typeof WorkerService> {
  const { store, placement, sessions, registry, reports, lost } = ports;
  const beats = new Batcher<Heartbeat, HeartbeatAnswer>(
    async (batch) => {
      const { answers, abandoned, routes } = await store.heartbeat(batch, ports.leaseTtlMs);
      await lost.lost(abandoned);
      for (const { namespace, route } of routes) placement.touch(namespace, route);
      return answers;
    },
    { concurrency: 1, batchMax: BEATS_MAX, intervalMs: ports.leaseTtlMs / BEATS_PER_LEASE },
  );

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
    const mayServe = (queue: string): boolean => (call.queues ?? []).length === 0 || (call.queues ?? []).includes(queue);
    // A token of the same name may grant less than the one that it registered with.
    if (session !== undefined && !session.worker.queues.every(mayServe)) session = undefined;
    if (session === undefined || session.worker.namespace !== call.namespace || session.worker.principal !== call.principal) {
      throw new ForgeError(ErrorCode.NOT_FOUND, `worker session ${sessionId} does not exist: register again`, {
        reason: "WORKER_SESSION",
        relatedIds: [sessionId],
      });
    }
    return session;
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
        throw new ForgeError(ErrorCode.PERMISSION_DENIED, `the name ${request.workerName} belongs to a live worker of another credential: choose another`, {
          metadata: { field: "worker_name" },
        });
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
      return create(RegisterResponseSchema, {
        workerSessionId: sessionId,
        heartbeatInterval: durationFromMs(ports.heartbeatMs),
        leaseTtl: durationFromMs(ports.leaseTtlMs),
      });
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
          const more = await store.leaseTasks({
            namespace: call.namespace,
            routes: session.routes,
            owner: request.workerSessionId,
            ttlMs: ports.leaseTtlMs,
            limit: found.wanted,
            except: ports.replicas.left,
          });
          // Where there were as many as asked for there may be more: the next poll asks again.
          if (more.length === found.wanted) placement.touchOwner(request.workerSessionId);
          tasks.push(...(await ports.readable(more)));
        }
        if (tasks.length > 0 || found.ended || Date.now() >= untilMs) {
          for (const task of tasks) sessions.send(session, taskId(task), task, Date.now());
          return create(LeaseTasksResponseSchema, { tasks: await Promise.all(tasks.map((task) => leasedTask(task, store))) });
        }
      }
    },

    async startTasks(request, call) {
      const session = await sessionOf(request.workerSessionId, call);
      const answers = await each(request.starts, "starts", (one) =>
        reports.start(one, { call, worker: session.worker.name, sessionId: session.worker.sessionId }),
      );
      return create(StartTasksResponseSchema, { answers });
    },

    async heartbeat(request, call) {
      const session = await sessionOf(request.workerSessionId, call);
      const names = new Map(request.held.map((lease) => [lease.taskId, { ...parseTaskId(lease.taskId, "held.task_id"), epoch: lease.epoch }]));
      const onItsWay = [
        ...sessions.unnamed(session, new Map([...names].map(([id, name]) => [id, name.epoch])), Date.now()),
        ...placement.undelivered(request.workerSessionId),
      ];
      const held = [
        ...[...names.values()].map(({ streamId, key, epoch }) => ({ namespace: call.namespace, streamId, key, epoch })),
        ...onItsWay.map(({ namespace, streamId, key, epoch }) => ({ namespace, streamId, key, epoch })),
      ];
      const beat = await beats.submit({ sessionId: request.workerSessionId, held });
      if (!beat.known) {
        // A session that ended holds nothing any more, whatever it thinks.
        const released = await store.releaseOwners([request.workerSessionId]);
        await lost.lost(released.started);
        sessions.remove(request.workerSessionId);
        placement.remove(request.workerSessionId);
        throw new ForgeError(ErrorCode.NOT_FOUND, `worker session ${request.workerSessionId} has ended: register again`, { reason: "WORKER_SESSION" });
      }
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
      const session = await sessionOf(request.workerSessionId, call);
      const answers = await each(request.deltas, "deltas", (one) =>
        reports.output(one, { call, worker: session.worker.name, sessionId: session.worker.sessionId }),
      );
      return create(ReportOutputResponseSchema, { answers });
    },

    async settleTasks(request, call) {
      const session = await sessionOf(request.workerSessionId, call);
      const answers = await each(request.settlements, "settlements", (one) => {
        session.onItsWay.delete(one.lease?.taskId ?? "");
        return reports.settle(one, { call, worker: session.worker.name, sessionId: session.worker.sessionId });
      });
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

/** Answers each item by itself; only a bug fails all. */
async function each<T extends { readonly lease?: TaskLease }>(items: readonly T[], field: string, act: (item: T) => Promise<void>): Promise<TaskAnswer[]> {
  if (items.length > BATCH_MAX) throw ForgeError.validation(field, `${field} has ${items.length} entries: at most ${BATCH_MAX}`);
  return Promise.all(
    items.map(async (item) => {
      const answer = create(TaskAnswerSchema, { taskId: item.lease?.taskId ?? "" });
      try {
        await act(item);
      } catch (error) {
        if (!(error instanceof ForgeError)) throw error;
        answer.error = error.detail;
      }
      return answer;
    }),
  );
}
