import { create } from "@bufbuild/protobuf";
import type { Aggregate } from "@forge/engine/stream";
import { MessageAddedSchema } from "@forge/protocol/event";
import { MessageSchema, Role, type StartTurnRequest, StartTurnResponseSchema } from "@forge/protocol/session";

/** What an event's text is filled with, so that the whole of it, with its envelope, has the size that the baselines write. */
export const FILLER = "x".repeat(31);

interface BenchState {
  readonly count: number;
}

/** The least that can be decided: every command adds one message, the state is how many there are, nothing is outstanding. */
export function benchAggregate(turnId: string): Aggregate {
  return {
    kind: "session",
    reducerVersion: 1,
    initial: (): BenchState => ({ count: 0 }),
    needs: () => [],
    decide: (_, command) => {
      const message = create(MessageSchema, { role: Role.USER, turnId, parts: [{ kind: (command as StartTurnRequest).input[0]?.kind as never }] });
      return {
        events: [{ payload: { case: "messageAdded", value: create(MessageAddedSchema, { message }) }, turnId, sensitive: true }],
        result: create(StartTurnResponseSchema, { turnId }),
      };
    },
    evolve: (state): BenchState => ({ count: (state as BenchState).count + 1 }),
    outstanding: () => [],
    commands: () => [],
    listing: () => ({ status: "SESSION_STATUS_CLOSED", detailStatus: "", title: "", subject: "", version: "", labels: LABELS, approvals: [] }),
    deltaIds: () => ({}),
  };
}

const LABELS = {};
