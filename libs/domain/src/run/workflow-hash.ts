import { create, toJson } from "@bufbuild/protobuf";
import { type StepDefinition, type WorkflowDefinition, WorkflowDefinitionSchema, WorkflowStepSchema } from "@forge/protocol/workflow";
import type { Context } from "../decider.ts";
import { canonicalJson } from "./canonical-json.ts";

/**
 * What a workflow is known by: SHA-256 of the canonical JSON (RFC 8785) of the definition's protobuf JSON with proto field names, without the texts that it
 * and the workflows inside of it were read from. Comments and layout of a file do not change it; a field that says nothing is left out.
 */
export function workflowHash(definition: WorkflowDefinition, context: Pick<Context, "sha256">): string {
  return context.sha256(canonicalJson(toJson(WorkflowDefinitionSchema, withoutText(definition), { useProtoFieldName: true })));
}

function withoutText(definition: WorkflowDefinition): WorkflowDefinition {
  const steps = definition.steps.map((step): StepDefinition => {
    const inner = step.kind.case === "workflow" ? step.kind.value.definition : undefined;
    if (inner === undefined) return step;
    return { ...step, kind: { case: "workflow", value: create(WorkflowStepSchema, { definition: withoutText(inner) }) } };
  });
  return create(WorkflowDefinitionSchema, { ...definition, steps, workflowYaml: "" });
}
