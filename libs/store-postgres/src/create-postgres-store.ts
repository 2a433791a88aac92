import { randomUUID } from "node:crypto";
import type { Store } from "@forge/engine/ports";
import { sql } from "kysely";
import { APPEND_SETTINGS, append } from "./append/append.ts";
import { archiveStream, endedRuns } from "./archive/archive.ts";
import { getArtifact, putArtifact } from "./artifacts.ts";
import { Database, type PostgresConnection } from "./database.ts";
import { findDefinition, listDefinitions, saveDefinition } from "./definitions/definitions.ts";
import { list, listed, openStreams, pendingApprovals } from "./listings.ts";
import { requireVersion } from "./migrate.ts";
import { createPrincipal, findPrincipal, listPrincipals, removePrincipal, savePrincipal } from "./principals.ts";
import { announceFormat, dropReplica, eventFormats, keepReplica } from "./replicas.ts";
import { findRevision, listRevisions, renewArtifacts, saveRevision } from "./revisions.ts";
import { deferSchedule, dueSchedules, finishTime, listTimes, recordTimes, recordTrigger, startingTimes } from "./schedules/schedule-times.ts";
import { findSchedule, findScheduleRun, listSchedules, pauseSchedule, removeSchedule, saveSchedule } from "./schedules/schedules.ts";
import { toForgeError } from "./storage-error.ts";
import { findCommands, heads, load, pruneDeltas, readEvents, saveSnapshot } from "./streams.ts";
import { heartbeat } from "./tasks/heartbeat.ts";
import { leaseCancelled, leaseInternal, leaseTasks, unlease, waitingRoutes } from "./tasks/lease.ts";
import { leasedTask } from "./tasks/leased-task.ts";
import { expireLeases, releaseOwners } from "./tasks/release.ts";
import { hasWork, repairTasks, tasksOf } from "./tasks/repair.ts";
import { listen } from "./wakeups/listen.ts";
import { Peers } from "./wakeups/peers.ts";
import { WakeupSender } from "./wakeups/sender.ts";
import { drainWorker, liveWorkers, removeDeadWorkers, saveWorker } from "./workers.ts";

export interface PostgresStoreOptions extends PostgresConnection {
  /**
   * Named prepared statements and session settings; default true. False behind a pooler in transaction mode, which shares connections; wake-ups then need
   * `listenOn` as well.
   */
  readonly namedStatements?: boolean;
  /**
   * Where it listens for wake-ups, which takes a connection of its own for as long as the store is open: past the pooler that everything else goes through. Absent: the
   * same as the rest.
   */
  readonly listenOn?: PostgresConnection;
}

/** One batch is built and sent while the other commits; more would only contend for the same log. */
const APPEND_CONNECTIONS = 2;
const READ_CONNECTIONS = 6;
/** How often a store that listens says so to the others; three missed ones mean that it is gone. */
const HELLO_INTERVAL_MS = 10_000;

/** Every statement has an index for what it looks up; while a table is young its statistics would let a prepared one scan it, and go on to until they are renewed. */
const READ_SETTINGS = { enable_seqscan: "off", jit: "off" };

