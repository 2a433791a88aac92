import { isScalar, type Node } from "yaml";
import type { YamlReader } from "../yaml/yaml-reader.ts";
import { startOf } from "../yaml/yaml-source.ts";

const UNITS_MS: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 };
const DURATION = /^(\d{1,9}(?:\.\d{1,6})?)\s*(ms|s|m|h|d)$/;

/** Milliseconds of a number of seconds, or of a text such as 500ms, 30s, 5m, 1h; undefined for everything else. */
export function durationMs(value: unknown): number | undefined {
  if (typeof value === "number") return value * 1000;
  const parts = typeof value === "string" ? DURATION.exec(value) : null;
  return parts === null ? undefined : Number(parts[1]) * (UNITS_MS[parts[2] as string] as number);
}

/** A duration in milliseconds, between two bounds, both included. */
export function readDurationMs(reader: YamlReader, node: Node, what: string, minMs: number, maxMs: number): number | undefined {
  const scalar = reader.resolve(node);
  const ms = isScalar(scalar) ? durationMs(scalar.value) : undefined;
  if (ms !== undefined && ms >= minMs && ms <= maxMs) return Math.round(ms);
  reader.problems.add(
    startOf(node),
    `${what} is ${ms === undefined ? "no duration" : "out of bounds"}; expected seconds or a text like 30s, from ${shown(minMs)} to ${shown(maxMs)}`,
  );
  return undefined;
}

function shown(ms: number): string {
  const unit = ["d", "h", "m", "s"].find((candidate) => ms > 0 && ms % (UNITS_MS[candidate] as number) === 0) ?? "ms";
  return `${ms / (UNITS_MS[unit] as number)}${unit}`;
}
