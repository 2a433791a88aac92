import type { Decider, Listing, StreamKindName } from "@forge/domain";
import { StreamKind } from "@forge/protocol/common";

/** A command as the engine handles it: a generated message, or one of the engine's own. */
export interface Command {
  readonly $typeName: string;
}

export type { StreamKindName } from "@forge/domain";

/** As the protocol names them. */
export const STREAM_KINDS: Readonly<Record<StreamKindName, StreamKind>> = {
  session: StreamKind.SESSION,
  run: StreamKind.RUN,
  concurrency: StreamKind.CONCURRENCY,
};

/** A decider whose types the engine does not look into. */
export type Aggregate = Decider<unknown, Command, unknown, Listing | undefined>;

/** The decider of each kind of stream. */
export type Aggregates = Readonly<Record<StreamKindName, Aggregate>>;
