import { type JsonValue, toJson } from "@bufbuild/protobuf";
import { ForgeError } from "@forge/protocol";
import { type Run, StepStatus, type WorkflowDefinition, WorkflowDefinitionSchema } from "@forge/protocol/workflow";
import { diffJson } from "@forge/workflow";
import { changeLines } from "../history/change-lines.ts";
import { PLAIN } from "../output/style.ts";
import type { CurrentWorkflow } from "./current-workflow.ts";

const CHANGES_MAX = 12;
const CHANGE_COLUMNS = 160;

/** What a server says that refused to go on with a workflow that has changed: what differs, and what can be done. Any other error stays as it is. */
export function explainIntegrity(error: unknown, run: Run, current: CurrentWorkflow | undefined, hint: string): unknown {
  if (!(error instanceof ForgeError) || error.reason !== "WORKFLOW_INTEGRITY" || current === undefined || run.definition === undefined) return error;
  const { runId, workflowId, workflowVersion } = run;
  const changes = diffJson(plain(run.definition), plain(current.definition), "");
  const listed = changeLines(changes.slice(0, CHANGES_MAX), PLAIN, CHANGE_COLUMNS).map((line) => `  ${line}`);
  const more = changes.length > CHANGES_MAX ? [`  … and ${changes.length - CHANGES_MAX} more`] : [];
  const failed = run.steps.findLast(({ status }) => status === StepStatus.FAILED)?.stepId ?? "<step>";
  const message = [
    `${current.file} is not what run ${runId} was started with:`,
    ...listed,
    ...more,
    "to go on with the workflow as it was, in a new run:",
    `  npx forge fork ${runId} --from ${failed}${hint}`,
    "to start anew with the workflow as it is:",
    `  npx forge run ${workflowId}@${workflowVersion}${hint}`,
  ].join("\n");
  const metadata = {
    ...error.detail.metadata,
    file: current.file,
    changes: changes
      .slice(0, CHANGES_MAX)
      .map(({ path }) => path)
      .join(" "),
  };
  return new ForgeError(error.code, message, { ...error.detail, metadata, cause: error });
}

/** What the hash is about: all but the text that it was read from. */
function plain(definition: WorkflowDefinition): JsonValue {
  return toJson(WorkflowDefinitionSchema, { ...definition, workflowYaml: "" }, { useProtoFieldName: true });
}
