import { type DescMessage, fromBinary, type MessageShape } from "@bufbuild/protobuf";
import { type Call, checkText } from "@forge/protocol";
import type { CommandHeader } from "@forge/protocol/common";
import type { Command, StreamKindName } from "../stream/aggregate.ts";
import { requestDigest } from "../stream/digest.ts";
import { deriveId } from "../stream/identity.ts";
import type { CommandRequest, CommandResult } from "../stream/request.ts";
import type { StreamEngine } from "../stream/stream-engine.ts";
import { checkHeader } from "./check.ts";

/** A request message of a command. */
export type CommandMessage = Command & { readonly header?: CommandHeader };

/** Sends clients' commands to their streams. */
export class Executor {
  readonly #engine: StreamEngine;

  constructor(engine: StreamEngine) {
    this.#engine = engine;
  }

  /** The id of the stream that a create makes. */
  createdId(namespace: string, kind: StreamKindName, commandId: string): string {
    return deriveId(namespace, kind, commandId);
  }

  async run<I extends DescMessage, O extends DescMessage>(options: {
    readonly call: Call;
    readonly kind: StreamKindName;
    /** Absent: the command creates the stream. */
    readonly streamId?: string;
    readonly schema: I;
    readonly request: MessageShape<I> & CommandMessage;
    readonly response: O;
    /** What must be so in the world for the command to be decided. One that is on record is answered whatever has changed since. */
    readonly admit?: () => Promise<void>;
    /** Reads what is decided in the request's place; the request stays what identifies the command. Asked only where the command is not on record. */
    readonly prepare?: () => Promise<Command>;
  }): Promise<MessageShape<O>> {
    const { call, kind, schema, request, response } = options;
    const header = checkHeader(request.header);
    checkText(request);
    const command: CommandRequest = {
      namespace: call.namespace,
      principal: call.principal,
      kind,
      streamId: options.streamId ?? this.createdId(call.namespace, kind, header.commandId),
      creates: options.streamId === undefined,
      command: request,
      commandId: header.commandId,
      digest: requestDigest(schema, request),
      expectedSeq: header.expectedSeq === undefined ? undefined : Number(header.expectedSeq),
      correlationId: header.correlationId,
      causationId: header.causationId,
      proofs: [],
      resultSchema: response,
    };
    if (options.prepare !== undefined) {
      const recorded = await this.#engine.recorded(command);
      const done = recorded ?? (await this.#engine.execute({ ...command, command: await options.prepare() }));
      return fromBinary(response, done.result);
    }
    const result = (await this.#recordedUnlessAdmitted(command, options.admit)) ?? (await this.#engine.execute(command));
    return fromBinary(response, result.result);
  }

  async #recordedUnlessAdmitted(command: CommandRequest, admit: (() => Promise<void>) | undefined): Promise<CommandResult | undefined> {
    try {
      await admit?.();
      return undefined;
    } catch (refusal) {
      const recorded = await this.#engine.recorded(command);
      if (recorded === undefined) throw refusal;
      return recorded;
    }
  }
}
