import { Placement, pause } from "@forge/core";
import { concurrencyDecider, runDecider, sessionDecider } from "@forge/domain";
import type { Api } from "@forge/protocol";
import type { ArtifactService } from "@forge/protocol/artifact";
import type { ApprovalService, EventService } from "@forge/protocol/event";
import type { SessionService } from "@forge/protocol/session";
import type { TokenService } from "@forge/protocol/token";
import type { WorkerService } from "@forge/protocol/worker";
import type { ScheduleService, WorkflowService } from "@forge/protocol/workflow";
import type { WorkspaceService } from "@forge/protocol/workspace";
import { Archiver } from "./archive/archiver.ts";
import { withArchives } from "./archive/with-archives.ts";
import type { Store, StoredTask, Wakeup } from "./ports/index.ts";
import { ScheduleRuns } from "./schedules/schedule-runs.ts";
import { Schedules } from "./schedules/schedules.ts";
import { createApprovalService } from "./services/approval-service.ts";
import { createArtifactService } from "./services/artifact-service.ts";
import { createEventService } from "./services/event-service.ts";
import { Executor } from "./services/execute.ts";
import { readChildFork } from "./services/fork-session.ts";
import { createScheduleService } from "./services/schedule-service.ts";
import { createSessionService } from "./services/session-service.ts";
import { createTokenService } from "./services/token-service.ts";
import { createWorkerService } from "./services/worker-service.ts";
import { createWorkflowService } from "./services/workflow-service.ts";
import { createWorkspaceService } from "./services/workspace-service.ts";
import { ARCHIVE_FORMAT, EVENT_FORMATS, type EventFormats } from "./stream/event-formats.ts";
import { newId } from "./stream/identity.ts";
import { RecentEvents } from "./stream/recent-events.ts";
import { type Appended, StreamEngine } from "./stream/stream-engine.ts";
import { Hub } from "./subscribe/hub.ts";
import { SubscriptionStart } from "./subscribe/subscription-start.ts";
import { Watchers } from "./subscribe/watchers.ts";
import { DeltaPruner } from "./tasks/delta-pruner.ts";
import { LostTasks } from "./tasks/lost-tasks.ts";
import { Outbox } from "./tasks/outbox.ts";
import { Repair } from "./tasks/repair.ts";
import { Replicas } from "./tasks/replicas.ts";
import { taskId } from "./tasks/task-id.ts";
import { TaskReports } from "./tasks/task-reports.ts";
import { TIMERS_MAX, Timers } from "./tasks/timers.ts";
import { WorkerRegistry } from "./tasks/worker-registry.ts";
import { WorkerSessions } from "./tasks/worker-sessions.ts";

export interface ControlPlaneOptions {
  readonly store: Store;
  /** Bugs and what the engine could do nothing about; never an answer to a client. */
  readonly onProblem: (error: unknown, where: string) => void;
  /** How long a lease lasts without a heartbeat; absent: 15 s. */
  readonly leaseTtlMs?: number;
  /** How often workers report; absent: a fifth of the lease. */
  readonly heartbeatMs?: number;
  /** How often a subscriber is told its position while nothing happens; absent: 15 s. */
  readonly positionMs?: number;
  /** Events and bytes that may wait for one subscriber; absent: 10,000 and 16 MiB. */
  readonly subscriberItemsMax?: number;
  readonly subscriberBytesMax?: number;
  /** Streams kept in memory; absent: 10,000. */
  readonly cacheMax?: number;
  /** False for a reader, which never dispatches, delivers, fires or repairs anything; absent: true. */
  readonly dispatches?: boolean;
  /** Event formats that it knows; absent: this version's. */
  readonly formats?: EventFormats;
  /** What becomes of runs that have ended; absent: they stay as they are. */
  readonly retention?: Retention;
}

/** When ended runs are moved out of the way. None is while an older control plane runs that could not read it. */
export interface Retention {
  /** A run is archived so long after its end. */
  readonly archiveAfterMs: number;
}

/** Every service of the control plane as plain functions, and its life. */
export interface ControlPlane {
  readonly session: Api<typeof SessionService>;
  readonly workflow: Api<typeof WorkflowService>;
  readonly schedule: Api<typeof ScheduleService>;
  readonly event: Api<typeof EventService>;
  readonly approval: Api<typeof ApprovalService>;
  readonly artifact: Api<typeof ArtifactService>;
  readonly workspace: Api<typeof WorkspaceService>;
  readonly token: Api<typeof TokenService>;
  readonly worker: Api<typeof WorkerService>;
  /** Makes all task rows equal to what the streams want; how many streams had to be changed. */
  repair(): Promise<number>;
  /** Where one stream's task rows differ from its state; undefined where it does not exist. */
  compareTasks(namespace: string, streamId: string, kind: "session" | "run"): ReturnType<Repair["compare"]>;
  /** Finishes what is on its way and stops; the store stays open. */
  close(): Promise<void>;
}

