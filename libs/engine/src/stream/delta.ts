import type { EventDraft } from "@forge/domain";
import type { LeaseProof, StreamAppend } from "../ports/index.ts";
import type { StreamKindName } from "./aggregate.ts";
import { encodeEvent } from "./encode-event.ts";
import type { Entry } from "./entry.ts";
import { stamp } from "./envelope.ts";

/** Pieces of a running task's output for its stream. */
export interface DeltaRequest {
  readonly namespace: string;
  readonly principal: string;
  readonly kind: StreamKindName;
  readonly streamId: string;
  readonly drafts: readonly EventDraft[];
  readonly proof: LeaseProof;
}

/** Several pieces of one stream's output as one append, under the leases of the tasks that wrote them. */
export function deltaAppend(before: Entry, requests: readonly DeltaRequest[], nowMs: number): StreamAppend {
  const [first] = requests as [DeltaRequest, ...DeltaRequest[]];
  const drafts = requests.flatMap((request) => request.drafts.map((draft) => ({ draft, request })));
  const events = drafts.map(({ draft, request }, index) =>
    encodeEvent(stamp(draft, before.seq + 1 + index, { ...request, commandId: "", correlationId: "", causationId: "", nowMs })),
  );
  return {
    namespace: first.namespace,
    streamId: first.streamId,
    kind: first.kind,
    expectedSeq: before.seq,
    events,
    deltas: true,
    commands: [],
    requires: distinctProofs(requests.map((request) => request.proof)),
    settles: [],
    starts: [],
    addTasks: [],
    removeTasks: [],
    cancelTasks: [],
    listing: undefined,
    artifacts: [],
  };
}

function distinctProofs(proofs: readonly LeaseProof[]): readonly LeaseProof[] {
  return [...new Map(proofs.map((proof) => [`${proof.streamId} ${proof.key} ${proof.epoch}`, proof])).values()];
}
