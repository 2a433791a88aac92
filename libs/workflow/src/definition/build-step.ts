import { create } from "@bufbuild/protobuf";
import { type Duration, durationFromMs } from "@bufbuild/protobuf/wkt";
import {
  ForEachSchema,
  FunctionStepSchema,
  type InputSource,
  InputSourceSchema,
  NextRuleSchema,
  type StepDefinition,
  StepDefinitionSchema,
  ToolStepSchema,
  WaitApprovalSchema,
  type WaitStep,
  WaitStepSchema,
  WorkflowStepSchema,
} from "@forge/protocol/workflow";
import { pipelineWorkflow } from "../agent/pipeline-workflow.ts";
import type { StepDraft, WaitDraft } from "./step-draft.ts";

/** A step's message; `contract` holds the state paths of its contract list. */
export function buildStep(step: StepDraft, contract: ReadonlyMap<string, string> | undefined): StepDefinition {
  const inputs: Record<string, InputSource> = {};
  for (const [name, path] of contract ?? []) inputs[name] = create(InputSourceSchema, { kind: { case: "path", value: path } });
  for (const { name, source } of step.inputs) inputs[name] = create(InputSourceSchema, { kind: source });
  const { forEach } = step;
  return create(StepDefinitionSchema, {
    id: step.id.text,
    kind: buildKind(step, Object.keys(inputs)),
    inputs,
    outputs: step.outputs.map(({ text }) => text),
    retry: step.retry,
    next: step.next.rules.map(({ when, goto }) => create(NextRuleSchema, { when: when.text, goto: goto.text })),
    nextDefault: step.next.default?.text,
    timeout: duration(step.timeoutMs),
    needs: step.needs.map(({ text }) => text),
    when: step.when?.when.text ?? "",
    forEach: forEach && create(ForEachSchema, { ...forEach, items: create(InputSourceSchema, { kind: forEach.items.source }) }),
    outputSchemaJson: step.outputSchemaJson,
    heartbeatTimeout: duration(step.heartbeatTimeoutMs),
  });
}

function duration(ms: number | undefined): Duration | undefined {
  return ms === undefined ? undefined : durationFromMs(ms);
}

function buildKind({ kind, outputs, outputSchemaJson }: StepDraft, inputs: readonly string[]): StepDefinition["kind"] {
  switch (kind.type) {
    case "agent": {
      if (kind.agent === undefined) return { case: undefined };
      const { agent, pipeline } = kind.agent;
      if (pipeline.length === 0) return { case: "agent", value: agent };
      const definition = pipelineWorkflow(agent, pipeline, { inputs, outputs: outputs.map(({ text }) => text), outputSchemaJson });
      return { case: "workflow", value: create(WorkflowStepSchema, { definition }) };
    }
    case "function":
      return { case: "function", value: create(FunctionStepSchema, { name: kind.name.text, notIdempotent: kind.isNotIdempotent }) };
    case "tool":
      return { case: "tool", value: create(ToolStepSchema, { tool: kind.name.text }) };
    case "wait":
      return { case: "wait", value: create(WaitStepSchema, { kind: buildWait(kind.wait) }) };
    case "workflow":
      return { case: "workflow", value: create(WorkflowStepSchema, { definition: kind.definition }) };
  }
}

function buildWait(wait: WaitDraft): WaitStep["kind"] {
  switch (wait.kind) {
    case "duration":
      return { case: "duration", value: durationFromMs(wait.ms) };
    case "until":
      return { case: "until", value: create(InputSourceSchema, { kind: wait.until.source }) };
    case "signal":
      return { case: "signal", value: wait.name.text };
    case "approval":
      return { case: "approval", value: create(WaitApprovalSchema, { question: wait.question.text }) };
  }
}