const SLOW_POLL_MS = 5_000;
const REGISTRY_MS = 3_000;
/** After a start, workers that were there before have joined again by then, or will not come. */
const FIRST_WORKER_MS = 3_000;
const EXPIRE_MAX = 500;
/** Of more routes in which work waits, every worker asks for itself. */
const ROUTES_MAX = 1_000;
const TIMER_LEASE_MS = 30_000;
/** Nobody waits for an archive; a round takes hundreds of runs. */
const ARCHIVE_MS = 60_000;

/** Starts the engine on a store: one replica of the control plane. */
export async function createControlPlane(options: ControlPlaneOptions): Promise<ControlPlane> {
  const { onProblem } = options;
  const store = withArchives(options.store);
  const leaseTtlMs = options.leaseTtlMs ?? 15_000;
  const heartbeatMs = options.heartbeatMs ?? leaseTtlMs / 5;
  const dispatches = options.dispatches ?? true;
  const replica = `replica:${newId(Date.now())}`;
  const startedAtMs = Date.now();
  let delivering: Promise<void> | undefined;
  let expiresFromMs = startedAtMs + leaseTtlMs;
  const stop = new AbortController();
  const placement = new Placement<StoredTask>();
  const hub = new Hub();
  const recent = new RecentEvents(store);
  const watchers = new Watchers(store, (error) => onProblem(error, "watching"));
  const registry = new WorkerRegistry(store);
  const sessions = new WorkerSessions();
  const formats = options.formats ?? EVENT_FORMATS;
  const replicas = new Replicas(store, replica, formats, () => watchers.missed());
  const readable = (tasks: readonly StoredTask[]) =>
    replicas.readable(tasks, ({ namespace, streamId, streamKind }) => engine.read(namespace, streamId, streamKind));
  // A reader holds nobody up: what it can't read it says.
  if (dispatches) await replicas.keep();
  // The newer ones hear of this one before it may meet a new kind of event that they have just begun to write.
  if (replicas.isBehind) await pause(2 * REGISTRY_MS);
  const engine = new StreamEngine({
    store,
    aggregates: { session: sessionDecider, run: runDecider, concurrency: concurrencyDecider },
    placement,
    replica,
    leaseTtlMs,
    cacheMax: options.cacheMax ?? 10_000,
    nowMs: () => Date.now(),
    artifactText: async (namespace, sha256) => {
      const stored = await store.getArtifact(namespace, sha256);
      return stored === undefined ? undefined : new TextDecoder().decode(stored.content);
    },
    knowTools: (namespace) => registry.know(namespace),
    toolsOf: (namespace, queue) => registry.toolsOf(namespace, queue),
    isServed: (namespace, queue, capability) => registry.isKnownToServe(namespace, queue, capability),
    knowServed: (namespace) => registry.refresh(namespace),
    formats,
    mayWrite: (format) => replicas.mayWrite(format),
    onAppended,
    onBug: onProblem,
    onUncertainAppend: (namespace, streamId) => guard("an uncertain append", tellHead(namespace, streamId)),
    onUnreadable: (streamId, error) => {
      if (replicas.isUnreadable(streamId)) onProblem(error, "left to a newer control plane");
    },
  });
  const repair = new Repair(store, engine);
  const leaseTimers = async () => {
    const leased = await store.leaseInternal({ kind: "timer", owner: replica, ttlMs: TIMER_LEASE_MS, limit: TIMERS_MAX, except: replicas.left });
    return { ...leased, tasks: await readable(leased.tasks), isFull: leased.tasks.length === TIMERS_MAX };
  };
  const lost = new LostTasks(store, engine, repair, replica, replicas);
  const outbox = new Outbox(engine, repair, (namespace, sessionId, fork) => readChildFork(store, engine, namespace, sessionId, fork), onProblem);
  const timers = new Timers(leaseTimers, engine, repair, onProblem);
  const executor = new Executor(engine);
  const pruner = new DeltaPruner(store, (error) => onProblem(error, "pruning"));
  const background: Promise<void>[] = [];

  function onAppended(appended: Appended): void {
    const { namespace, streamId, kind, events, deltas, seq } = appended;
    if (kind === "session") recent.add(namespace, streamId, events, deltas);
    hub.publish(namespace, streamId, events);
    if (appended.listed) watchers.moved(namespace, streamId);
    for (const route of appended.unplacedRoutes) placement.touch(namespace, route);
    store.wake([{ namespace, streamId, seq, routes: appended.unplacedRoutes }]);
    if (appended.commands.length > 0) outbox.accept(appended.commands);
    if (appended.timerDueAtMs !== undefined) timers.expect(appended.timerDueAtMs);
    if (appended.laterRoutes.length > 0) for (const later of appended.laterRoutes) touchLater(namespace, later.route, later.dueAtMs);
    if (appended.cancelled.length > 0) {
      const keys = new Set(appended.cancelled);
      for (const key of keys) sessions.cancel(taskId({ streamKind: kind, streamId, key }));
      const unfetched = placement.withdraw((task) => task.namespace === namespace && task.streamId === streamId && keys.has(task.key));
      guard("cancellations", Promise.all([lost.cancelled(unfetched), lost.settleCancelled(streamId)]));
    }
    const pruneThroughSeq = firstTurnStart(events);
    if (pruneThroughSeq > 1) pruner.prune(namespace, streamId, pruneThroughSeq - 1);
  }

  /** Tells everybody, here and elsewhere, where a stream is now. */
  async function tellHead(namespace: string, streamId: string): Promise<void> {
    const [head] = await store.heads([{ namespace, streamId }]);
    if (head === undefined) return;
    hub.moved(namespace, streamId, head.seq);
    watchers.moved(namespace, streamId);
    placement.touch();
    store.wake([{ namespace, streamId, seq: head.seq, routes: [] }]);
  }

  function guard(where: string, work: Promise<unknown>): void {
    work.catch((error: unknown) => onProblem(error, where));
  }

  /** A task that is due later waits in the store; its workers are told when its time has come. */
  function touchLater(namespace: string, route: string, dueAtMs: number): void {
    const timer = setTimeout(() => placement.touch(namespace, route), Math.min(Math.max(1, dueAtMs - Date.now() + 5), 2 ** 31 - 1));
    timer.unref();
  }

  function onWakeups(wakeups: readonly Wakeup[]): void {
    for (const { namespace, streamId, seq, routes } of wakeups) {
      if (streamId !== "") {
        engine.forget(namespace, streamId, seq);
        hub.moved(namespace, streamId, seq);
        watchers.moved(namespace, streamId);
      } else if (namespace === "") watchers.missed();
      for (const route of routes) placement.touch(namespace, route);
    }
  }

  /** Wake-ups are hints: whatever they missed is found here. */
  async function lookEverywhere(): Promise<void> {
    const followed = hub.streams();
    for (let index = 0; index < followed.length; index += 1000) {
      for (const head of await store.heads(followed.slice(index, index + 1000))) {
        engine.forget(head.namespace, head.streamId, head.seq);
        hub.moved(head.namespace, head.streamId, head.seq);
      }
    }
    if (!dispatches) return;
    await touchWaiting();
    await workersAreBack();
    deliverCommands();
    await lost.settleCancelled();
  }

  /** Workers ask the store only where something waits for them: most often nothing does, and there may be many. */
  async function touchWaiting(): Promise<void> {
    const waiting = await store.waitingRoutes(ROUTES_MAX);
    if (waiting.length === ROUTES_MAX) placement.touch();
    for (const { namespace, route } of waiting) placement.touch(namespace, route);
  }

  /** A turn's tools are those that are served when it starts, so that what waited from before a start waits until its workers are back as well. */
  async function workersAreBack(): Promise<void> {
    await Promise.race([registry.firstWorker, pause(Math.max(0, startedAtMs + FIRST_WORKER_MS - Date.now()), stop.signal)]);
  }

  /** Commands that nobody holds: one of each source at a time, until none is left. Nothing else waits for it. */
  function deliverCommands(): void {
    delivering ??= (async () => {
      while (!stop.signal.aborted) {
        const { tasks } = await store.leaseInternal({ kind: "command", owner: replica, ttlMs: leaseTtlMs, limit: EXPIRE_MAX, except: replicas.left });
        const own = await readable(tasks);
        if (own.length === 0) return;
        await outbox.resume(own);
      }
    })()
      .catch((error: unknown) => onProblem(error, "outbox"))
      .finally(() => {
        delivering = undefined;
      });
  }

  /** Workers that left, or drain, on another replica get nothing placed here any more. */
  async function refreshWorkers(): Promise<void> {
    await registry.refreshAll();
    const live = registry.sessions();
    for (const owner of placement.owners()) {
      const draining = live.get(owner);
      if (draining === true) placement.drain(owner);
      if (draining !== undefined || !sessions.isOlderThan(owner, REGISTRY_MS)) continue;
      placement.remove(owner);
      sessions.remove(owner);
    }
  }

  /**
   * Takes leases away whose time has passed, but not before everybody had the time of one lease to say that he is still there: while this replica, or the
   * database, was away, no heartbeat could come through.
   */
  async function expire(): Promise<void> {
    if (Date.now() < expiresFromMs) return;
    const dead = await store.removeDeadWorkers();
    for (const sessionId of dead) {
      placement.remove(sessionId);
      sessions.remove(sessionId);
    }
    const released = dead.length === 0 ? undefined : await store.releaseOwners(dead);
    const expired = await store.expireLeases(EXPIRE_MAX, replicas.left);
    await lost.lost([...(released?.started ?? []), ...expired.started]);
    const routes = [...(released?.routes ?? []), ...expired.routes];
    for (const { namespace, route } of routes) placement.touch(namespace, route);
    store.wake(routes.map(({ namespace, route }) => ({ namespace, streamId: "", seq: 0, routes: [route] })));
    if (routes.some(({ route }) => route === "command")) deliverCommands();
    if (dead.length > 0) await registry.refreshAll();
  }

  function every(ms: number, where: string, work: () => Promise<unknown>): void {
    background.push(
      (async () => {
        while (!stop.signal.aborted) {
          await work().catch((error: unknown) => onProblem(error, where));
          await pause(ms, stop.signal);
        }
      })(),
    );
  }

  const ports = { store, recent, engine, executor, registry };
  const mayArchive = () => replicas.mayWrite(ARCHIVE_FORMAT);
  const workflow = createWorkflowService({ ...ports, mayArchive });
  const runs = new ScheduleRuns({ store, workflow });
  const schedules = new Schedules({ store, runs, onProblem });

  await store.listen(
    onWakeups,
    () => {
      // While the connection was down anything may have moved.
      expiresFromMs = Date.now() + leaseTtlMs;
      engine.forgetAll();
      watchers.missed();
      guard("wake-ups", lookEverywhere());
    },
    stop.signal,
  );
  every(SLOW_POLL_MS, "slow poll", lookEverywhere);
  every(REGISTRY_MS, "worker registry", refreshWorkers);
  if (dispatches) {
    every(leaseTtlMs / 3, "leases", expire);
    every(REGISTRY_MS, "replicas", () => replicas.keep());
    if (options.retention !== undefined) {
      const archiver = new Archiver({
        store,
        archiveAfterMs: options.retention.archiveAfterMs,
        mayArchive,
        onProblem: (error) => onProblem(error, "retention"),
      });
      every(ARCHIVE_MS, "retention", () => archiver.round(stop.signal));
    }
    background.push(workersAreBack().then(() => timers.run(stop.signal)));
    background.push(workersAreBack().then(() => schedules.run(stop.signal)));
    background.push(
      repair
        .all(stop.signal, (error) => onProblem(error, "recovery"))
        .then(
          () => undefined,
          (error: unknown) => onProblem(error, "recovery"),
        ),
    );
  }

  const subscription = {
    store,
    start: new SubscriptionStart(store),
    hub,
    watchers,
    heartbeatMs: options.positionMs ?? 15_000,
    queueItemsMax: options.subscriberItemsMax ?? 10_000,
    queueBytesMax: options.subscriberBytesMax ?? 16 * 1024 * 1024,
  };
  return {
    session: createSessionService(ports),
    workflow,
    schedule: createScheduleService({ store, runs, onChanged: () => schedules.expect() }),
    event: createEventService(subscription),
    approval: createApprovalService(ports),
    artifact: createArtifactService(ports),
    workspace: createWorkspaceService(ports),
    token: createTokenService(ports),
    worker: createWorkerService({
      store,
      placement,
      sessions,
      registry,
      reports: new TaskReports(store, engine),
      lost,
      leaseTtlMs,
      heartbeatMs,
      replicas,
      readable,
    }),
    repair: () => repair.all(stop.signal, (error) => onProblem(error, "repair")),
    compareTasks: (namespace, streamId, kind) => repair.compare(namespace, streamId, kind),
    close: async () => {
      stop.abort();
      await Promise.all([...background, pruner.stop()]);
      await delivering;
      // The end of a command may put another into the outbox, and the other way round.
      while (outbox.isBusy || engine.isBusy) {
        await outbox.whenIdle();
        await engine.whenIdle();
      }
      if (dispatches) await replicas.leave().catch((error: unknown) => onProblem(error, "replicas"));
    },
  };
}

/** The seq of a turn's start among events; 0: none. Deltas of earlier turns, whose whole answers are durable, go then. */
function firstTurnStart(events: Appended["events"]): number {
  return events.find((event) => event.kind === "turn.started")?.seq ?? 0;
}
