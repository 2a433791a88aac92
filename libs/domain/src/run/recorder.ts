import type { Context, EventDraft } from "../decider.ts";
import { Recorder } from "../recorder.ts";
import { evolve } from "./evolve.ts";
import type { RunState } from "./state.ts";

export type RunRecorder = Recorder<RunState>;

export function runRecorder(state: RunState, context: Context): RunRecorder {
  return new Recorder("run", state, evolve, context);
}

/** Kinds without people's, functions' or tools' words inside. */
const PUBLIC = new Set<EventDraft["payload"]["case"]>([
  "runStarted",
  "runQueued",
  "runCancelRequested",
  "runCancelled",
  "toolStarted",
  "toolCancelled",
  "toolSettledUnknown",
]);

/** Records an event of the run, or of the step and call that are named. */
export function record(run: RunRecorder, payload: EventDraft["payload"], about: { readonly stepId?: string; readonly toolCallId?: string } = {}): void {
  run.record({ payload, ...about, sensitive: !PUBLIC.has(payload.case) });
}
