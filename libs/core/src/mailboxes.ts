/** Bounds of a set of mailboxes. */
export interface MailboxOptions {
  /** Messages that one handling gets at most. */
  readonly batchMax: number;
}

/**
 * One mailbox a key: messages of a key are handled one batch after the other, in the order they came; keys don't wait for each other.
 * `handle` answers each message itself and must not reject: a rejection is a bug and goes to `onBug`.
 */
export class Mailboxes<Message> {
  readonly #handle: (key: string, messages: readonly Message[]) => Promise<void>;
  readonly #onBug: (error: unknown, messages: readonly Message[]) => void;
  readonly #options: MailboxOptions;
  readonly #queues = new Map<string, Message[]>();
  #idle: (() => void)[] = [];

  constructor(
    handle: (key: string, messages: readonly Message[]) => Promise<void>,
    onBug: (error: unknown, messages: readonly Message[]) => void,
    options: MailboxOptions,
  ) {
    this.#handle = handle;
    this.#onBug = onBug;
    this.#options = options;
  }

  post(key: string, message: Message): void {
    const queue = this.#queues.get(key);
    if (queue !== undefined) {
      queue.push(message);
      return;
    }
    this.#queues.set(key, [message]);
    void this.#drain(key);
  }

  /** How many messages of a key wait or are being handled. */
  depth(key: string): number {
    return this.#queues.get(key)?.length ?? 0;
  }

  get isBusy(): boolean {
    return this.#queues.size > 0;
  }

  /** Resolves once no mailbox has anything left. */
  whenIdle(): Promise<void> {
    if (this.#queues.size === 0) return Promise.resolve();
    return new Promise((resolve) => this.#idle.push(resolve));
  }

  async #drain(key: string): Promise<void> {
    const queue = this.#queues.get(key) as Message[];
    // Messages of the same turn of the event loop are handled together.
    await Promise.resolve();
    while (queue.length > 0) {
      const batch = queue.slice(0, this.#options.batchMax);
      try {
        await this.#handle(key, batch);
      } catch (error) {
        this.#onBug(error, batch);
      }
      queue.splice(0, batch.length);
    }
    this.#queues.delete(key);
    if (this.#queues.size > 0) return;
    const idle = this.#idle;
    this.#idle = [];
    for (const resolve of idle) resolve();
  }
}
