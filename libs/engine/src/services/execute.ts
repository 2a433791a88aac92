import { type DescMessage, fromBinary, type MessageShape } from "@bufbuild/protobuf";
import type { Call } from "@forge/protocol";
import type { CommandHeader } from "@forge/protocol/common";
import type { Command, StreamKindName } from "../stream/aggregate.ts";
import { requestDigest } from "../stream/digest.ts";
import { deriveId } from "../stream/identity.ts";
import type { StreamEngine } from "../stream/stream-engine.ts";
import { checkHeader, checkText } from "./check.ts";

/** A request message of a command. */
type CommandMessage = Command & { readonly header?: CommandHeader };

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
  }): Promise<MessageShape<O>> {
    const { call, kind, schema, request, response } = options;
    const header = checkHeader(request.header);
    checkText(request);
    const result = await this.#engine.execute({
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
    });
    return fromBinary(response, result.result);
  }
}
