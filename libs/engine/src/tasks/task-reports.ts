import { toBinary } from "@bufbuild/protobuf";
import { type Call, checkText, ForgeError } from "@forge/protocol";
import { ErrorCode, type TaskLease } from "@forge/protocol/common";
import { type OutputDelta, type Settlement, SettlementSchema, type TaskStart } from "@forge/protocol/worker";
import type { Store } from "../ports/index.ts";
import { sha256 } from "../stream/identity.ts";
import type { StreamEngine } from "../stream/stream-engine.ts";
import { internalId, taskCommand } from "./internal-command.ts";
import { deltaDraft, OutputOffsets } from "./output-offsets.ts";
import { parseTaskId, proofOf, type TaskName } from "./task-id.ts";
import { checkLease } from "./task-lease.ts";
import { checkReport } from "./user-report.ts";

/** Refusals that say that a task is no longer the worker's. */
const HAS_ENDED: ReadonlySet<string> = new Set(["LEASE_LOST", "TASK_NOT_OPEN"]);

/** Who reports. */
export interface Reporter {
  readonly call: Call;
  /** The worker's name. */
  readonly worker: string;
  /** The worker's session. */
  readonly sessionId: string;
}

/** What workers say of the tasks that they hold, given to the tasks' streams under the proof of the lease. */
export class TaskReports {
  readonly #store: Store;
  readonly #engine: StreamEngine;
  readonly #offsets = new OutputOffsets();

  constructor(store: Store, engine: StreamEngine) {
    this.#store = store;
    this.#engine = engine;
  }

  /** Records that a task starts: once this resolves, its worker has the go-ahead. */
  async start(one: TaskStart, { call, worker, sessionId }: Reporter): Promise<void> {
    const lease = checkLease(one.lease, "starts.lease");
    const name = parseTaskId(lease.taskId, "starts.lease.task_id");
    if (one.kind.case === undefined) throw ForgeError.validation("starts.kind", "a start says what starts: model or tool");
    checkText(one.kind.value, "starts");
    const start = { ...one.kind, value: { ...one.kind.value, worker, epoch: lease.epoch } } as TaskStart["kind"];
    await this.#engine.execute(
      taskCommand({
        namespace: call.namespace,
        principal: call.principal,
        kind: name.kind,
        streamId: name.streamId,
        command: { $typeName: "task.started", key: name.key, worker, epoch: lease.epoch, start },
        commandId: startId(name.key, lease.epoch),
        digest: startDigest(lease, sessionId),
        proofs: [proofOf(lease, name, sessionId)],
      }),
    );
  }

  /** The one end of a task. Errors: conflict LEASE_LOST, where it is no longer this worker's; a late answer is remembered where its stream has a place for it. */
  async settle(one: Settlement, reporter: Reporter): Promise<void> {
    const lease = checkLease(one.lease, "settlements.lease");
    const name = parseTaskId(lease.taskId, "settlements.lease.task_id");
    if (one.outcome.case === undefined) throw ForgeError.validation("settlements.outcome", "a settlement says how the task ended");
    checkText(one.outcome.value, "settlements");
    const { call, worker, sessionId } = reporter;
    try {
      await this.#engine.execute(
        taskCommand({
          namespace: call.namespace,
          principal: call.principal,
          kind: name.kind,
          streamId: name.streamId,
          command: { $typeName: "task.settled", key: name.key, worker, outcome: one.outcome },
          commandId: `settle/${name.key}/${lease.epoch}`,
          digest: sha256(toBinary(SettlementSchema, one)),
          proofs: [proofOf(lease, name, sessionId)],
        }),
      );
    } catch (error) {
      if (!(error instanceof ForgeError) || !HAS_ENDED.has(error.reason)) throw error;
      await this.#recordLate(one, name, lease, reporter);
      throw new ForgeError(ErrorCode.CONFLICT, error.message, { reason: "LEASE_LOST", relatedIds: [name.streamId] });
    }
  }

  /** A piece of a running task's output; one that was reported before adds nothing. */
  async output(one: OutputDelta, { call, sessionId }: Reporter): Promise<void> {
    const lease = checkLease(one.lease, "deltas.lease");
    const name = parseTaskId(lease.taskId, "deltas.lease.task_id");
    checkText(one.kind.value, "deltas");
    const draft = deltaDraft(one);
    if (draft === undefined) throw ForgeError.validation("deltas.kind", "a delta is of a turn or of a tool, or a tool's report to people");
    checkReport(one);
    if (!this.#offsets.isNew(lease.taskId, one)) return;
    const entry = await this.#engine.peek(call.namespace, name.streamId, name.kind);
    await this.#engine.appendDelta({
      namespace: call.namespace,
      principal: call.principal,
      kind: name.kind,
      streamId: name.streamId,
      drafts: [entry === undefined ? draft : { ...draft, ...entry.aggregate.deltaIds(entry.state, name.key) }],
      proof: proofOf(lease, name, sessionId),
    });
    this.#offsets.count(lease.taskId, one);
  }

  /** The worker is refused; the stream remembers that an answer came after the end. */
  async #recordLate(one: Settlement, name: TaskName, lease: TaskLease, { call, worker, sessionId }: Reporter): Promise<void> {
    if (!(await this.#hadStarted(lease, name, call.namespace, sessionId))) return;
    try {
      await this.#engine.execute(
        taskCommand({
          namespace: call.namespace,
          principal: call.principal,
          kind: name.kind,
          streamId: name.streamId,
          command: { $typeName: "task.reported_late", key: name.key, worker, outcome: one.outcome },
          commandId: `late/${name.key}/${lease.epoch}`,
          digest: sha256(toBinary(SettlementSchema, one)),
          proofs: [],
        }),
      );
    } catch (error) {
      // A task whose stream records no late answers, or that another epoch still works on: the refusal alone is the answer.
      if (!(error instanceof ForgeError)) throw error;
    }
  }

  /** Only who once had the go-ahead for the task may have its late answer remembered: the record of the start holds a digest of its proof. */
  async #hadStarted(lease: TaskLease, name: TaskName, namespace: string, sessionId: string): Promise<boolean> {
    const [record] = await this.#store.findCommands(namespace, name.streamId, [internalId(startId(name.key, lease.epoch))]);
    return record !== undefined && Buffer.compare(record.digest, startDigest(lease, sessionId)) === 0;
  }
}

function startId(key: string, epoch: number): string {
  return `start/${key}/${epoch}`;
}

/** A go-ahead that is asked for again is the same only from the session that got it. */
function startDigest(lease: TaskLease, sessionId: string): Uint8Array {
  return sha256(Buffer.concat([lease.leaseToken, Buffer.from(sessionId)]));
}
