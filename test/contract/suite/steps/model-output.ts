import { create } from "@bufbuild/protobuf";
import { commandHeader } from "@forge/client";
import { type TaskLease, TaskLeaseSchema } from "@forge/protocol/common";
import { say } from "../../../harness/work.ts";
import type { World } from "../scenario.ts";
import { joinOwnQueue, type OwnWorker } from "./own-worker.ts";
import { quietSession } from "./sessions.ts";

/** As many as one report may carry. */
const BATCH_MAX = 250;

/** A turn whose model writes what the case wants: each piece is an event. */
export class ModelOutput {
  readonly sessionId: string;
  readonly turnId: string;
  readonly #worker: OwnWorker;
  readonly #lease: TaskLease;
  #offset = 0;

  private constructor(turn: { readonly sessionId: string; readonly turnId: string }, worker: OwnWorker, lease: TaskLease) {
    this.sessionId = turn.sessionId;
    this.turnId = turn.turnId;
    this.#worker = worker;
    this.#lease = lease;
  }

  /** The turn has started, and so has its model. */
  static async begin(world: World): Promise<ModelOutput> {
    const worker = await joinOwnQueue(world);
    const sessionId = await quietSession(world);
    const { turnId } = await world.reference.session.startTurn({ header: commandHeader(), sessionId, input: [say("Write.")] });
    const { port, workerSessionId } = worker;
    const { tasks } = await port.leaseTasks({ workerSessionId, slots: 1, wait: { seconds: 10n } });
    const [task] = tasks;
    if (task === undefined) throw new Error("the model call was not leased");
    const { taskId, epoch, leaseToken } = task;
    const lease = create(TaskLeaseSchema, { taskId, epoch, leaseToken });
    worker.held.push(lease);
    const { answers } = await port.startTasks({ workerSessionId, starts: [{ lease, kind: { case: "model", value: { epoch } } }] });
    if (answers[0]?.error !== undefined) throw new Error(answers[0].error.message);
    return new ModelOutput({ sessionId, turnId }, worker, lease);
  }

  /** Writes so many pieces of so many characters. */
  async write(count: number, characters = 1): Promise<void> {
    const { port, workerSessionId } = this.#worker;
    const perReport = Math.max(1, Math.min(BATCH_MAX, Math.floor(1_000_000 / characters)));
    for (let left = count; left > 0; left -= perReport) {
      const deltas = Array.from({ length: Math.min(perReport, left) }, () => this.#piece(characters));
      const { answers } = await port.reportOutput({ workerSessionId, deltas });
      for (const { error } of answers) if (error !== undefined) throw new Error(error.message);
    }
  }

  #piece(characters: number) {
    const offset = BigInt(this.#offset);
    this.#offset += characters;
    const text = { case: "text" as const, value: "x".repeat(characters) };
    return { lease: this.#lease, kind: { case: "turn" as const, value: { offset, epoch: this.#lease.epoch, channel: text } } };
  }
}