/** A Store on PostgreSQL 15 or newer, whose schema `migrate` has brought up to date. */
export async function createPostgresStore(options: PostgresStoreOptions): Promise<Store> {
  const named = options.namedStatements ?? true;
  const appends = new Database(options, { max: APPEND_CONNECTIONS, named, settings: APPEND_SETTINGS });
  const reads = new Database(options, { max: READ_CONNECTIONS, named, settings: READ_SETTINGS });
  const name = randomUUID();
  const peers = new Peers(() => performance.now());
  const sender = new WakeupSender(name, options, named, peers);
  const closing = new AbortController();
  const listeners = new Set<Promise<void>>();
  let closed: Promise<void> | undefined;

  async function close(): Promise<void> {
    closing.abort();
    await Promise.all(listeners);
    await sender.close();
    await Promise.all([appends.close(), reads.close()]);
  }

  try {
    await requireVersion(async (text) => await reads.execute(undefined, text, []));
  } catch (error) {
    await close();
    throw toForgeError(error);
  }

  return {
    append: async (batch) => (batch.length === 0 ? [] : await append(appends, batch)),
    load: async (...asked) => await load(reads, ...asked),
    readEvents: async (...asked) => await readEvents(reads, ...asked),
    heads: async (streams) => await heads(reads, streams),
    findCommands: async (...asked) => await findCommands(reads, ...asked),
    saveSnapshot: async (...snapshot) => await saveSnapshot(reads, ...snapshot),
    pruneDeltas: async (...through) => await pruneDeltas(reads, ...through),

    list: async (...asked) => await list(reads, ...asked),
    listed: async (...asked) => await listed(reads, ...asked),
    pendingApprovals: async (...asked) => await pendingApprovals(reads, ...asked),
    openStreams: async (...asked) => await openStreams(reads, ...asked),

    endedRuns: async (page) => await endedRuns(reads, page),
    archiveStream: async (archived) => await archiveStream(reads, archived),

    putArtifact: async (...artifact) => await putArtifact(reads, ...artifact),
    getArtifact: async (...asked) => await getArtifact(reads, ...asked),
    renewArtifacts: async (...named) => await renewArtifacts(reads, ...named),

    saveDefinition: async (...definition) => await saveDefinition(reads, ...definition),
    findDefinition: async (...asked) => await findDefinition(reads, ...asked),
    listDefinitions: async (...asked) => await listDefinitions(reads, ...asked),

    saveRevision: async (...revision) => await saveRevision(reads, ...revision),
    findRevision: async (...asked) => await findRevision(reads, ...asked),
    listRevisions: async (...asked) => await listRevisions(reads, ...asked),

    saveSchedule: async (...schedule) => await saveSchedule(reads, ...schedule),
    findSchedule: async (...asked) => await findSchedule(reads, ...asked),
    findScheduleRun: async (...asked) => await findScheduleRun(reads, ...asked),
    listSchedules: async (...asked) => await listSchedules(reads, ...asked),
    removeSchedule: async (...named) => await removeSchedule(reads, ...named),
    pauseSchedule: async (...change) => await pauseSchedule(reads, ...change),
    dueSchedules: async (limit) => await dueSchedules(reads, limit),
    recordTimes: async (...step) => await recordTimes(reads, ...step),
    deferSchedule: async (...asked) => await deferSchedule(reads, ...asked),
    startingTimes: async (...asked) => await startingTimes(reads, ...asked),
    finishTime: async (...time) => await finishTime(reads, ...time),
    recordTrigger: async (...trigger) => await recordTrigger(reads, ...trigger),
    listTimes: async (...asked) => await listTimes(reads, ...asked),

    savePrincipal: async (...principal) => await savePrincipal(reads, ...principal),
    findPrincipal: async (tokenHash) => await findPrincipal(reads, tokenHash),
    createPrincipal: async (...granted) => await createPrincipal(reads, ...granted),
    listPrincipals: async (page) => await listPrincipals(reads, page),
    removePrincipal: async (...named) => await removePrincipal(reads, ...named),

    leaseTasks: async (request) => await leaseTasks(reads, request),
    waitingRoutes: async (limit) => await waitingRoutes(reads, limit),
    leaseInternal: async (request) => await leaseInternal(reads, request),
    leaseCancelled: async (request) => await leaseCancelled(reads, request),
    unlease: async (tasks) => await unlease(reads, tasks),
    heartbeat: async (...beats) => await heartbeat(reads, ...beats),
    releaseOwners: async (owners) => await releaseOwners(reads, owners),
    expireLeases: async (...asked) => await expireLeases(reads, ...asked),
    leasedTask: async (...asked) => await leasedTask(reads, ...asked),
    tasksOf: async (...asked) => await tasksOf(reads, ...asked),
    repairTasks: async (...repair) => await repairTasks(reads, ...repair),

    saveWorker: async (...worker) => await saveWorker(reads, ...worker),
    liveWorkers: async (namespace) => await liveWorkers(reads, namespace),
    drainWorker: async (sessionId) => await drainWorker(reads, sessionId),
    removeDeadWorkers: async () => await removeDeadWorkers(reads),

    keepReplica: async (replica) => await keepReplica(reads, replica),
    eventFormats: async () => await eventFormats(reads),
    announceFormat: async (format) => await announceFormat(reads, format),
    dropReplica: async (id) => await dropReplica(reads, id),

    hasWork: async () => await hasWork(reads),
    incarnation: async () => await incarnation(reads),
    wake: (wakeups) => sender.wake(wakeups),
    // Resolves when it listens, so that nothing is missed from then on; the listening itself goes on until the signal aborts or the store closes.
    listen: async (onWakeups, onReconnect, signal) => {
      const { promise: ready, resolve: onListening } = Promise.withResolvers<void>();
      const onHearing = (hears: boolean): void => {
        peers.hears(hears);
        if (hears) sender.hello();
      };
      const onPeer = (): void => {
        if (peers.heard()) sender.hello(true);
      };
      const greeting = setInterval(() => sender.hello(), HELLO_INTERVAL_MS).unref();
      const listening = listen(
        { connection: options.listenOn ?? options, name, onWakeups, onListening, onReconnect, onHearing, onPeer },
        AbortSignal.any([signal, closing.signal]),
      );
      listeners.add(listening);
      const ended = listening.finally(() => {
        clearInterval(greeting);
        listeners.delete(listening);
      });
      await Promise.race([ready, ended]);
    },
    close: async () => await (closed ??= close()),
  };
}

/** The store's own id and the server's timeline, which every promotion of a standby and every point-in-time restore moves on. */
async function incarnation(database: Database): Promise<string> {
  const [row] = await database.run<{ incarnation: string }>(
    "forge_incarnation",
    sql`select id || '-' || left(pg_walfile_name(pg_current_wal_insert_lsn()), 8) as incarnation from forge.incarnation`,
  );
  return (row as { incarnation: string }).incarnation;
}
