import type { EventFormatsInUse, Store, StoredTask } from "../ports/index.ts";
import type { EventFormats } from "../stream/event-formats.ts";

const ALIVE_MS = 15_000;
/** Streams that are known not to be readable here; one that is forgotten is found out again. */
const UNREADABLE_MAX = 1_000;

/**
 * This control plane among others of other versions. A newer one writes a new kind of event only once every live one reads it; an older one that joins where new kinds are
 * already written leaves the streams that have them to the newer.
 */
export class Replicas {
  readonly #store: Store;
  readonly #id: string;
  readonly #formats: EventFormats;
  readonly #unreadable = new Set<string>();
  readonly #onLost: () => void;
  #inUse: EventFormatsInUse = { written: 1, readByAll: 1, replicas: [] };

  /** `onLost`: another one has ended, perhaps before it had told what it did last. */
  constructor(store: Store, id: string, formats: EventFormats, onLost: () => void) {
    this.#store = store;
    this.#id = id;
    this.#formats = formats;
    this.#onLost = onLost;
  }

  /** Says that this one lives, and hears of the others; to be repeated every few seconds. */
  async keep(): Promise<void> {
    const before = this.#inUse.replicas;
    this.#inUse = await this.#store.keepReplica({ id: this.#id, reads: this.#formats.reads, ttlMs: ALIVE_MS });
    if (before.some((id) => !this.#inUse.replicas.includes(id))) this.#onLost();
  }

  async leave(): Promise<void> {
    await this.#store.dropReplica(this.#id);
  }

  /** Whether events may be there that this one can't read. */
  get isBehind(): boolean {
    return this.#inUse.written > this.#formats.reads;
  }

  /** Whether events of a format may be written: not before every live control plane reads them. */
  async mayWrite(format: number): Promise<boolean> {
    if (format > this.#inUse.readByAll) this.#inUse = await this.#store.eventFormats();
    if (format <= this.#inUse.readByAll && format > this.#inUse.written) this.#inUse = await this.#store.announceFormat(format);
    return format <= this.#inUse.readByAll;
  }

  /** A stream that this one can't read. True where that is news. */
  isUnreadable(streamId: string): boolean {
    if (this.#unreadable.has(streamId)) return false;
    this.#unreadable.add(streamId);
    if (this.#unreadable.size > UNREADABLE_MAX) this.#unreadable.delete(this.#unreadable.values().next().value as string);
    return true;
  }

  /** Streams whose tasks are left to others. */
  get left(): readonly string[] {
    return [...this.#unreadable];
  }

  /** Of tasks that were just leased here those whose streams can be read; the others are given back for a newer control plane to take. */
  async readable(tasks: readonly StoredTask[], read: (task: StoredTask) => Promise<unknown>): Promise<readonly StoredTask[]> {
    if (!this.isBehind || tasks.length === 0) return tasks;
    // What can't be read is noted by whoever tries.
    await Promise.all(tasks.map((task) => read(task).catch(() => undefined)));
    const unreadable = tasks.filter(({ streamId }) => this.#unreadable.has(streamId));
    await this.#store.unlease(unreadable);
    const routes = new Map(unreadable.map(({ namespace, route }) => [`${namespace}\n${route}`, { namespace, streamId: "", seq: 0, routes: [route] }]));
    if (routes.size > 0) this.#store.wake([...routes.values()]);
    return tasks.filter((task) => !unreadable.includes(task));
  }
}
