import { create, toBinary } from "@bufbuild/protobuf";
import { Mailboxes } from "@forge/core";
import { ForgeError } from "@forge/protocol";
import { ErrorCode, StreamKind } from "@forge/protocol/common";
import { type OutgoingCommand, OutgoingCommandSchema, RejectCommandSchema } from "@forge/protocol/engine";
import type { StoredTask } from "../ports/index.ts";
import type { Command, StreamKindName } from "../stream/aggregate.ts";
import { taskRecord } from "../stream/build-append.ts";
import { sha256 } from "../stream/identity.ts";
import type { CommandRequest } from "../stream/request.ts";
import type { StreamEngine } from "../stream/stream-engine.ts";
import { proofOfRow } from "./internal-command.ts";
import type { Repair } from "./repair.ts";

/**
 * Delivers commands from one stream to another, in the order of their causing events. A row leaves with the target's append; where the target says no,
 * the refusal goes back to the source, and the row leaves with that.
 */
export class Outbox {
  readonly #engine: StreamEngine;
  readonly #repair: Repair;
  readonly #mailboxes: Mailboxes<StoredTask>;

  constructor(engine: StreamEngine, repair: Repair, onBug: (error: unknown, where: string) => void) {
    this.#engine = engine;
    this.#repair = repair;
    // A failed delivery is not lost: its lease runs out, and the row is found again.
    this.#mailboxes = new Mailboxes((_, tasks) => this.#deliverAll(tasks), (error) => onBug(error, "outbox"), { batchMax: 64 });
  }

  accept(tasks: readonly StoredTask[]): void {
    for (const task of tasks) this.#mailboxes.post(`${task.namespace}\n${task.streamId}`, task);
  }

  whenIdle(): Promise<void> {
    return this.#mailboxes.whenIdle();
  }

  async #deliverAll(tasks: readonly StoredTask[]): Promise<void> {
    for (const task of tasks) await this.#deliver(task);
  }

  async #deliver(task: StoredTask): Promise<void> {
    const { kind } = taskRecord(task);
    if (kind.case !== "command") throw new Error(`task ${task.key} is no command`);
    const outgoing = kind.value;
    try {
      await this.#engine.execute(toRequest(task, outgoing));
    } catch (error) {
      if (!(error instanceof ForgeError) || error.code === ErrorCode.STORAGE_ERROR || error.code === ErrorCode.INTERNAL) throw error;
      if (error.reason !== "LEASE_LOST") await this.#giveBack(task, outgoing, error);
    }
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
        commandId: `reject/${task.key}`,
        digest: sha256(outgoing.commandId),
        expectedSeq: undefined,
        correlationId: "",
        causationId: outgoing.commandId,
        proofs: [proofOfRow(task)],
        resultSchema: undefined,
      });
    } catch (error) {
      if (!(error instanceof ForgeError) || error.code === ErrorCode.STORAGE_ERROR || error.code === ErrorCode.INTERNAL) throw error;
      // The source has no use for the refusal any more, so the row has none either.
      if (error.reason !== "LEASE_LOST") await this.#repair.drop(task);
    }
  }
}

function toRequest(task: StoredTask, outgoing: OutgoingCommand): CommandRequest {
  const { target, command } = outgoing;
  if (target === undefined || command.case === undefined) throw new Error(`command ${outgoing.commandId} has no target or no content`);
  const kind: StreamKindName = target.kind === StreamKind.RUN ? "run" : "session";
  return {
    namespace: task.namespace,
    principal: `${task.streamKind}:${task.streamId}`,
    kind,
    streamId: target.id,
    creates: command.case === "createSession",
    command: command.value as Command,
    commandId: outgoing.commandId,
    digest: sha256(toBinary(OutgoingCommandSchema, outgoing)),
    expectedSeq: undefined,
    correlationId: "",
    causationId: outgoing.commandId,
    proofs: [proofOfRow(task)],
    resultSchema: undefined,
  };
}
