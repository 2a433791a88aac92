import { create } from "@bufbuild/protobuf";
import {
  InputSourceSchema,
  OnError,
  StepDefinitionSchema,
  type WorkflowDefinition,
  WorkflowDefinitionSchema,
  WorkflowStepSchema,
} from "@forge/protocol/workflow";
import { inputsRead, promptsOf } from "../definition/check-prompts.ts";
import type { LoadedAgent } from "./agent-source.ts";
import { pipelineWorkflow } from "./pipeline-workflow.ts";

/**
 * An agent as a workflow of one step, for whoever runs it by its own id: `<id>_auto`, in the agent's version. Its inputs are those that the agent's prompts
 * read, which must be given, and those that are given beside them.
 */
export function agentWorkflow(loaded: LoadedAgent, given: readonly string[]): WorkflowDefinition {
  const { agent, pipeline } = loaded;
  const read = new Set(promptsOf(loaded).flatMap(inputsRead));
  const names = [...read, ...given.filter((name) => !read.has(name))];
  const definition = pipelineWorkflow(agent, pipeline, { inputs: names, outputs: [], outputSchemaJson: "" });
  const step = create(StepDefinitionSchema, {
    id: agent.agentId,
    kind: pipeline.length === 0 ? { case: "agent", value: agent } : { case: "workflow", value: create(WorkflowStepSchema, { definition }) },
    inputs: Object.fromEntries(names.map((name) => [name, create(InputSourceSchema, { kind: { case: "path", value: `inputs.${name}` } })])),
  });
  return create(WorkflowDefinitionSchema, {
    id: `${agent.agentId}_auto`,
    version: agent.agentVersion,
    onError: OnError.FAIL_FAST,
    inputs: names.map((name) => ({ name, required: read.has(name) })),
    steps: [step],
  });
}
