import { create, toJson } from "@bufbuild/protobuf";
import { type WorkflowDefinition, WorkflowDefinitionSchema } from "@forge/protocol/workflow";
import type { Context } from "../decider.ts";
import { canonicalJson } from "./canonical-json.ts";

/**
 * What a workflow is known by: SHA-256 of the canonical JSON (RFC 8785) of the definition's protobuf JSON with proto field names, without the text that it
 * was read from. Comments and layout of a file do not change it.
 */
export function workflowHash(definition: WorkflowDefinition, context: Pick<Context, "sha256">): string {
  const withoutText = create(WorkflowDefinitionSchema, { ...definition, workflowYaml: "" });
  return context.sha256(canonicalJson(toJson(WorkflowDefinitionSchema, withoutText, { useProtoFieldName: true })));
}
