interface Poll {
  /** Ends the wait; `superseded` where another poll of the same worker took its place. */
  readonly wake: (superseded: boolean) => void;
}

interface Seat<Task> {
  readonly owner: string;
  readonly scope: string;
  readonly routes: ReadonlySet<string>;
  /** Slots that its last poll offered and that no task has been fetched for since. */
  offered: number;
  /** Slots taken for tasks that are about to be stored. */
  reserved: number;
  /** Tasks that are its own already and wait for its next poll. */
  buffer: Task[];
  /** Something unplaced may wait for it in the store. */
  backlog: boolean;
  draining: boolean;
  poll: Poll | undefined;
  /** Without a poll after this time, in milliseconds of the monotonic clock, its offer holds no longer: the worker may be gone. */
  lapsesAtMs: number;
}

/** A slot that was taken for a task about to be stored. */
export interface Reservation {
  readonly owner: string;
}

/** What a poll found. */
export interface PollResult<Task> {
  readonly tasks: readonly Task[];
  /** How many tasks the store should be asked for, because some that could not be placed may wait there; 0: none. */
  readonly wanted: number;
  /** True where waiting longer is of no use: the worker drains or has left, or another poll of it took over. */
  readonly ended: boolean;
}

/** Between two polls of a live worker lies one answer on its way and one request back. */
const OFFER_MS = 2_000;

/**
 * Which worker has room for what, on this replica. A task is born in the hands of a worker with a free slot, so that dispatching it costs no second
 * write; what finds no slot waits in the store, and `touch` tells the workers that could do it.
 */
export class Placement<Task> {
  readonly #seats = new Map<string, Seat<Task>>();
  readonly #byRoute = new Map<string, Set<Seat<Task>>>();

  add(owner: string, scope: string, routes: readonly string[]): void {
    this.remove(owner);
    const seat: Seat<Task> = {
      owner,
      scope,
      routes: new Set(routes),
      offered: 0,
      reserved: 0,
      buffer: [],
      backlog: true,
      draining: false,
      poll: undefined,
      lapsesAtMs: 0,
    };
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

  owners(): readonly string[] {
    return [...this.#seats.keys()];
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
    seat.poll?.wake(false);
  }

  /** No new tasks for this worker. */
  drain(owner: string): void {
    const seat = this.#seats.get(owner);
    if (seat === undefined) return;
    seat.draining = true;
    seat.poll?.wake(false);
  }

  /** Takes a free slot, from the worker that has most; undefined where none has one: then `touch` after the task is stored. */
  reserve(scope: string, route: string): Reservation | undefined {
    let best: Seat<Task> | undefined;
    let most = 0;
    for (const seat of this.#byRoute.get(routeKey(scope, route)) ?? []) {
      const free = freeSlots(seat);
      if (free <= most) continue;
      best = seat;
      most = free;
    }
    if (best === undefined) return undefined;
    best.reserved++;
    return { owner: best.owner };
  }

  /** The task is stored as the owner's. */
  deliver(reservation: Reservation, task: Task): void {
    const seat = this.#seats.get(reservation.owner);
    if (seat === undefined) return;
    seat.reserved = Math.max(0, seat.reserved - 1);
    seat.buffer.push(task);
    seat.poll?.wake(false);
  }

  /** The task was not stored. */
  release(reservation: Reservation): void {
    const seat = this.#seats.get(reservation.owner);
    if (seat === undefined) return;
    seat.reserved = Math.max(0, seat.reserved - 1);
    if (seat.backlog) seat.poll?.wake(false);
  }

  /** Tasks that belong to the owner and that it will still fetch. */
  undelivered(owner: string): readonly Task[] {
    const seat = this.#seats.get(owner);
    return seat === undefined || seat.draining ? [] : seat.buffer;
  }

  /** Takes back tasks that were not fetched yet; they are still the owners' in the store. */
  withdraw(matches: (task: Task) => boolean): readonly Task[] {
    const taken: Task[] = [];
    for (const seat of this.#seats.values()) {
      if (!seat.buffer.some(matches)) continue;
      taken.push(...seat.buffer.filter(matches));
      seat.buffer = seat.buffer.filter((task) => !matches(task));
    }
    return taken;
  }

  /** A task of the route waits in the store; undefined: of any route of any scope. */
  touch(scope?: string, route?: string): void {
    const seats = scope === undefined || route === undefined ? this.#seats.values() : (this.#byRoute.get(routeKey(scope, route)) ?? []);
    for (const seat of seats) {
      seat.backlog = true;
      seat.poll?.wake(false);
    }
  }

  /** There may be more for this worker in the store. */
  touchOwner(owner: string): void {
    const seat = this.#seats.get(owner);
    if (seat === undefined) return;
    seat.backlog = true;
    seat.poll?.wake(false);
  }

  /** Offers free slots and waits until there is something for them, the time has passed, or the signal aborts. */
  async poll(owner: string, slots: number, waitMs: number, signal: AbortSignal): Promise<PollResult<Task>> {
    const seat = this.#seats.get(owner);
    if (seat === undefined) return { tasks: [], wanted: 0, ended: true };
    seat.offered = slots;
    let superseded = false;
    // A backlog is no reason to return while every slot is reserved: whoever polls again at once would never let the reserved tasks be stored.
    const hasNothing = seat.buffer.length === 0 && (!seat.backlog || seat.reserved >= slots);
    if (hasNothing && waitMs > 0 && !signal.aborted && !seat.draining) superseded = await this.#wait(seat, waitMs, signal);
    if (superseded || seat.draining || this.#seats.get(owner) !== seat) return { tasks: [], wanted: 0, ended: true };
    if (signal.aborted) {
      // Nobody listens any more: what is in the buffer stays for the next poll, and nothing more is placed here.
      seat.offered = 0;
      return { tasks: [], wanted: 0, ended: true };
    }
    const tasks = seat.buffer.splice(0, slots);
    seat.offered -= tasks.length;
    seat.lapsesAtMs = performance.now() + OFFER_MS;
    const wanted = seat.backlog ? Math.max(0, seat.offered - seat.reserved) : 0;
    if (wanted > 0) {
      seat.backlog = false;
      // They are the store's to fill; what it does not fill is offered again by the next poll.
      seat.offered -= wanted;
    }
    return { tasks, wanted, ended: false };
  }

  #wait(seat: Seat<Task>, waitMs: number, signal: AbortSignal): Promise<boolean> {
    return new Promise((resolve) => {
      const wake = (superseded: boolean) => {
        clearTimeout(timer);
        signal.removeEventListener("abort", stop);
        if (seat.poll === poll) seat.poll = undefined;
        resolve(superseded);
      };
      const stop = () => wake(false);
      const poll: Poll = { wake };
      const timer = setTimeout(stop, waitMs);
      signal.addEventListener("abort", stop, { once: true });
      const earlier = seat.poll;
      seat.poll = poll;
      earlier?.wake(true);
    });
  }
}

function freeSlots<Task>(seat: Seat<Task>): number {
  if (seat.draining || (seat.poll === undefined && performance.now() > seat.lapsesAtMs)) return 0;
  return seat.offered - seat.buffer.length - seat.reserved;
}

function routeKey(scope: string, route: string): string {
  return `${scope}\n${route}`;
}
