import { create, fromBinary } from "@bufbuild/protobuf";
import { ForgeError } from "@forge/protocol";
import { ErrorCode, type TaskLease, TaskLeaseSchema } from "@forge/protocol/common";
import { type LeasedTask, SettlementSchema, type Task, TaskCancelledSchema, TaskFailureSchema, TaskSchema } from "@forge/protocol/worker";
import { AttemptClock } from "./attempt-clock.ts";
import type { Outcome, TaskContext, TaskHandler } from "./handler.ts";
import { Output } from "./output.ts";
import { Payloads } from "./payloads.ts";
import { persist } from "./persist.ts";
import type { ControlPlanePort } from "./port.ts";
import { isOfContent, type Submissions } from "./submissions.ts";

/** One leased task in this worker's hands. */
export class RunningTask {
  readonly lease: TaskLease;
  readonly #leased: LeasedTask;
  readonly #port: ControlPlanePort;
  readonly #submissions: Submissions;
  readonly #abort = new AbortController();
  readonly #lost = new AbortController();

  constructor(leased: LeasedTask, port: ControlPlanePort, submissions: Submissions) {
    this.#leased = leased;
    this.#port = port;
    this.#submissions = submissions;
    this.lease = create(TaskLeaseSchema, { taskId: leased.taskId, epoch: leased.epoch, leaseToken: leased.leaseToken });
  }

  cancel(): void {
    this.#abort.abort(new ForgeError(ErrorCode.CANCELLED, "the task was cancelled"));
  }

  /** It is another worker's now: stop, and settle nothing. */
  lose(): void {
    const error = new ForgeError(ErrorCode.WORKER_LOST, "the lease was lost");
    this.#lost.abort(error);
    this.#abort.abort(error);
  }

  /** Runs the task to its settlement. Resolves when both are done; rejects only on a bug. */
  async run(handlerOf: (task: Task) => TaskHandler | undefined): Promise<void> {
    const output = new Output(this.lease, (deltas) => this.#submissions.report(deltas));
    const payloads = new Payloads(this.#port, this.lease, this.#abort.signal, this.#lost.signal);
    let clock: AttemptClock | undefined;
    let outcome: Outcome | undefined;
    try {
      const task = await this.#wholeTask(payloads);
      clock = new AttemptClock(task, (error) => this.#abort.abort(error));
      clock.begin();
      outcome = await this.#perform(task, handlerOf, output, payloads, clock);
    } catch (error) {
      outcome = failure(error);
    } finally {
      clock?.end();
      output.end();
    }
    if (outcome === undefined || this.#lost.signal.aborted) return;
    try {
      await this.#settle(outcome);
    } catch (error) {
      if (!isOfContent(error)) throw error;
      // The outcome is one that can't be kept, so that is how the task ended; unsettled, it would be done again, or nobody would know.
      await this.#settle(failure(error));
    }
  }

  async #settle(outcome: Outcome): Promise<void> {
    await this.#submissions.settle(create(SettlementSchema, { lease: this.lease, outcome }));
  }

  async #perform(
    task: Task,
    handlerOf: (task: Task) => TaskHandler | undefined,
    output: Output,
    payloads: Payloads,
    clock: AttemptClock,
  ): Promise<Outcome | undefined> {
    const handler = handlerOf(task);
    if (handler === undefined)
      throw new ForgeError(ErrorCode.UNSUPPORTED, "this worker does not serve this task: it registered a capability that it has no handler for");
    if (this.#abort.signal.aborted) return { case: "cancelled", value: create(TaskCancelledSchema) };
    let refused = false;
    const context: TaskContext = {
      lease: this.#leased,
      task,
      signal: this.#abort.signal,
      start: async (kind) => {
        try {
          await this.#submissions.start(this.lease, kind);
        } catch (error) {
          refused = true;
          throw error;
        }
      },
      report: (kind) => {
        clock.alive();
        if (kind.case !== undefined) output.push(kind);
      },
      queued: () => clock.hold(),
      begun: () => clock.begin(),
      heartbeat: () => clock.alive(),
      readConversation: (request) =>
        persist(() => this.#port.session.readConversation({ ...request, lease: this.lease }, { signal: this.#abort.signal }), this.#abort.signal),
      listChanges: (request) =>
        persist(() => this.#port.session.listChanges({ ...request, lease: this.lease }, { signal: this.#abort.signal }), this.#abort.signal),
      putArtifact: (content, mediaType) => payloads.put(content, mediaType),
      getArtifact: (sha256) => payloads.get(sha256),
      toValue: (json) => payloads.toValue(json),
      fromValue: (value) => payloads.fromValue(value),
    };
    try {
      return await handler.run(context);
    } catch (error) {
      // A refused start means that nothing happened and that the task is not this worker's any more.
      if (refused && error instanceof ForgeError && error.reason === "LEASE_LOST") return undefined;
      throw error;
    }
  }

  async #wholeTask(payloads: Payloads): Promise<Task> {
    const { task } = this.#leased;
    if (task === undefined) throw new ForgeError(ErrorCode.INTERNAL, "a lease without a task");
    return task.artifact === undefined ? task : fromBinary(TaskSchema, await payloads.get(task.artifact.sha256));
  }
}

function failure(error: unknown): Outcome {
  const known =
    error instanceof ForgeError
      ? error
      : new ForgeError(ErrorCode.INTERNAL, error instanceof Error ? `${error.name}: ${error.message}`.slice(0, 4096) : "the handler threw what is no error", {
          origin: "worker",
        });
  if (known.code === ErrorCode.CANCELLED) return { case: "cancelled", value: create(TaskCancelledSchema) };
  return { case: "failure", value: create(TaskFailureSchema, { error: known.detail }) };
}
