/** A case's part in what is restarted for all. */
export interface Ticket {
  /** Resolves once everything was restarted, which waits for every other case under way to come here or to end. */
  arrive(): Promise<void>;
  /** The case has ended. */
  leave(): void;
}

/** Restarts what many cases share, when nobody else needs it. */
export class SharedRestart {
  readonly #restart: () => Promise<void>;
  readonly #underWay = new Set<Ticket>();
  readonly #arrived = new Map<Ticket, PromiseWithResolvers<void>>();

  constructor(restart: () => Promise<void>) {
    this.#restart = restart;
  }

  enter(): Ticket {
    const ticket: Ticket = {
      arrive: () => {
        const waiting = this.#arrived.get(ticket) ?? Promise.withResolvers<void>();
        this.#arrived.set(ticket, waiting);
        this.#check();
        return waiting.promise;
      },
      leave: () => {
        this.#underWay.delete(ticket);
        this.#arrived.delete(ticket);
        this.#check();
      },
    };
    this.#underWay.add(ticket);
    return ticket;
  }

  #check(): void {
    if (this.#arrived.size === 0 || this.#arrived.size < this.#underWay.size) return;
    const arrived = [...this.#arrived.values()];
    this.#arrived.clear();
    this.#restart().then(
      () => {
        for (const { resolve } of arrived) resolve();
      },
      (error: unknown) => {
        for (const { reject } of arrived) reject(error);
      },
    );
  }
}
