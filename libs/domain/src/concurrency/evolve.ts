import type { Event } from "@forge/protocol/event";
import type { ConcurrencyState, Waiting } from "./state.ts";

/** Raised whenever the fold below changes, so that older snapshots are not read. */
export const CONCURRENCY_REDUCER_VERSION = 1;

/** What an event makes true. Throws on a kind that the stream of a concurrency key has not. */
export function evolveConcurrency(state: ConcurrencyState, { payload }: Event): ConcurrencyState {
  switch (payload.case) {
    case "concurrencyRequested": {
      const { key, runId, priority, limit } = payload.value;
      return { ...state, key, limit, waiting: inserted(state.waiting, { runId, priority }) };
    }
    case "concurrencyGranted":
      return { ...without(state, payload.value.runId), holders: [...state.holders, payload.value.runId] };
    case "concurrencyReleased":
      return without(state, payload.value.runId);
    default:
      throw new Error(`a concurrency key has no event ${payload.case ?? "of an unknown kind"}`);
  }
}

/** Behind all of its own priority or a higher one. */
function inserted(waiting: readonly Waiting[], entry: Waiting): readonly Waiting[] {
  const before = waiting.findIndex(({ priority }) => priority < entry.priority);
  return before === -1 ? [...waiting, entry] : waiting.toSpliced(before, 0, entry);
}

function without(state: ConcurrencyState, runId: string): ConcurrencyState {
  return { ...state, holders: state.holders.filter((holder) => holder !== runId), waiting: state.waiting.filter((entry) => entry.runId !== runId) };
}
