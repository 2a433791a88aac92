import { create } from "@bufbuild/protobuf";
import { durationFromMs } from "@bufbuild/protobuf/wkt";
import {
  FunctionStepSchema,
  type InputSource,
  InputSourceSchema,
  NextRuleSchema,
  type StepDefinition,
  StepDefinitionSchema,
  ToolStepSchema,
} from "@forge/protocol/workflow";
import type { KindDraft, StepDraft } from "./step-draft.ts";

/** A step's message; `contract` holds the state paths of its contract list. */
export function buildStep(step: StepDraft, contract: ReadonlyMap<string, string> | undefined): StepDefinition {
  const inputs: Record<string, InputSource> = {};
  for (const [name, path] of contract ?? []) inputs[name] = create(InputSourceSchema, { kind: { case: "path", value: path } });
  for (const { name, source } of step.inputs) inputs[name] = create(InputSourceSchema, { kind: source });
  return create(StepDefinitionSchema, {
    id: step.id.text,
    kind: buildKind(step.kind),
    inputs,
    outputs: step.outputs.map(({ text }) => text),
    retry: step.retry,
    next: step.next.rules.map(({ when, goto }) => create(NextRuleSchema, { when: when.text, goto: goto.text })),
    nextDefault: step.next.default?.text,
    timeout: step.timeoutMs === undefined ? undefined : durationFromMs(step.timeoutMs),
  });
}

function buildKind(kind: KindDraft): StepDefinition["kind"] {
  switch (kind.type) {
    case "agent":
      return kind.agent === undefined ? { case: undefined } : { case: "agent", value: kind.agent };
    case "function":
      return { case: "function", value: create(FunctionStepSchema, { name: kind.name.text, notIdempotent: kind.isNotIdempotent }) };
    case "tool":
      return { case: "tool", value: create(ToolStepSchema, { tool: kind.name.text }) };
  }
}
