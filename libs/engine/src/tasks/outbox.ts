import { create, toBinary } from "@bufbuild/protobuf";
import { Mailboxes } from "@forge/core";
import type { ForkFrom } from "@forge/domain";
import { ForgeError } from "@forge/protocol";
import type { StreamKind } from "@forge/protocol/common";
import { type ForkChildSession, type OutgoingCommand, OutgoingCommandSchema, RejectCommandSchema } from "@forge/protocol/engine";
import type { StoredTask } from "../ports/index.ts";
import { STREAM_KINDS, type StreamKindName } from "../stream/aggregate.ts";
import { taskRecord } from "../stream/build-append.ts";
import { sha256 } from "../stream/identity.ts";
import type { CommandRequest } from "../stream/request.ts";
import type { StreamEngine } from "../stream/stream-engine.ts";
import { internalId, proofOfRow } from "./internal-command.ts";
import { isPassing } from "./passing.ts";
import type { Repair } from "./repair.ts";

/** Reads what a sub-agent's session is to begin with from its caller's. Rejects with a ForgeError where it can't be copied. */
export type ReadChildFork = (namespace: string, sourceSessionId: string, fork: ForkChildSession) => Promise<ForkFrom>;

interface Delivery {
  readonly task: StoredTask;
  /** The store says that no earlier command of its source waits. */
  readonly isEarliest: boolean;
  /** It was tried, or passed over. */
  readonly done: () => void;
}

/**
 * Delivers commands from one stream to another, in the order of their causing events. A row leaves with the target's append; where the target says no,
 * the refusal goes back to the source, and the row leaves with that.
 */
export class Outbox {
  readonly #engine: StreamEngine;
  readonly #repair: Repair;
  readonly #readFork: ReadChildFork;
  readonly #mailboxes: Mailboxes<Delivery>;
  /** Sources with a delivery that failed: what comes after it must not overtake it. */
  readonly #stuck = new Set<string>();

  constructor(engine: StreamEngine, repair: Repair, readFork: ReadChildFork, onBug: (error: unknown, where: string) => void) {
    this.#engine = engine;
    this.#repair = repair;
    this.#readFork = readFork;
    // A failed delivery is not lost: its lease runs out, and the row is found again.
    this.#mailboxes = new Mailboxes(
      (source, deliveries) => this.#deliverAll(source, deliveries),
      (error) => onBug(error, "outbox"),
      { batchMax: 64 },
    );
  }

  /** Commands that were just stored, leased to this replica. */
  accept(tasks: readonly StoredTask[]): void {
    for (const task of tasks) this.#mailboxes.post(sourceOf(task), { task, isEarliest: false, done: () => undefined });
  }

  /** Commands that the store gave out: each is the earliest of its source, so that nothing of it is stuck any more. Resolves once all were tried. */
  async resume(tasks: readonly StoredTask[]): Promise<void> {
    await Promise.all(tasks.map((task) => new Promise<void>((done) => this.#mailboxes.post(sourceOf(task), { task, isEarliest: true, done }))));
  }

  get isBusy(): boolean {
    return this.#mailboxes.isBusy;
  }

  whenIdle(): Promise<void> {
    return this.#mailboxes.whenIdle();
  }

  async #deliverAll(source: string, deliveries: readonly Delivery[]): Promise<void> {
    try {
      for (const { task, isEarliest } of deliveries) {
        if (isEarliest) this.#stuck.delete(source);
        if (!this.#stuck.has(source)) await this.#deliver(task);
      }
    } catch (error) {
      this.#stuck.add(source);
      throw error;
    } finally {
      for (const { done } of deliveries) done();
    }
  }

  async #deliver(task: StoredTask): Promise<void> {
    const { kind } = taskRecord(task);
    if (kind.case !== "command") throw new Error(`task ${task.key} is no command`);
    const outgoing = kind.value;
    try {
      await this.#engine.execute(await this.#toRequest(task, outgoing));
    } catch (error) {
      if (isPassing(error) || !(error instanceof ForgeError)) throw error;
      if (error.reason === "LEASE_LOST") return;
      if (await this.#repair.isFirstCommand(task)) await this.#giveBack(task, outgoing, error);
      // An earlier command of another replica that died is still to come: this one waits for its turn, and is decided then.
      else this.#stuck.add(sourceOf(task));
    }
  }

  async #toRequest(task: StoredTask, outgoing: OutgoingCommand): Promise<CommandRequest> {
    const { command } = outgoing;
    const request = toRequest(task, outgoing);
    if (command.case !== "forkChildSession") return request;
    return { ...request, command: await this.#readFork(task.namespace, task.streamId, command.value) };
  }

  async #giveBack(task: StoredTask, outgoing: OutgoingCommand, refusal: ForgeError): Promise<void> {
    const command = create(RejectCommandSchema, { commandId: outgoing.commandId, error: refusal.detail });
    try {
      await this.#engine.execute({
        namespace: task.namespace,
        principal: "control-plane",
        kind: task.streamKind,
        streamId: task.streamId,
        creates: false,
        command,
        commandId: internalId(`reject/${task.key}`),
        digest: sha256(outgoing.commandId),
        expectedSeq: undefined,
        correlationId: "",
        causationId: outgoing.commandId,
        proofs: [proofOfRow(task)],
        resultSchema: undefined,
      });
    } catch (error) {
      if (isPassing(error) || !(error instanceof ForgeError)) throw error;
      // The source has no use for the refusal any more, so the row has none either.
      if (error.reason !== "LEASE_LOST") await this.#repair.drop(task);
    }
  }
}

function toRequest(task: StoredTask, outgoing: OutgoingCommand): CommandRequest {
  const { target, command } = outgoing;
  if (target === undefined || command.case === undefined) throw new Error(`command ${outgoing.commandId} has no target or no content`);
  const kind = nameOf(target.kind);
  return {
    namespace: task.namespace,
    principal: `${task.streamKind}:${task.streamId}`,
    kind,
    streamId: target.id,
    creates: CREATES.has(command.case),
    command: command.value,
    commandId: internalId(outgoing.commandId),
    digest: sha256(toBinary(OutgoingCommandSchema, outgoing)),
    expectedSeq: undefined,
    correlationId: "",
    causationId: outgoing.commandId,
    proofs: [proofOfRow(task)],
    resultSchema: undefined,
  };
}

const CREATES: ReadonlySet<string> = new Set(["createSession", "startChildRun", "forkChildSession", "acquireConcurrency"]);

function nameOf(kind: StreamKind): StreamKindName {
  const name = (Object.keys(STREAM_KINDS) as StreamKindName[]).find((each) => STREAM_KINDS[each] === kind);
  if (name === undefined) throw new Error(`there are no streams of kind ${kind}`);
  return name;
}

function sourceOf(task: StoredTask): string {
  return `${task.namespace}\n${task.streamId}`;
}
