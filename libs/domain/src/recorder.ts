import { create } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { PrincipalSchema, StreamKind, StreamRefSchema } from "@forge/protocol/common";
import { type Event, EventSchema } from "@forge/protocol/event";
import type { Context, EventDraft, StreamKindName } from "./decider.ts";

const STREAM_KINDS: Readonly<Record<StreamKindName, StreamKind>> = {
  session: StreamKind.SESSION,
  run: StreamKind.RUN,
  concurrency: StreamKind.CONCURRENCY,
};

/** A draft as it will be read back, but for what only the engine gives: event id, kind, correlation and cause. Deciders never read those. */
export function stampDraft(streamKind: StreamKindName, draft: EventDraft, context: Context, seq: number): Event {
  return create(EventSchema, {
    stream: create(StreamRefSchema, { kind: STREAM_KINDS[streamKind], id: context.streamId }),
    seq: BigInt(seq),
    occurredAt: timestampFromMs(context.nowMs),
    principal: create(PrincipalSchema, { id: context.principal }),
    commandId: context.commandId,
    turnId: draft.turnId ?? "",
    toolCallId: draft.toolCallId ?? "",
    modelCallId: draft.modelCallId ?? "",
    stepId: draft.stepId ?? "",
    payload: draft.payload,
  });
}

/**
 * Collects the events of one decision and folds each at once, so that every consequence is decided on the state that the events before it lead to.
 * That is how a decision runs to quiescence with `evolve` as the only place that says what an event means.
 */
export class Recorder<State> {
  readonly context: Context;
  readonly events: EventDraft[] = [];
  #state: State;
  readonly #streamKind: StreamKindName;
  readonly #evolve: (state: State, event: Event) => State;

  constructor(streamKind: StreamKindName, state: State, evolve: (state: State, event: Event) => State, context: Context) {
    this.#streamKind = streamKind;
    this.#state = state;
    this.#evolve = evolve;
    this.context = context;
  }

  /** The state after all events recorded so far. */
  get state(): State {
    return this.#state;
  }

  /** The seq of the newest event, those recorded here included. */
  get seq(): number {
    return this.context.seq + this.events.length;
  }

  record(draft: EventDraft): void {
    this.#state = this.#evolve(this.#state, stampDraft(this.#streamKind, draft, this.context, this.seq + 1));
    this.events.push(draft);
  }
}
