import type { WorkflowDefinition } from "@forge/protocol/workflow";

/** A workflow that passed every check. */
export interface LoadedWorkflow {
  readonly definition: WorkflowDefinition;
  /** SHA-256 of the canonical form, hexadecimal. */
  readonly hash: string;
  /** The file, as errors name it. */
  readonly file: string;
  /** What is odd, each with file, line and column. */
  readonly warnings: readonly string[];
}
