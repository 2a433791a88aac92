import { InvalidArgumentError } from "commander";

const UNITS_MS: Readonly<Record<string, number>> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 };

const DAYS_MAX = 3_650;

function durationMs(text: string): number {
  const match = /^(\d{1,9}(?:\.\d{1,6})?)(ms|s|m|h|d)?$/.exec(text.trim());
  return match === null ? Number.NaN : Number(match[1]) * (UNITS_MS[match[2] ?? "s"] as number);
}

/** 500ms, 60s, 5m, 2h, 1d, or plain seconds; in milliseconds. */
export function parseDuration(text: string): number {
  const ms = durationMs(text);
  // Timers take no longer ones.
  if (!(ms <= 2 ** 31 - 1)) throw new InvalidArgumentError("Write a duration such as 500ms, 60s, 5m or 2h, at most 24 days.");
  return ms;
}

/** The same for what nobody waits for: 30d, at most ten years. */
export function parseLifetime(text: string): number {
  const ms = durationMs(text);
  if (!(ms > 0 && ms <= DAYS_MAX * (UNITS_MS.d as number))) throw new InvalidArgumentError(`Write a duration such as 12h or 30d, at most ${DAYS_MAX} days.`);
  return ms;
}

/** A parser of whole numbers within bounds. */
export function wholeNumber(min: number, max: number): (text: string) => number {
  return (text) => {
    const value = /^\d{1,16}$/.test(text.trim()) ? Number(text) : Number.NaN;
    if (!(value >= min && value <= max)) throw new InvalidArgumentError(`Write a whole number from ${min} to ${max}.`);
    return value;
  };
}

/** One more key=value for the labels that were given before. */
export function collectLabel(text: string, before: Readonly<Record<string, string>> = {}): Record<string, string> {
  const equals = text.indexOf("=");
  if (equals < 1) throw new InvalidArgumentError("Write a label as key=value.");
  const key = text.slice(0, equals);
  if (Object.hasOwn(before, key)) throw new InvalidArgumentError(`The label ${key} is given twice.`);
  return { ...before, [key]: text.slice(equals + 1) };
}

/** One more text for those that were given before. */
export function collect(text: string, before: readonly string[] = []): string[] {
  return [...before, text];
}

/** A parser of enum names: running, RUNNING, completed-with-errors. */
export function oneOf(names: readonly string[]): (text: string) => string {
  return (text) => {
    const name = text.trim().toUpperCase().replaceAll("-", "_");
    if (!names.includes(name)) throw new InvalidArgumentError(`Write one of ${names.join(", ")}.`);
    return name;
  };
}
