import { durationMs } from "@bufbuild/protobuf/wkt";
import type { ForgeError } from "@forge/protocol/common";
import type { Context } from "../decider.ts";
import { fractionOf } from "../fraction-of.ts";

/** Attempts of one model call in all. */
export const MODEL_ATTEMPTS_MAX = 4;

/** Leases of one task that may be lost after its start before it counts as poison: the work that kills its workers. */
export const LOST_LEASES_MAX = 3;

const INITIAL_DELAY_MS = 1_000;
/** Beyond every turn's deadline, so that the call is not tried again; keeps a nonsensical wait within what a timestamp holds. */
const RETRY_AFTER_MS_MAX = 365 * 24 * 3_600_000;

/**
 * How long to wait after so many failed attempts (1 or more), in milliseconds: at least what the provider asked for, else 1 s doubled each time, and up to
 * a quarter more, derived from the ids, so that calls that failed together do not come back together.
 */
export function retryDelayMs(context: Context, modelCallId: string, failedAttempts: number, error: ForgeError): number {
  const exponential = INITIAL_DELAY_MS * 2 ** (failedAttempts - 1);
  const asked = error.retryAfter === undefined ? 0 : Math.min(Math.max(durationMs(error.retryAfter), 0), RETRY_AFTER_MS_MAX);
  const fraction = fractionOf(context, modelCallId, failedAttempts);
  const delayMs = Math.max(exponential, asked);
  return Math.round(delayMs + (fraction * delayMs) / 4);
}
