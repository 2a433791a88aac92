import { pause } from "@forge/core";
import type { Store, StoredTask } from "../ports/index.ts";
import type { StreamKindName } from "../stream/aggregate.ts";
import { findTask } from "../stream/outstanding.ts";
import type { StreamEngine } from "../stream/stream-engine.ts";
import { prepareTask, taskChanges } from "../stream/task-changes.ts";

const ATTEMPTS_MAX = 20;

/** Makes task rows equal to what the streams' states want: after an upgrade, a restore, or whatever else came between them. */
export class Repair {
  readonly #store: Store;
  readonly #engine: StreamEngine;

  constructor(store: Store, engine: StreamEngine) {
    this.#store = store;
    this.#engine = engine;
  }

  /** The differences between a stream's rows and its state; undefined where the stream does not exist. */
  async compare(namespace: string, streamId: string, kind: StreamKindName) {
    const entry = await this.#engine.read(namespace, streamId, kind);
    if (entry === undefined) return undefined;
    const rows = (await this.#store.tasksOf(namespace, streamId)).filter((row) => row.kind !== "command");
    const have = new Map(rows.map((row) => [row.key, row]));
    const changes = taskChanges([], entry.outstanding);
    return {
      seq: entry.seq,
      add: changes.add.filter((task) => !have.has(task.key)),
      remove: rows.filter((row) => findTask(entry.outstanding, row.key) === undefined).map((row) => row.key),
      cancel: changes.add
        .filter((task) => task.kind === "work" && task.cancelRequested && have.get(task.key)?.cancelRequested === false)
        .map((task) => task.key),
    };
  }

  /** True where something had to be changed. */
  async stream(namespace: string, streamId: string, kind: StreamKindName): Promise<boolean> {
    for (let attempt = 0; attempt < ATTEMPTS_MAX; attempt++) {
      const difference = await this.compare(namespace, streamId, kind);
      if (difference === undefined || difference.add.length + difference.remove.length + difference.cancel.length === 0) return false;
      const prepared = difference.add.map(prepareTask);
      for (const { artifact } of prepared) {
        if (artifact !== undefined) await this.#store.putArtifact(namespace, artifact.sha256, "application/x-protobuf", artifact.content);
      }
      const change = { add: prepared.map(({ row }) => row), remove: difference.remove, cancel: difference.cancel };
      if (await this.#store.repairTasks(namespace, streamId, difference.seq, change)) return true;
      // The stream moved meanwhile: look again.
      await pause(5);
    }
    return false;
  }

  /** Whether no earlier command of the same source waits. */
  async isFirstCommand(task: StoredTask): Promise<boolean> {
    const rows = await this.#store.tasksOf(task.namespace, task.streamId);
    return !rows.some((row) => row.kind === "command" && row.key < task.key);
  }

  /** Removes one row that nothing wants. */
  async drop(task: StoredTask): Promise<void> {
    for (let attempt = 0; attempt < ATTEMPTS_MAX; attempt++) {
      const [head] = await this.#store.heads([task]);
      if (head === undefined) return;
      if (await this.#store.repairTasks(task.namespace, task.streamId, head.seq, { add: [], remove: [task.key], cancel: [] })) return;
      await pause(5);
    }
  }

  /** Every stream that has not ended; returns how many had to be changed. A stream that can't be read is told and passed over. */
  async all(signal: AbortSignal, onProblem: (error: unknown) => void): Promise<number> {
    let changed = 0;
    let after: { namespace: string; streamId: string } | undefined;
    while (!signal.aborted) {
      const page = await this.#store.openStreams(after, 200);
      for (const { namespace, streamId, kind } of page) {
        if (signal.aborted) break;
        try {
          if (await this.stream(namespace, streamId, kind)) changed++;
        } catch (error) {
          onProblem(error);
        }
      }
      after = page.at(-1);
      if (page.length < 200) break;
    }
    return changed;
  }
}
