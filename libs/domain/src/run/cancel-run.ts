import { create } from "@bufbuild/protobuf";
import { ErrorCode } from "@forge/protocol/common";
import { RunCancelRequestedSchema } from "@forge/protocol/event";
import { CancelRunResponseSchema, RunStatus } from "@forge/protocol/workflow";
import type { Rejected } from "../decider.ts";
import { refusal } from "./errors.ts";
import { type RunRecorder, record } from "./recorder.ts";
import type { RunResult } from "./run-command.ts";
import { isActive, type RunState } from "./state.ts";

/** Asks for the run to stop; asking again is allowed and changes nothing. What nobody can be doing ends at once, what somebody may be doing is waited for. */
export function cancelRun(run: RunRecorder): RunResult | Rejected {
  const refused = missingOrEnded(run.state, run.context.streamId, "cancel");
  if (refused !== undefined) return refused;
  record(run, { case: "runCancelRequested", value: create(RunCancelRequestedSchema) });
  return create(CancelRunResponseSchema);
}

/** Why nothing can be done to a run any more, or yet. */
export function missingOrEnded(state: RunState, streamId: string, what: string): Rejected | undefined {
  if (state.status === RunStatus.UNSPECIFIED) {
    return refusal(ErrorCode.NOT_FOUND, "RUN_NOT_FOUND", `there is no run ${streamId}; list the runs to find its id`, streamId);
  }
  if (isActive(state)) return undefined;
  return refusal(ErrorCode.CONFLICT, "RUN_ENDED", `run ${state.runId} has ended already; there is nothing to ${what}`, state.runId);
}
