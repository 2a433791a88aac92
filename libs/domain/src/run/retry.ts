import { durationMs } from "@bufbuild/protobuf/wkt";
import { Backoff, type ForgeError, type RetryPolicy } from "@forge/protocol/common";
import { RETRY_DELAY_MS_MAX } from "./limits.ts";

/** Attempts in all. */
export function attemptsOf(policy: RetryPolicy | undefined): number {
  return policy?.attempts ?? 1;
}

/**
 * Milliseconds between a failed attempt (1 for the first) and the next: the policy's delay, the same each time or doubled each time, and not less than
 * what the error itself asks for; longer by up to the policy's jitter of it; at most an hour. `fraction` is 0 to 1 and differs from attempt to attempt.
 */
export function retryDelayMs(policy: RetryPolicy, failedAttempt: number, error: ForgeError, fraction: number): number {
  const initialMs = policy.initialDelay === undefined ? 0 : durationMs(policy.initialDelay);
  const policyMs = policy.backoff === Backoff.EXPONENTIAL ? initialMs * 2 ** (failedAttempt - 1) : initialMs;
  const askedMs = error.retryAfter === undefined ? 0 : durationMs(error.retryAfter);
  const delayMs = Math.max(0, policyMs, askedMs);
  return Math.min(RETRY_DELAY_MS_MAX, Math.ceil(delayMs * (1 + fraction * policy.jitter)));
}
