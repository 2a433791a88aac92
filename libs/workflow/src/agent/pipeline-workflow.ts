import { create, type JsonValue } from "@bufbuild/protobuf";
import { isReservedName, parseTemplate, templateReferences } from "@forge/domain";
import {
  type AgentStep,
  type InputSource,
  InputSourceSchema,
  OnError,
  type StepDefinition,
  StepDefinitionSchema,
  ToolStepSchema,
  type WorkflowDefinition,
  WorkflowDefinitionSchema,
} from "@forge/protocol/workflow";

/** A step of an agent that has several. */
export type PipelineStep =
  | { readonly id: string; readonly model: AgentStep }
  | { readonly id: string; readonly tool: string; readonly inputs: Readonly<Record<string, JsonValue>> };

/** What the step that names the agent says. */
export interface PipelineCaller {
  /** Names that it gives. */
  readonly inputs: readonly string[];
  readonly outputs: readonly string[];
  readonly outputSchemaJson: string;
}

/**
 * An agent of several steps as a workflow of its own: each is durable like any other step, sees the agent's inputs as `inputs` and the steps before it by their
 * ids, and the last one's output is the agent's.
 */
export function pipelineWorkflow(
  { agentId, agentVersion }: Pick<AgentStep, "agentId" | "agentVersion">,
  pipeline: readonly PipelineStep[],
  caller: PipelineCaller,
): WorkflowDefinition {
  const steps = pipeline.map((step, index) => build(step, new Set(pipeline.slice(0, index).map(({ id }) => id)), caller, index === pipeline.length - 1));
  return create(WorkflowDefinitionSchema, {
    id: agentId,
    version: agentVersion,
    onError: OnError.FAIL_FAST,
    inputs: caller.inputs.map((name) => ({ name })),
    steps,
  });
}

function build(step: PipelineStep, before: ReadonlySet<string>, { inputs: given, outputs, outputSchemaJson }: PipelineCaller, isLast: boolean): StepDefinition {
  const contract = isLast ? { outputs: [...outputs], outputSchemaJson } : {};
  if ("model" in step) {
    const inputs = Object.fromEntries(given.map((name) => [name, path(`inputs.${name}`)]));
    const words = {
      prompt: inScope(step.model.prompt, before),
      variants: step.model.variants.map((variant) => ({ ...variant, prompt: inScope(variant.prompt, before) })),
    };
    return create(StepDefinitionSchema, { id: step.id, kind: { case: "agent", value: { ...step.model, ...words } }, inputs, ...contract });
  }
  const inputs = Object.fromEntries(Object.entries(step.inputs).map(([name, value]) => [name, sourceOf(value, given, before)]));
  return create(StepDefinitionSchema, { id: step.id, kind: { case: "tool", value: create(ToolStepSchema, { tool: step.tool }) }, inputs, ...contract });
}

/** The steps before are names of their own in a pipeline; in the workflow they are parts of its state. */
function inScope(prompt: string, before: ReadonlySet<string>): string {
  const template = parseTemplate(prompt);
  if (!template.ok) return prompt;
  const at = templateReferences(template.value).flatMap(({ reference: [root] }) => (root !== undefined && before.has(root.name) ? root.position : []));
  return at.toSorted((a, b) => b - a).reduce((text, position) => `${text.slice(0, position)}state.steps.${text.slice(position)}`, prompt);
}

/** A text whose first part is something that the pipeline knows is a path; everything else is what it is. */
function sourceOf(value: JsonValue, given: readonly string[], before: ReadonlySet<string>): InputSource {
  if (typeof value === "string") {
    const [root = "", ...rest] = value.split(".");
    const isName = rest.length > 0 && rest.every((name) => name !== "" && !/[\s{}]/.test(name) && !isReservedName(name));
    if (isName && root === "inputs" && given.includes(rest[0] as string)) return path(value);
    if (isName && before.has(root)) return path(`steps.${value}`);
  }
  return create(InputSourceSchema, { kind: { case: "literalJson", value: JSON.stringify(value) } });
}

function path(value: string): InputSource {
  return create(InputSourceSchema, { kind: { case: "path", value } });
}
