import { create, type JsonValue, type MessageInitShape } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import type { Value } from "@forge/protocol/common";
import { type Run, RunSchema, RunStatus, type StepExecutionSchema, StepStatus, StepType } from "@forge/protocol/workflow";
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

/**
 * A run of a graph that waits: `list` and `notes` run beside each other; `check` goes through four items, of which one failed and one is under way; `translate`
 * was skipped; `approve` waits for a signal; `publish`, a workflow, has not been reached.
 */
export function graphRun(): Run {
  const at = (seconds: number) => timestampFromMs(START_MS + seconds * 1_000);
  const item = (index: number, fromS: number, toS: number | undefined, status: StepStatus = StepStatus.COMPLETED): Step => ({
    stepId: "check",
    stepType: StepType.FUNCTION,
    executionIndex: 3 + index,
    groupIndex: 2,
    itemIndex: index,
    attemptCount: 1,
    status,
    startedAt: at(fromS),
    ...(toS === undefined ? {} : { finishedAt: at(toS), durationMs: BigInt((toS - fromS) * 1_000), handlerDurationMs: 300n }),
    ...(status === StepStatus.COMPLETED ? { output: json({ ok: true }) } : {}),
    usage: { inputTokens: 10n, outputTokens: 2n, costMicroUsd: 100n },
  });
  const ran = (stepId: string, executionIndex: number, fromS: number, toS: number, output: JsonValue): Step => ({
    stepId,
    executionIndex,
    stepType: StepType.FUNCTION,
    status: StepStatus.COMPLETED,
    attemptCount: 1,
    startedAt: at(fromS),
    finishedAt: at(toS),
    durationMs: BigInt((toS - fromS) * 1_000),
    output: json(output),
  });
  const step = (id: string, needs: readonly string[], options: object = {}) => ({
    id,
    kind: { case: "function" as const, value: { name: `m.${id}` } },
    needs: [...needs],
    ...options,
  });
  return create(RunSchema, {
    runId: "018bcfe5-687b-7000-8000-000000000002",
    workflowId: "release-notes",
    workflowVersion: "v1",
    workflowHash: "cd".repeat(32),
    status: RunStatus.WAITING,
    inputs: json({ version: "1.2" }),
    createdAt: at(0),
    definition: {
      id: "release-notes",
      version: "v1",
      steps: [
        step("list", []),
        step("notes", []),
        step("check", ["list"], { forEach: { items: { kind: { case: "path", value: "steps.list.files" } } } }),
        step("translate", ["notes"], { when: "state.inputs.version.endswith('.0')" }),
        { id: "approve", kind: { case: "wait", value: { kind: { case: "signal", value: "approved" } } }, needs: ["notes", "list"] },
        { id: "publish", kind: { case: "workflow", value: { definition: { id: "publish", version: "v1" } } }, needs: ["approve", "check", "translate"] },
      ],
    },
    steps: [
      ran("list", 0, 0, 2, { files: [1, 2, 3, 4] }),
      ran("notes", 1, 0, 5, { text: "Notes" }),
      { stepId: "check", stepType: StepType.FUNCTION, executionIndex: 2, itemCount: 4, attemptCount: 1, status: StepStatus.RUNNING, startedAt: at(2) },
      item(0, 2, 3),
      item(1, 2, 6, StepStatus.FAILED),
      item(2, 3, 8),
      item(3, 6, undefined, StepStatus.RUNNING),
      { stepId: "translate", stepType: StepType.FUNCTION, status: StepStatus.SKIPPED, skipReason: "when", startedAt: at(5), finishedAt: at(5) },
      {
        stepId: "approve",
        stepType: StepType.WAIT,
        executionIndex: 7,
        attemptCount: 1,
        status: StepStatus.WAITING,
        startedAt: at(5),
        waitsForSignal: "approved",
        waitsUntil: at(86_400),
      },
    ],
    usage: { inputTokens: 40n, outputTokens: 8n, costMicroUsd: 400n },
  });
}
