import { appendFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import type { Event } from "@forge/protocol/event";
import { RiskLevel } from "@forge/protocol/tool";
import type { ToolDefinition } from "@forge/tools";
import { nowMs } from "./clock.ts";

/** May be called twice, so that its start need not be told. */
export const IDEMPOTENT_TOOL = "bench.put";
/** Has an effect, so that its start is recorded before it may happen. */
export const EFFECT_TOOL = "bench.add";
/** What they write to, in the project. A call of the second leaves one byte behind. */
export const PUT_FILE = "put.txt";
export const ADDED_FILE = "added.txt";

/** When a call was in the tool, on the clock of `nowMs`. */
export interface ToolTimes {
  readonly beganMs: number;
  readonly endedMs: number;
}

function tool(name: string, idempotent: boolean, act: () => void): ToolDefinition<Record<string, never>> {
  return {
    name,
    description: "Writes a byte.",
    inputSchema: { type: "object", properties: {}, additionalProperties: false },
    idempotent,
    // More than reading, so that the calls of one answer are made in order.
    risk: RiskLevel.CHANGE,
    timeoutMs: 10_000,
    execute: async () => {
      const beganMs = nowMs();
      act();
      return { beganMs, endedMs: nowMs() };
    },
  };
}

/** Tools that do next to nothing, and say when. */
export function benchTools(project: string): readonly ToolDefinition<Record<string, never>>[] {
  return [
    tool(IDEMPOTENT_TOOL, true, () => writeFileSync(path.join(project, PUT_FILE), "x")),
    tool(EFFECT_TOOL, false, () => appendFileSync(path.join(project, ADDED_FILE), "x")),
  ];
}

/** Of a turn's calls, in the order of their ends. Throws where one did not complete. */
export function toolTimes(events: readonly Event[]): ToolTimes[] {
  return events.flatMap(({ kind, payload }) => {
    if (kind === "tool.failed" || kind === "tool.denied") throw new Error(`a call of a tool ended as ${kind}: ${JSON.stringify(payload.value)}`);
    if (payload.case !== "toolCompleted" || payload.value.output?.kind.case !== "json") return [];
    return [JSON.parse(payload.value.output.kind.value) as ToolTimes];
  });
}
