import { ForgeError } from "@forge/protocol";
import type { LoadedWorkflow } from "@forge/workflow";
import { locateFunction } from "@forge/workflow";

/** What a server says of a run that it refused, with the place in the workflow's file where that is known. */
export function explainRefusal(error: unknown, { definition, file }: LoadedWorkflow): unknown {
  if (!(error instanceof ForgeError) || error.reason !== "FUNCTION_NOT_SERVED") return error;
  const position = locateFunction(definition, error.detail.metadata.name ?? "");
  if (position === undefined) return error;
  const metadata = { ...error.detail.metadata, file, line: String(position.line), column: String(position.column) };
  return new ForgeError(error.code, error.message, { ...error.detail, metadata, cause: error });
}
