import type { DescMessage } from "@bufbuild/protobuf";
import type { LeaseProof } from "../ports/index.ts";
import type { Command, StreamKindName } from "./aggregate.ts";

/** One command to one stream. */
export interface CommandRequest {
  readonly namespace: string;
  readonly principal: string;
  readonly kind: StreamKindName;
  readonly streamId: string;
  /** True where the command may create the stream; others are not_found without it. */
  readonly creates: boolean;
  readonly command: Command;
  readonly commandId: string;
  readonly digest: Uint8Array;
  readonly expectedSeq: number | undefined;
  readonly correlationId: string;
  readonly causationId: string;
  /** Leases that must hold when it is appended. */
  readonly proofs: readonly LeaseProof[];
  /** How its result is encoded; undefined for the engine's own commands, which answer nothing. */
  readonly resultSchema: DescMessage | undefined;
}

/** The one effect of a command. */
export interface CommandResult {
  readonly seq: number;
  readonly resultType: string;
  /** The encoded response message. */
  readonly result: Uint8Array;
}
