import type { EventDraft } from "@forge/domain";
import type { LeaseProof } from "../ports/index.ts";
import type { StreamKindName } from "./aggregate.ts";

/** Pieces of a running task's output for its stream. */
export interface DeltaRequest {
  readonly namespace: string;
  readonly principal: string;
  readonly kind: StreamKindName;
  readonly streamId: string;
  readonly drafts: readonly EventDraft[];
  readonly proof: LeaseProof;
}
