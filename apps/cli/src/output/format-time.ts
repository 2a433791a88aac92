import { type Timestamp, timestampMs } from "@bufbuild/protobuf/wkt";

/** A duration for people: 340ms, 4.2s, 3m05s, 2h03m. */
export function formatDuration(ms: number): string {
  if (ms < 1_000) return `${Math.max(0, Math.round(ms))}ms`;
  if (ms < 59_950) return `${(ms / 1_000).toFixed(1)}s`;
  const seconds = Math.round(ms / 1_000);
  if (seconds < 3_600) return `${Math.floor(seconds / 60)}m${two(seconds % 60)}s`;
  const minutes = Math.round(seconds / 60);
  return `${Math.floor(minutes / 60)}h${two(minutes % 60)}m`;
}

/** A duration that is still growing: tenths of seconds from the start, so that it does not jump. */
export function formatElapsed(ms: number): string {
  return ms < 1_000 ? `${(Math.max(0, ms) / 1_000).toFixed(1)}s` : formatDuration(ms);
}

/** How long ago something was: 12s, 5m, 3h, 2d. */
export function formatAge(thenMs: number, nowMs: number): string {
  const seconds = Math.max(0, Math.floor((nowMs - thenMs) / 1_000));
  if (seconds < 60) return `${seconds}s`;
  if (seconds < 3_600) return `${Math.floor(seconds / 60)}m`;
  if (seconds < 86_400) return `${Math.floor(seconds / 3_600)}h`;
  return `${Math.floor(seconds / 86_400)}d`;
}

/** The time of day here, with milliseconds: 14:03:07.125. */
export function formatClock(ms: number): string {
  const date = new Date(ms);
  return `${two(date.getHours())}:${two(date.getMinutes())}:${two(date.getSeconds())}.${String(date.getMilliseconds()).padStart(3, "0")}`;
}

/** Day and time here: 2026-03-01 14:03:07. */
export function formatMoment(ms: number): string {
  const date = new Date(ms);
  return `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())} ${formatClock(ms).slice(0, 8)}`;
}

/** Milliseconds since the epoch; 0 where the field is unset. */
export function momentMs(timestamp: Timestamp | undefined): number {
  return timestamp === undefined ? 0 : timestampMs(timestamp);
}

function two(value: number): string {
  return String(value).padStart(2, "0");
}
