import { durationFromMs, durationMs } from "@bufbuild/protobuf/wkt";
import { backoffMs, pause } from "@forge/core";
import { ForgeError } from "@forge/protocol";
import { CapabilityKind, type RegisterResponse, type Task } from "@forge/protocol/worker";
import type { TaskHandler } from "./handler.ts";
import type { ControlPlanePort } from "./port.ts";
import { RunningTask } from "./running-task.ts";
import { Submissions } from "./submissions.ts";

/** How a worker is started. */
export interface WorkerOptions {
  readonly port: ControlPlanePort;
  /** Stable over restarts: a worker that joins again under its name gives up what its old incarnation held. */
  readonly name: string;
  readonly queues: readonly string[];
  readonly handlers: readonly TaskHandler[];
  /** Tasks at once. */
  readonly slots: number;
  /** What went wrong beside any task: the connection, a bug in a handler's surroundings. */
  readonly onProblem: (error: unknown) => void;
  /** Called once when another worker has joined under this name: this one serves nothing more, and what it held is lost. Absent: it joins again. */
  readonly onReplaced?: () => void;
}

/** A worker that has joined. */
export interface Worker {
  /** Takes no new tasks and resolves when all that it holds is settled, or after the time. */
  drain(waitMs: number): Promise<void>;
  /** Cancels what runs, waits for it to stop, and ends. */
  stop(): Promise<void>;
}

const POLL_MS = 20_000;
/** Heartbeats follow each other at this distance at least, whatever the server does. */
const MIN_ROUND_MS = 100;
const RETRY_MS_MAX = 5000;

/** Joins a control plane and serves its tasks until it is stopped. Resolves once registered. Rejects where the credential or version is refused. */
export async function startWorker(options: WorkerOptions): Promise<Worker> {
  const worker = new WorkerLoop(options);
  await worker.register();
  worker.run();
  return worker;
}

/** The pace of a session. No retry waits longer: what one loop has leased must not run out because the other still waits. */
function heartbeatMs({ heartbeatInterval }: RegisterResponse): number {
  return heartbeatInterval === undefined ? 3000 : durationMs(heartbeatInterval);
}

class WorkerLoop implements Worker {
  readonly #options: WorkerOptions;
  readonly #running = new Map<string, RunningTask>();
  readonly #stop = new AbortController();
  readonly #poll = new AbortController();
  readonly #submissions: Submissions;
  readonly #handlers = new Map<string, TaskHandler>();
  #session: RegisterResponse | undefined;
  /** When the control plane last knew the session. */
  #knownAtMs = 0;
  #registering: Promise<void> | undefined;
  readonly #waiting = new Set<() => void>();
  #loops: Promise<void>[] = [];

  constructor(options: WorkerOptions) {
    this.#options = options;
    this.#submissions = new Submissions(options.port, () => this.#sessionId());
    for (const handler of options.handlers) this.#handlers.set(`${handler.capability.kind} ${handler.capability.name}`, handler);
  }

