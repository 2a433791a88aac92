import { create } from "@bufbuild/protobuf";
import { ForgeError } from "@forge/protocol";
import { ErrorCode, type Value } from "@forge/protocol/common";
import { RunSignalledSchema } from "@forge/protocol/event";
import { type SignalRunRequest, SignalRunResponseSchema } from "@forge/protocol/workflow";
import type { Rejected } from "../decider.ts";
import { isStorable } from "../text.ts";
import { missingOrEnded } from "./cancel-run.ts";
import { refusal } from "./errors.ts";
import { executionAwaiting } from "./executions.ts";
import { fitsInline, parseJson } from "./json.ts";
import { NAME_LENGTH_MAX, SIGNALS_MAX, VALUE_BYTES_MAX } from "./limits.ts";
import { checkOutput } from "./output.ts";
import { type RunRecorder, record } from "./recorder.ts";
import type { RunResult } from "./run-command.ts";
import { completeStep, recordStepFailure } from "./settle.ts";
import { type Execution, stepAt } from "./state.ts";

/** Hands a signal to the step that has waited for it longest, or keeps it for the next one that will. */
export function signalRun(run: RunRecorder, { name, payload }: SignalRunRequest): RunResult | Rejected {
  const { state, context } = run;
  const refused = missingOrEnded(state, context.streamId, "signal");
  if (refused !== undefined) return refused;
  const wrong = wrongField(name, payload);
  if (wrong !== undefined) return { rejection: ForgeError.validation(wrong.field, wrong.message, { origin: "control-plane" }).detail };
  if (state.signals.length >= SIGNALS_MAX) {
    const message = `${SIGNALS_MAX} signals wait in run ${state.runId} already, and no step has taken them`;
    return refusal(ErrorCode.RESOURCE_EXHAUSTED, "SIGNALS", message, state.runId);
  }
  record(run, { case: "runSignalled", value: create(RunSignalledSchema, { name, payload }) });
  const waiting = executionAwaiting(run.state.executions, "signal", name);
  // Where a step waits, no other signal of this name has been kept.
  if (waiting !== undefined) takeSignal(run, waiting, payload);
  return create(SignalRunResponseSchema);
}

/** A signal that its wait's contract does not take is spent as well: the next step that waits is not to stumble over it. */
function takeSignal(run: RunRecorder, waiting: Execution, payload: Value | undefined): void {
  const output = checkOutput(stepAt(run.state, waiting.position), payload, run.context);
  if (output.ok) completeStep(run, waiting, output.value, {});
  else recordStepFailure(run, waiting, output.error, undefined);
}

function wrongField(name: string, payload: Value | undefined): { readonly field: string; readonly message: string } | undefined {
  if (name === "" || name.length > NAME_LENGTH_MAX || !isStorable(name)) {
    return { field: "name", message: `the name of a signal has 1 to ${NAME_LENGTH_MAX} characters without NUL` };
  }
  if (payload?.kind.case !== "json") return undefined;
  if (!fitsInline(payload.kind.value)) return { field: "payload", message: `the payload takes more than ${VALUE_BYTES_MAX} bytes: store it as an artifact` };
  const parsed = parseJson(payload.kind.value);
  return parsed.ok ? undefined : { field: "payload", message: `the payload is ${parsed.message}` };
}
