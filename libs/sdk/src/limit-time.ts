import { ForgeError } from "@forge/protocol";
import { ErrorCode } from "@forge/protocol/common";

const TIMER_MS_MAX = 2 ** 31 - 1;

export interface TimeLimit {
  readonly signal: AbortSignal;
  /** Keeps no timer any more. */
  end(): void;
}

/** A signal that aborts with another one, or when the time is up: then with `deadline_exceeded`. */
export function limitTime(name: string, timeoutMs: number | undefined, signal: AbortSignal): TimeLimit {
  if (timeoutMs === undefined) return { signal, end: () => undefined };
  const limit = new AbortController();
  const expire = (): void =>
    limit.abort(new ForgeError(ErrorCode.DEADLINE_EXCEEDED, `${name} did not end within ${timeoutMs / 1000} s and was stopped`, { origin: "worker" }));
  const timer = setTimeout(expire, Math.min(timeoutMs, TIMER_MS_MAX));
  return { signal: AbortSignal.any([signal, limit.signal]), end: () => clearTimeout(timer) };
}
