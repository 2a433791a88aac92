import { fromJson, toJson } from "@bufbuild/protobuf";
import { durationMs, TimestampSchema, timestampFromMs, timestampMs } from "@bufbuild/protobuf/wkt";
import { ErrorCode, type ForgeError, type Value } from "@forge/protocol/common";
import type { StepDefinition, WaitStep } from "@forge/protocol/workflow";
import type { Context } from "../decider.ts";
import { renderTemplate } from "../template/render-template.ts";
import { stepError } from "./errors.ts";
import { inlineValue, readValue } from "./json.ts";
import { WAIT_MS_MAX } from "./limits.ts";
import { checkOutput } from "./output.ts";
import { readsOfInput } from "./reads.ts";
import { failed, type Outcome, succeeded } from "./result.ts";
import { stateView } from "./scope.ts";
import type { Execution, RunState } from "./state.ts";
import { mapSource } from "./step-input.ts";

const QUESTION_LENGTH_MAX = 4_096;
/** RFC 3339, with its zone: a time without one means another in each place. */
const TIME = /^(?!0000)(\d{4}-\d{2}-\d{2})[Tt ]\d{2}:\d{2}:\d{2}(?:\.\d{1,9})?(?:[Zz]|[+-]\d{2}:\d{2})$/;

type Begun = {
  readonly waitsUntil?: ReturnType<typeof timestampFromMs>;
  readonly waitsForSignal?: string;
  readonly approvalId?: string;
  readonly question?: string;
};
type Ended = { readonly error: ForgeError } | { readonly error?: undefined; readonly output: Value | undefined };

/** What a wait waits for, and how it has ended where that is there already. */
export function beginWait(state: RunState, step: StepDefinition, { kind }: WaitStep, context: Context): { readonly begun: Begun; readonly ended?: Ended } {
  const givesUp = step.timeout === undefined ? {} : { waitsUntil: timestampFromMs(context.nowMs + durationMs(step.timeout)) };
  switch (kind.case) {
    case "duration":
      return forTime(context.nowMs + durationMs(kind.value), context);
    case "until": {
      const until = timeOf(state, step, kind.value, context);
      return until.ok ? forTime(until.value, context) : { begun: {}, ended: { error: until.error } };
    }
    case "signal": {
      const come = state.signals.find(({ name }) => name === kind.value);
      const begun = { ...givesUp, waitsForSignal: kind.value };
      if (come === undefined) return { begun };
      const output = checkOutput(step, come.payload, context);
      return { begun, ended: output.ok ? { output: output.value } : { error: output.error } };
    }
    case "approval": {
      const question = questionOf(state, step, kind.value.question, context);
      return question.ok ? { begun: { ...givesUp, approvalId: context.newId(), question: question.value } } : { begun: {}, ended: { error: question.error } };
    }
    case undefined:
      throw new Error(`step ${step.id} of run ${state.runId} waits for nothing`);
  }
}

function forTime(untilMs: number, { nowMs }: Context): { readonly begun: Begun; readonly ended?: Ended } {
  const begun = { waitsUntil: timestampFromMs(untilMs) };
  return untilMs > nowMs ? { begun } : { begun, ended: { output: timeOutput(untilMs) } };
}

/** The output of a wait for a time. */
export function timeOutput(untilMs: number): Value {
  return inlineValue(JSON.stringify({ until: toJson(TimestampSchema, timestampFromMs(untilMs)) }));
}

function timeOf(state: RunState, step: StepDefinition, source: Parameters<typeof mapSource>[4], context: Context): Outcome<number> {
  const view = stateView(state, readsOfInput(step), context, step.id);
  if (!view.ok) return view;
  const mapped = mapSource(state, view.value, step, "until", source);
  if (!mapped.ok) return mapped;
  const parsed = readValue(mapped.value, context);
  const text = parsed.ok && typeof parsed.value === "string" ? parsed.value.trim() : "";
  const untilMs = timeIn(text);
  if (Number.isNaN(untilMs)) return failed(waitError(step, "`until` is no time with a zone, such as 2026-03-29T09:00:00+01:00 (RFC 3339)"));
  if (untilMs - context.nowMs > WAIT_MS_MAX) return failed(waitError(step, "`until` lies more than 366 days ahead"));
  return succeeded(untilMs);
}

/** Milliseconds since the epoch; NaN where the text is no time. The 30th of February is none either, which may be taken for a day in March. */
function timeIn(text: string): number {
  const day = TIME.exec(text)?.[1];
  if (day === undefined) return Number.NaN;
  try {
    const midnight = fromJson(TimestampSchema, `${day}T00:00:00Z`);
    return toJson(TimestampSchema, midnight).startsWith(day) ? timestampMs(fromJson(TimestampSchema, text.toUpperCase().replace(" ", "T"))) : Number.NaN;
  } catch {
    // A month or an hour that there is not.
    return Number.NaN;
  }
}

function questionOf(state: RunState, step: StepDefinition, template: string, context: Context): Outcome<string> {
  const view = stateView(state, readsOfInput(step), context, step.id);
  if (!view.ok) return view;
  const { inputs, steps, runtime } = view.value;
  const rendered = renderTemplate(template, { state: view.value, inputs, steps, runtime });
  if (!rendered.ok) return failed(waitError(step, `its question can't be rendered: ${rendered.error.message} (at character ${rendered.error.position + 1})`));
  return rendered.value.length <= QUESTION_LENGTH_MAX
    ? succeeded(rendered.value)
    : failed(waitError(step, `its question is longer than ${QUESTION_LENGTH_MAX} characters`));
}

/** Why a wait that was to end before its time is up has failed. */
export function waitTimedOut({ stepId, wait }: Execution): ForgeError {
  const what = wait?.approvalId ? "nobody answered in time" : `the signal "${wait?.signal ?? ""}" did not come in time`;
  return stepError(ErrorCode.DEADLINE_EXCEEDED, wait?.approvalId ? "APPROVAL_EXPIRED" : "WAIT_TIMEOUT", stepId, what);
}

function waitError(step: StepDefinition, message: string): ForgeError {
  return stepError(ErrorCode.VALIDATION, "STEP_EXECUTION", step.id, message);
}
