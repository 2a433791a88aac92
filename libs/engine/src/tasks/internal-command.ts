import type { TaskCommand } from "@forge/domain";
import type { LeaseProof, StoredTask } from "../ports/index.ts";
import type { StreamKindName } from "../stream/aggregate.ts";
import { sha256 } from "../stream/identity.ts";
import type { CommandRequest } from "../stream/request.ts";

/** The id of a command of the engine's own: its first character is none that a client may use. */
export function internalId(id: string): string {
  return ` ${id}`;
}

/** A command that the engine gives to a stream about one of its tasks. */
export function taskCommand(options: {
  readonly namespace: string;
  readonly principal: string;
  readonly kind: StreamKindName;
  readonly streamId: string;
  readonly command: TaskCommand;
  readonly commandId: string;
  readonly digest?: Uint8Array;
  readonly proofs: readonly LeaseProof[];
}): CommandRequest {
  return {
    ...options,
    commandId: internalId(options.commandId),
    creates: false,
    digest: options.digest ?? sha256(options.commandId),
    expectedSeq: undefined,
    correlationId: "",
    causationId: "",
    resultSchema: undefined,
  };
}

/** The lease that a stored row carries, as its holder proves it. */
export function proofOfRow(task: StoredTask): LeaseProof {
  if (task.token === undefined) throw new Error(`task ${task.key} of ${task.streamId} carries no lease`);
  return { streamId: task.streamId, key: task.key, epoch: task.epoch, token: task.token };
}
