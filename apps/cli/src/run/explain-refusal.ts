import { ForgeError } from "@forge/protocol";
import { checkFunctions, locateFunction, type ResolvedWorkflow } from "@forge/workflow";

/** What a server says of a run that it refused: what is wrong in the project, where that shows, or else with the place in the workflow's file. */
export async function explainRefusal(error: unknown, workflow: ResolvedWorkflow): Promise<unknown> {
  if (!(error instanceof ForgeError) || error.reason !== "FUNCTION_NOT_SERVED") return error;
  const [problem] = await checkFunctions(workflow, workflow.project);
  if (problem !== undefined) return problem;
  const position = locateFunction(workflow.definition, error.detail.metadata.name ?? "");
  if (position === undefined) return error;
  const metadata = { ...error.detail.metadata, file: workflow.file, line: String(position.line), column: String(position.column) };
  const message = `${error.message}; where its file was written after Forge was started, start it again (npx forge down)`;
  return new ForgeError(error.code, message, { ...error.detail, metadata, cause: error });
}
