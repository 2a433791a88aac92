/** A longer wait is none a program should sleep through by itself. */
const RETRY_AFTER_MS_MAX = 24 * 3600 * 1000;

/**
 * The delay that a provider asks for, in milliseconds, from `retry-after-ms`, or from `retry-after` as seconds or as an HTTP date (RFC 9110, 10.2.3);
 * undefined where there is none that makes sense. At most 24 h. Header names are lower case.
 */
export function retryAfterMs(headers: Readonly<Record<string, string>> | undefined, nowMs: number): number | undefined {
  const bounded = (ms: number): number | undefined => (Number.isFinite(ms) && ms >= 0 ? Math.min(Math.ceil(ms), RETRY_AFTER_MS_MAX) : undefined);
  const inMs = headers?.["retry-after-ms"]?.trim();
  if (inMs) {
    const ms = bounded(Number(inMs));
    if (ms !== undefined) return ms;
  }
  const value = headers?.["retry-after"]?.trim();
  if (!value) return undefined;
  const seconds = Number(value);
  if (!Number.isNaN(seconds)) return bounded(seconds * 1000);
  const date = Date.parse(value);
  return Number.isNaN(date) ? undefined : bounded(Math.max(0, date - nowMs));
}
