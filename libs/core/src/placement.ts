interface Seat<Task> {
  readonly owner: string;
  readonly scope: string;
  readonly routes: ReadonlySet<string>;
  /** Free slots that its last poll offered and that nothing has taken since. */
  credit: number;
  /** Tasks that are its own already and wait for its next poll. */
  buffer: Task[];
  /** Something unplaced may wait for it in the store. */
  backlog: boolean;
  draining: boolean;
  notify: (() => void) | undefined;
}

/** A slot that was taken for a task about to be stored. */
export interface Reservation {
  readonly owner: string;
}

/** What a poll found. */
export interface PollResult<Task> {
  readonly tasks: readonly Task[];
  /** True where the store should be asked for tasks that could not be placed. */
  readonly backlog: boolean;
}

/**
 * Which worker has room for what, on this replica. A task is born in the hands of a worker with a free slot, so that dispatching it costs no second
 * write; what finds no slot waits in the store, and `touch` tells the workers that could do it.
 */
export class Placement<Task> {
  readonly #seats = new Map<string, Seat<Task>>();
  readonly #byRoute = new Map<string, Set<Seat<Task>>>();

  add(owner: string, scope: string, routes: readonly string[]): void {
    this.remove(owner);
    const seat: Seat<Task> = { owner, scope, routes: new Set(routes), credit: 0, buffer: [], backlog: true, draining: false, notify: undefined };
    this.#seats.set(owner, seat);
    for (const route of seat.routes) {
      const key = routeKey(scope, route);
      const seats = this.#byRoute.get(key) ?? new Set();
      seats.add(seat);
      this.#byRoute.set(key, seats);
    }
  }

  has(owner: string): boolean {
    return this.#seats.has(owner);
  }

  remove(owner: string): void {
    const seat = this.#seats.get(owner);
    if (seat === undefined) return;
    this.#seats.delete(owner);
    for (const route of seat.routes) {
      const key = routeKey(seat.scope, route);
      const seats = this.#byRoute.get(key);
      seats?.delete(seat);
      if (seats?.size === 0) this.#byRoute.delete(key);
    }
    seat.notify?.();
  }

  /** No new tasks for this worker. */
  drain(owner: string): void {
    const seat = this.#seats.get(owner);
    if (seat === undefined) return;
    seat.draining = true;
    seat.credit = 0;
    seat.notify?.();
  }

  /** Takes a free slot, from the worker that has most; undefined where none has one: then `touch` after the task is stored. */
  reserve(scope: string, route: string): Reservation | undefined {
    let best: Seat<Task> | undefined;
    for (const seat of this.#byRoute.get(routeKey(scope, route)) ?? []) {
      if (seat.credit > (best?.credit ?? 0)) best = seat;
    }
    if (best === undefined) return undefined;
    best.credit--;
    return { owner: best.owner };
  }

  /** The task is stored as the owner's. */
  deliver(reservation: Reservation, task: Task): void {
    const seat = this.#seats.get(reservation.owner);
    if (seat === undefined) return;
    seat.buffer.push(task);
    seat.notify?.();
  }

  /** The task was not stored. */
  release(reservation: Reservation): void {
    const seat = this.#seats.get(reservation.owner);
    if (seat !== undefined && !seat.draining) seat.credit++;
  }

  /** Tasks that belong to the owner and that it has not fetched yet. */
  undelivered(owner: string): readonly Task[] {
    return this.#seats.get(owner)?.buffer ?? [];
  }

  /** A task of the route waits in the store; undefined: of any route of any scope. */
  touch(scope?: string, route?: string): void {
    const seats = scope === undefined || route === undefined ? this.#seats.values() : (this.#byRoute.get(routeKey(scope, route)) ?? []);
    for (const seat of seats) {
      seat.backlog = true;
      seat.notify?.();
    }
  }

  /** Offers free slots and waits until there is something for them, the time has passed, or the signal aborts. Unknown owners get nothing at once. */
  async poll(owner: string, slots: number, waitMs: number, signal: AbortSignal): Promise<PollResult<Task>> {
    const seat = this.#seats.get(owner);
    if (seat === undefined) return { tasks: [], backlog: false };
    seat.credit = seat.draining ? 0 : Math.max(0, slots - seat.buffer.length);
    if (seat.buffer.length === 0 && !seat.backlog && waitMs > 0 && !signal.aborted && !seat.draining) await this.#wait(seat, waitMs, signal);
    const tasks = seat.buffer.splice(0, slots);
    const backlog = seat.backlog && seat.credit > 0;
    if (backlog) seat.backlog = false;
    return { tasks, backlog };
  }

  /** Slots that a poll took from the store itself. */
  spend(owner: string, slots: number): void {
    const seat = this.#seats.get(owner);
    if (seat !== undefined) seat.credit = Math.max(0, seat.credit - slots);
  }

  /** Free slots of the owner. */
  credit(owner: string): number {
    return this.#seats.get(owner)?.credit ?? 0;
  }

  #wait(seat: Seat<Task>, waitMs: number, signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const done = () => {
        clearTimeout(timer);
        signal.removeEventListener("abort", done);
        seat.notify = undefined;
        resolve();
      };
      const timer = setTimeout(done, waitMs);
      signal.addEventListener("abort", done, { once: true });
      // A second poll of the same worker takes over from the first, which answers with nothing.
      seat.notify?.();
      seat.notify = done;
    });
  }
}

function routeKey(scope: string, route: string): string {
  return `${scope}\n${route}`;
}
