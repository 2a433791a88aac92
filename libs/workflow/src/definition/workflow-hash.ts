import { createHash } from "node:crypto";
import { workflowHash as hashWith } from "@forge/domain";
import type { WorkflowDefinition } from "@forge/protocol/workflow";

/** What a workflow is known by: SHA-256 of its canonical form, in hexadecimal, as the control plane computes it. */
export function workflowHash(definition: WorkflowDefinition): string {
  return hashWith(definition, { sha256: (text) => createHash("sha256").update(text).digest("hex") });
}
