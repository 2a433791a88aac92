/** What Google says of an error beside its message. */
export interface GoogleDetails {
  /** For example API_KEY_INVALID; empty where there is none. */
  readonly reason: string;
  /** Milliseconds to wait; undefined where it does not say. */
  readonly retryAfterMs: number | undefined;
  /** Whether a quota is used up that is not of the minute. */
  readonly isDailyQuota: boolean;
}

const MS_MAX = 24 * 3600 * 1000;

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function textOf(value: unknown): string {
  return typeof value === "string" ? value : "";
}

function delayMs(detail: Record<string, unknown>): number | undefined {
  const seconds = typeof detail.retryDelay === "string" ? /^(\d+(?:\.\d+)?)s$/.exec(detail.retryDelay)?.[1] : undefined;
  return seconds === undefined ? undefined : Math.min(Math.ceil(Number(seconds) * 1000), MS_MAX);
}

function namesDay(detail: Record<string, unknown>): boolean {
  const violations = Array.isArray(detail.violations) ? detail.violations.filter(isRecord) : [];
  return violations.some((violation) => /per ?day/i.test(textOf(violation.quotaId)));
}

/** Reads the details (google.rpc) of an error body; empty where it has none, as any other provider's. */
export function readGoogleDetails(data: unknown): GoogleDetails {
  const error = isRecord(data) && isRecord(data.error) ? data.error : data;
  const details = isRecord(error) && Array.isArray(error.details) ? error.details.filter(isRecord) : [];
  const typed = (name: string) => details.filter((detail) => textOf(detail["@type"]).endsWith(`google.rpc.${name}`));
  return {
    reason: textOf(typed("ErrorInfo")[0]?.reason),
    retryAfterMs: typed("RetryInfo")
      .map(delayMs)
      .find((ms) => ms !== undefined),
    isDailyQuota: typed("QuotaFailure").some(namesDay),
  };
}
