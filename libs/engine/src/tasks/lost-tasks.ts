import { create } from "@bufbuild/protobuf";
import { ForgeError } from "@forge/protocol";
import { TaskCancelledSchema } from "@forge/protocol/worker";
import type { Store, StoredTask } from "../ports/index.ts";
import type { StreamEngine } from "../stream/stream-engine.ts";
import { proofOfRow, taskCommand } from "./internal-command.ts";
import { isPassing } from "./passing.ts";
import type { Repair } from "./repair.ts";
import type { Replicas } from "./replicas.ts";

const LEASE_MS = 30_000;
const BATCH_MAX = 200;

/** Tells streams what became of tasks that nobody works on any more. */
export class LostTasks {
  readonly #store: Store;
  readonly #engine: StreamEngine;
  readonly #repair: Repair;
  readonly #replica: string;
  readonly #replicas: Replicas;

  constructor(store: Store, engine: StreamEngine, repair: Repair, replica: string, replicas: Replicas) {
    this.#store = store;
    this.#engine = engine;
    this.#repair = repair;
    this.#replica = replica;
    this.#replicas = replicas;
  }

  /** Tasks that had started when their lease was lost: nobody can say what happened. */
  async lost(tasks: readonly StoredTask[]): Promise<void> {
    await Promise.all(tasks.map((task) => this.#tell(task, `lost/${task.key}/${task.epoch}`, { $typeName: "task.lost", key: task.key, epoch: task.epoch })));
  }

  /** Tasks that are asked to stop and that no worker holds: they never began, or their worker gave them back. */
  async settleCancelled(streamId?: string): Promise<number> {
    return this.cancelled(await this.#store.leaseCancelled({ owner: this.#replica, ttlMs: LEASE_MS, limit: BATCH_MAX, streamId, except: this.#replicas.left }));
  }

  /** Tasks that are asked to stop and that nobody has begun: whoever holds their leases never got them. */
  async cancelled(tasks: readonly StoredTask[]): Promise<number> {
    const outcome = { case: "cancelled" as const, value: create(TaskCancelledSchema) };
    await Promise.all(
      tasks.map((task) => this.#tell(task, `settle/${task.key}/${task.epoch}`, { $typeName: "task.settled", key: task.key, worker: "control-plane", outcome })),
    );
    return tasks.length;
  }

  async #tell(task: StoredTask, commandId: string, command: Parameters<typeof taskCommand>[0]["command"]): Promise<void> {
    const { namespace, streamId, streamKind } = task;
    try {
      await this.#engine.execute(
        taskCommand({ namespace, principal: "control-plane", kind: streamKind, streamId, command, commandId, proofs: [proofOfRow(task)] }),
      );
    } catch (error) {
      if (isPassing(error) || !(error instanceof ForgeError)) throw error;
      if (error.reason !== "LEASE_LOST") await this.#repair.stream(namespace, streamId, streamKind);
    }
  }
}