  async register(): Promise<void> {
    const { port, name, queues, handlers, slots } = this.#options;
    this.#session = await port.worker.register({
      version: { major: 1, minor: 0 },
      workerName: name,
      queues: [...queues],
      capabilities: handlers.map((handler) => handler.capability),
      slots,
    });
    this.#knownAtMs = Date.now();
  }

  run(): void {
    this.#loops = [this.#forever((session) => this.#lease(session)), this.#forever((session) => this.#heartbeat(session))];
  }

  async drain(waitMs: number): Promise<void> {
    this.#poll.abort();
    await this.#options.port.worker.drain({ workerSessionId: this.#sessionId() }).catch(this.#options.onProblem);
    const untilMs = Date.now() + waitMs;
    while (this.#running.size > 0 && Date.now() < untilMs) await this.#nextEnd(untilMs - Date.now());
  }

  async stop(): Promise<void> {
    this.#poll.abort();
    for (const task of this.#running.values()) task.cancel();
    while (this.#running.size > 0) await this.#nextEnd(60_000);
    this.#stop.abort();
    await Promise.all(this.#loops);
  }

  #sessionId(): string {
    return this.#session?.workerSessionId ?? "";
  }

  async #forever(round: (session: RegisterResponse) => Promise<void>): Promise<void> {
    let failures = 0;
    while (!this.#stop.signal.aborted) {
      const session = this.#session as RegisterResponse;
      try {
        await round(session);
        failures = 0;
      } catch (error) {
        if (this.#stop.signal.aborted) return;
        if (error instanceof ForgeError && error.reason === "WORKER_SESSION") {
          if (this.#isReplaced(session)) {
            this.#giveUp();
            return;
          }
          await this.#rejoin(session);
        } else this.#options.onProblem(error);
        await pause(backoffMs(failures++, 50, Math.min(RETRY_MS_MAX, heartbeatMs(session))), this.#stop.signal);
      }
    }
  }

  /** A session ends by itself only when nothing was heard of it for the time of a lease; one that was known a moment ago has been replaced. */
  #isReplaced(session: RegisterResponse): boolean {
    if (this.#options.onReplaced === undefined || this.#session !== session) return false;
    const leaseTtlMs = session.leaseTtl === undefined ? 15_000 : durationMs(session.leaseTtl);
    return Date.now() - this.#knownAtMs < leaseTtlMs / 2;
  }

  #giveUp(): void {
    for (const task of this.#running.values()) task.lose();
    this.#poll.abort();
    this.#stop.abort();
    this.#options.onReplaced?.();
  }

  /** The control plane knows a session no longer: all that it held is lost. */
  async #rejoin(ended: RegisterResponse): Promise<void> {
    // The other loop has joined again meanwhile; joining once more would give up what the new session holds.
    if (this.#session !== ended) return;
    this.#registering ??= (async () => {
      for (const task of this.#running.values()) task.lose();
      await this.register();
    })()
      .catch(this.#options.onProblem)
      .finally(() => {
        this.#registering = undefined;
      });
    await this.#registering;
  }

  async #lease(session: RegisterResponse): Promise<void> {
    if (this.#poll.signal.aborted) {
      await pause(POLL_MS, this.#stop.signal);
      return;
    }
    const free = this.#options.slots - this.#running.size;
    if (free <= 0) {
      await this.#nextEnd(POLL_MS);
      return;
    }
    const signal = AbortSignal.any([this.#stop.signal, this.#poll.signal]);
    const { tasks } = await this.#options.port.worker
      .leaseTasks({ workerSessionId: session.workerSessionId, slots: free, wait: durationFromMs(POLL_MS) }, { signal })
      .catch((error: unknown) => {
        if (signal.aborted) return { tasks: [] };
        throw error;
      });
    // What comes after the end was asked for is not begun: no heartbeat names it, so another worker gets it.
    if (signal.aborted || this.#session !== session) return;
    for (const leased of tasks) {
      const task = new RunningTask(leased, this.#options.port, this.#submissions);
      this.#running.get(leased.taskId)?.lose();
      this.#running.set(leased.taskId, task);
      void task
        .run((whole) => this.#handlerOf(whole))
        .catch(this.#options.onProblem)
        .finally(() => {
          if (this.#running.get(leased.taskId) === task) this.#running.delete(leased.taskId);
          for (const wake of this.#waiting) wake();
        });
    }
  }

  async #heartbeat(session: RegisterResponse): Promise<void> {
    const intervalMs = heartbeatMs(session);
    const beganMs = Date.now();
    const held = new Map(this.#running);
    const leases = [...held.values()].map((task) => task.lease);
    const answer = await this.#options.port.worker.heartbeat({ workerSessionId: session.workerSessionId, held: leases }, { signal: this.#stop.signal });
    this.#knownAtMs = Date.now();
    for (const id of answer.cancelTaskIds) this.#running.get(id)?.cancel();
    // By now this worker may hold the next lease of the same task, which the answer does not mean.
    for (const id of answer.lostTaskIds) held.get(id)?.lose();
    // The server holds the call for the interval and answers early when something is to be stopped; until that has stopped it would answer so again.
    const restMs = answer.cancelTaskIds.length > 0 ? intervalMs / 4 : Math.min(intervalMs, MIN_ROUND_MS) - (Date.now() - beganMs);
    if (restMs > 0) await pause(restMs, this.#stop.signal);
  }

  #handlerOf(task: Task): TaskHandler | undefined {
    const { kind } = task;
    switch (kind.case) {
      case "model":
      case "compaction":
        return this.#handlers.get(`${CapabilityKind.MODEL} ${kind.value.model.slice(0, kind.value.model.indexOf("/"))}/*`);
      case "tool":
        return this.#handlers.get(`${CapabilityKind.TOOL} ${kind.value.tool}`);
      case "function":
        return this.#handlers.get(`${CapabilityKind.FUNCTION} ${kind.value.name}`);
      case "hook":
        return this.#handlers.get(`${CapabilityKind.HOOK} ${kind.value.hook}`);
      case "undo":
        return this.#handlers.get(`${CapabilityKind.WORKSPACE} undo`);
      case undefined:
        return undefined;
      default:
        return kind satisfies never;
    }
  }

  /** Resolves when the next task ends, or after the time. */
  #nextEnd(waitMs: number): Promise<void> {
    return new Promise((resolve) => {
      const done = () => {
        clearTimeout(timer);
        this.#waiting.delete(done);
        resolve();
      };
      const timer = setTimeout(done, waitMs);
      this.#waiting.add(done);
    });
  }
}
