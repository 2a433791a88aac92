import { create } from "@bufbuild/protobuf";
import { ErrorCode } from "@forge/protocol/common";
import { RunContinuedSchema, RunPausedSchema } from "@forge/protocol/event";
import { ContinueRunResponseSchema, PauseRunResponseSchema, RunStatus } from "@forge/protocol/workflow";
import type { Rejected } from "../decider.ts";
import { missingOrEnded } from "./cancel-run.ts";
import { refusal } from "./errors.ts";
import { type RunRecorder, record } from "./recorder.ts";
import type { RunResult } from "./run-command.ts";

/** No step begins until the run is continued; what is under way goes on. */
export function pauseRun(run: RunRecorder): RunResult | Rejected {
  const { state, context } = run;
  const refused = missingOrEnded(state, context.streamId, "pause");
  if (refused !== undefined) return refused;
  if (state.status === RunStatus.CANCELLING) return refusal(ErrorCode.CONFLICT, "RUN_CANCELLING", `run ${state.runId} was asked to stop`, state.runId);
  if (state.paused) return refusal(ErrorCode.CONFLICT, "RUN_PAUSED", `run ${state.runId} is paused already; continue it to go on`, state.runId);
  record(run, { case: "runPaused", value: create(RunPausedSchema) });
  return create(PauseRunResponseSchema);
}

/** Steps begin again. */
export function continueRun(run: RunRecorder): RunResult | Rejected {
  const { state, context } = run;
  const refused = missingOrEnded(state, context.streamId, "continue");
  if (refused !== undefined) return refused;
  if (!state.paused) return refusal(ErrorCode.CONFLICT, "RUN_NOT_PAUSED", `run ${state.runId} is not paused`, state.runId);
  record(run, { case: "runContinued", value: create(RunContinuedSchema) });
  return create(ContinueRunResponseSchema);
}
