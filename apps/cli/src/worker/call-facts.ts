import { ErrorCode, type ForgeError } from "@forge/protocol/common";
import type { Task } from "@forge/protocol/worker";
import type { FileWorkerEvent } from "@forge/sdk/file-worker";

type Called = Extract<FileWorkerEvent, { kind: "called" }>;

/** How a call of a worker ended. */
export interface CallFacts {
  readonly name: string;
  readonly outcome: "completed" | "failed" | "cancelled" | "unknown";
  readonly error?: ForgeError;
  readonly durationMs: number;
  readonly sessionId?: string;
  readonly runId?: string;
  readonly stepId?: string;
}

export function callFacts({ capability, task, outcome, durationMs }: Called): CallFacts {
  const common = { name: nameOf(task) ?? capability.name, durationMs: Math.round(durationMs), ...idsOf(task) };
  if (outcome.case === "cancelled") return { ...common, outcome: "cancelled" };
  if (outcome.case !== "failure") return { ...common, outcome: "completed" };
  const { error, unknown } = outcome.value;
  if (!unknown && error?.code === ErrorCode.CANCELLED) return { ...common, outcome: "cancelled" };
  return { ...common, outcome: unknown ? "unknown" : "failed", error };
}

/** A model has its own name; the capability is its provider's. */
function nameOf({ kind }: Task): string | undefined {
  return kind.case === "model" ? kind.value.model : undefined;
}

function idsOf({ kind }: Task): Pick<CallFacts, "sessionId" | "runId" | "stepId"> {
  switch (kind.case) {
    case "tool":
      return kind.value.sessionId === "" ? { runId: kind.value.runId, stepId: kind.value.stepId } : { sessionId: kind.value.sessionId };
    case "function":
      return { runId: kind.value.runId, stepId: kind.value.stepId };
    case "model":
      return { sessionId: kind.value.sessionId };
    case "hook":
    case "compaction":
    case "undo":
      return { sessionId: kind.value.sessionId };
    case undefined:
      return {};
  }
}
