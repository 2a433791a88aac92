import path from "node:path";
import { ForgeError } from "@forge/protocol";
import { ErrorCode } from "@forge/protocol/common";
import type { Run, WorkflowDefinition } from "@forge/protocol/workflow";
import { openProject, resolveWorkflow, workflowHash } from "@forge/workflow";

/** A run's workflow as it is in the project's files now. */
export interface CurrentWorkflow {
  readonly definition: WorkflowDefinition;
  readonly hash: string;
  /** Absolute. */
  readonly file: string;
}

/**
 * Finds the workflow of a run in a project; undefined where the project has none of its id and version, as of a run that was started from a file elsewhere.
 * Errors: validation where it is there and can't be read.
 */
export async function currentWorkflow(
  { workflowId, workflowVersion }: Pick<Run, "workflowId" | "workflowVersion">,
  root: string,
): Promise<CurrentWorkflow | undefined> {
  try {
    const project = await openProject(root);
    // Looked up from a directory where no file can have the id's name.
    const found = await resolveWorkflow(`${workflowId}@${workflowVersion}`, { directory: path.join(root, ".forge"), project });
    return { definition: found.definition, hash: workflowHash(found.definition), file: found.path };
  } catch (error) {
    if (error instanceof ForgeError && error.code === ErrorCode.NOT_FOUND && error.reason !== "AGENT_NOT_FOUND") return undefined;
    throw error;
  }
}
