import type { StoredTask, StoredWorker } from "../ports/index.ts";
import { routesOf } from "./worker-registry.ts";

/** A leased task on its way to its worker is held for it this long, though no heartbeat names it yet. */
const DELIVERY_MS = 10_000;

interface OnItsWay {
  readonly task: StoredTask;
  readonly sinceMs: number;
}

/** A worker session as this replica knows it. */
export interface WorkerSession {
  readonly worker: StoredWorker;
  /** When this replica first saw it, milliseconds since the epoch. */
  readonly sinceMs: number;
  readonly routes: readonly string[];
  readonly onItsWay: Map<string, OnItsWay>;
}

interface WaitingHeartbeat {
  readonly holds: (taskId: string) => boolean;
  readonly cancel: (taskId: string) => void;
}

/** The worker sessions that talk to this replica, and the heartbeats that wait to hear of cancellations. */
export class WorkerSessions {
  readonly #sessions = new Map<string, WorkerSession>();
  readonly #waiting = new Set<WaitingHeartbeat>();

  add(worker: StoredWorker): WorkerSession {
    const session = { worker, sinceMs: Date.now(), routes: routesOf(worker), onItsWay: new Map<string, OnItsWay>() };
    this.#sessions.set(worker.sessionId, session);
    return session;
  }

  get(sessionId: string): WorkerSession | undefined {
    return this.#sessions.get(sessionId);
  }

  /** Whether this replica has known the session for so long; a young one may not be in the registry yet. */
  isOlderThan(sessionId: string, ms: number): boolean {
    const session = this.#sessions.get(sessionId);
    return session === undefined || Date.now() - session.sinceMs > ms;
  }

  remove(sessionId: string): void {
    this.#sessions.delete(sessionId);
  }

  send(session: WorkerSession, id: string, task: StoredTask, nowMs: number): void {
    session.onItsWay.set(id, { task, sinceMs: nowMs });
  }

  /** Tasks that the worker may have got since it wrote its heartbeat; those that it names by id and epoch, or that are old, are forgotten here. */
  unnamed(session: WorkerSession, named: ReadonlyMap<string, number>, nowMs: number): readonly StoredTask[] {
    for (const [id, { task, sinceMs }] of session.onItsWay) {
      if (named.get(id) === task.epoch || nowMs - sinceMs > DELIVERY_MS) session.onItsWay.delete(id);
    }
    return [...session.onItsWay.values()].map(({ task }) => task);
  }

  /** Resolves with the first of the worker's tasks that are asked to stop, or with none after the time. */
  waitForCancel(holds: (taskId: string) => boolean, waitMs: number, signal: AbortSignal): Promise<readonly string[]> {
    if (waitMs <= 0 || signal.aborted) return Promise.resolve([]);
    return new Promise((resolve) => {
      const cancelled: string[] = [];
      const done = () => {
        clearTimeout(timer);
        signal.removeEventListener("abort", done);
        this.#waiting.delete(waiting);
        resolve(cancelled);
      };
      const waiting: WaitingHeartbeat = {
        holds,
        cancel: (taskId) => {
          // Siblings that are cancelled by the same append share the answer.
          if (cancelled.push(taskId) === 1) setImmediate(done);
        },
      };
      const timer = setTimeout(done, waitMs);
      signal.addEventListener("abort", done, { once: true });
      this.#waiting.add(waiting);
    });
  }

  cancel(taskId: string): void {
    for (const waiting of this.#waiting) if (waiting.holds(taskId)) waiting.cancel(taskId);
  }
}
