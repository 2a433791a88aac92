import { type JsonObject, type JsonValue, toJson } from "@bufbuild/protobuf";
import { type Run, RunSchema, StepDefinitionSchema } from "@forge/protocol/workflow";
import { messageJson } from "../output/message-json.ts";

const FIELDS = [
  "run_id",
  "workflow_id",
  "workflow_version",
  "workflow_hash",
  "workflow_yaml",
  "workflow_steps",
  "input_hash",
  "status",
  "created_at",
  "started_at",
  "completed_at",
  "error",
] as const;

/** A run as a record: the message, with every field of a run's record by its name, null where there is nothing. */
export function runRecord(run: Run): JsonObject {
  const message: JsonObject = {
    ...messageJson(RunSchema, run),
    workflow_yaml: run.definition?.workflowYaml ?? null,
    workflow_steps: (run.definition?.steps ?? []).map((step): JsonValue => toJson(StepDefinitionSchema, step, { useProtoFieldName: true })),
  };
  const record = Object.fromEntries(FIELDS.map((name): [string, JsonValue] => [name, message[name] ?? null]));
  return { ...record, ...Object.fromEntries(Object.entries(message).filter(([name]) => !Object.hasOwn(record, name))) };
}
