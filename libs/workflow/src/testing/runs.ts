import { create, type JsonValue, type MessageInitShape } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import type { Value } from "@forge/protocol/common";
import { type Run, RunSchema, RunStatus, type StepExecutionSchema, StepStatus } from "@forge/protocol/workflow";
import type { ReadValue } from "../history/state-history.ts";

export const START_MS = 1_800_000_000_000;

/** An inline value. */
export function json(value: JsonValue): { kind: { case: "json"; value: string } } {
  return { kind: { case: "json", value: JSON.stringify(value) } };
}

/** Reads inline values. */
export const readInline: ReadValue = (value: Value) => JSON.parse(value.kind.value as string) as JsonValue;

type Step = MessageInitShape<typeof StepExecutionSchema> & { readonly stepId: string };

/** A completed execution of a step that took a second, unless it says otherwise. */
export function executed(step: Step, index: number): Step {
  return {
    status: StepStatus.COMPLETED,
    executionIndex: index,
    attemptCount: 1,
    startedAt: timestampFromMs(START_MS + index * 1_000),
    finishedAt: timestampFromMs(START_MS + (index + 1) * 1_000),
    durationMs: 1_000n,
    ...step,
  };
}

/**
 * A run of three steps: `draft` goes to `review`, which leads back to `draft` once by its rule, and on to `send` by default; nobody reaches `never`.
 */
export function loopingRun(): Run {
  const back = { nextStepId: "draft", nextSource: "rule:0" };
  return create(RunSchema, {
    runId: "018bcfe5-687b-7000-8000-000000000001",
    workflowId: "letters",
    workflowVersion: "v2",
    workflowHash: "ab".repeat(32),
    status: RunStatus.COMPLETED,
    inputs: json({ to: "Ada" }),
    createdAt: timestampFromMs(START_MS),
    completedAt: timestampFromMs(START_MS + 5_000),
    definition: {
      id: "letters",
      version: "v2",
      steps: [
        { id: "draft", kind: { case: "function", value: { name: "letters.draft" } } },
        {
          id: "review",
          kind: { case: "agent", value: {} },
          next: [{ when: "state.steps.review.again", goto: "draft" }],
          nextDefault: "send",
        },
        { id: "never", kind: { case: "tool", value: { tool: "tools.echo" } } },
        { id: "send", kind: { case: "tool", value: { tool: "tools.file" } } },
      ],
    },
    steps: [
      { stepId: "draft", output: json({ text: "a", words: 1 }), nextStepId: "review", nextSource: "sequence" },
      { stepId: "review", output: json({ again: true }), ...back, usage: { inputTokens: 10n, outputTokens: 5n, costMicroUsd: 1_500n } },
      { stepId: "draft", output: json({ text: "a b", words: 2 }), nextStepId: "review", nextSource: "sequence" },
      { stepId: "review", output: json({ again: false }), nextStepId: "send", nextSource: "default" },
      { stepId: "send", output: json({ sent: true }), nextStepId: "", nextSource: "end" },
    ].map(executed),
  });
}
