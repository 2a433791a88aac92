import type { JsonObject, JsonValue } from "@bufbuild/protobuf";
import { type StepExecution, StepExecutionSchema } from "@forge/protocol/workflow";
import { messageJson } from "../output/message-json.ts";

/** Fields that every record has, with null where there is nothing; others as in the message. */
const FIELDS = ["step_id", "step_type", "execution_index", "status", "attempt_count", "input", "output", "error", "last_error"] as const;
const TIMES = ["started_at", "finished_at"] as const;
const NUMBERS = ["duration_ms", "handler_duration_ms", "tool_duration_ms"] as const;

/** What a record has beside the message of the execution. */
export interface StepSurroundings {
  readonly stateBefore: JsonValue;
  readonly stateAfter: JsonValue;
  readonly agentTrace: JsonValue;
}

/** An execution as a record: all of its fields by their names, absent ones as null, with the state around it and what its agent did. */
export function stepRecord(step: StepExecution, { stateBefore, stateAfter, agentTrace }: StepSurroundings): JsonObject {
  const message = messageJson(StepExecutionSchema, step);
  const record: JsonObject = {};
  for (const name of FIELDS) record[name] = message[name] ?? null;
  record["execution_index"] = step.executionIndex;
  record["attempt_count"] = step.attemptCount;
  record["input"] = message["input"] ?? {};
  record["state_before"] = stateBefore;
  record["state_after"] = stateAfter;
  for (const name of TIMES) record[name] = message[name] ?? null;
  for (const name of NUMBERS) record[name] = message[name] ?? "0";
  record["agent_trace"] = agentTrace;
  return { ...record, ...Object.fromEntries(Object.entries(message).filter(([name]) => !Object.hasOwn(record, name))) };
}
