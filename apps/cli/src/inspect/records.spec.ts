import { create } from "@bufbuild/protobuf";
import { StreamKind } from "@forge/protocol/common";
import { FinishReason } from "@forge/protocol/event";
import { RunSchema, RunStatus, StepExecutionSchema, StepStatus, StepType } from "@forge/protocol/workflow";
import { describe, expect, it } from "vitest";
import { PLAIN } from "../output/style.ts";
import { eventOf } from "../testing/events.ts";
import { agentTrace } from "./agent-trace.ts";
import { runLines } from "./run-lines.ts";
import { runRecord } from "./run-record.ts";
import { stepRecord } from "./step-record.ts";

const nothing = { stateBefore: null, stateAfter: null, agentTrace: null };

describe("records", () => {
  it("of a step have every field by its name, with null where there is nothing", () => {
    expect(stepRecord(create(StepExecutionSchema, { stepId: "a", stepType: StepType.FUNCTION, status: StepStatus.RUNNING }), nothing)).toEqual({
      step_id: "a",
      step_type: "FUNCTION",
      execution_index: 0,
      status: "RUNNING",
      attempt_count: 0,
      input: {},
      output: null,
      error: null,
      last_error: null,
      state_before: null,
      state_after: null,
      started_at: null,
      finished_at: null,
      duration_ms: "0",
      handler_duration_ms: "0",
      tool_duration_ms: "0",
      agent_trace: null,
    });
  });

  it("of a step keep what else its message has", () => {
    const step = create(StepExecutionSchema, { stepId: "a", itemIndex: 0, groupIndex: 2, skipReason: "need", inherited: true });
    expect(stepRecord(step, { ...nothing, stateBefore: { steps: {} } })).toMatchObject({
      item_index: 0,
      group_index: 2,
      skip_reason: "need",
      inherited: true,
      state_before: { steps: {} },
    });
  });

  it("of a run have every field by its name", () => {
    const run = create(RunSchema, { runId: "r", status: RunStatus.RUNNING, definition: { workflowYaml: "text", steps: [{ id: "a" }] } });
    expect(runRecord(run)).toMatchObject({
      run_id: "r",
      workflow_id: null,
      workflow_yaml: "text",
      workflow_steps: [{ id: "a" }],
      input_hash: null,
      status: "RUNNING",
      started_at: null,
      completed_at: null,
      error: null,
    });
  });
});

describe("the trace of an agent", () => {
  it("has each call with what came of it, and those that are open", () => {
    const session = { stream: { kind: StreamKind.SESSION, id: "s" } } as const;
    const model = { ...session, modelCallId: "m1" };
    expect(
      agentTrace([
        eventOf({ case: "modelRequested", value: { model: "demo/echo", callIndex: 0 } }, model),
        eventOf(
          {
            case: "modelCompleted",
            value: { finishReason: FinishReason.STOP, durationMs: 4n, parts: [{ kind: { case: "text", value: { text: "hello" } } }] },
          },
          model,
        ),
        eventOf({ case: "toolRequested", value: { tool: "tools.echo", argumentsJson: "{}" } }, { ...session, toolCallId: "t1" }),
        eventOf({ case: "toolDenied", value: { reason: "no" } }, { ...session, toolCallId: "t1" }),
        eventOf({ case: "toolRequested", value: { tool: "tools.shell", argumentsJson: "{}" } }, { ...session, toolCallId: "t2" }),
        eventOf({ case: "toolFailed", value: {} }, { ...session, toolCallId: "of nobody" }),
      ]),
    ).toEqual([
      { type: "model", model: "demo/echo", call_index: 0, text: "hello", finish_reason: "STOP", duration_ms: 4 },
      { type: "tool", tool: "tools.echo", arguments: "{}", error: "no" },
      { type: "tool", tool: "tools.shell", arguments: "{}" },
    ]);
  });
});

describe("a run for people", () => {
  it("shows the first items of a list, counts the others, and says what is waited for", () => {
    const items = Array.from({ length: 50 }, (_, index) => ({
      stepId: "each",
      executionIndex: index + 1,
      groupIndex: 0,
      itemIndex: index,
      status: index === 9 ? StepStatus.FAILED : StepStatus.COMPLETED,
    }));
    const run = create(RunSchema, {
      runId: "r",
      workflowId: "w",
      workflowVersion: "v1",
      status: RunStatus.WAITING,
      origin: { runId: "r0", seq: 4n, stepId: "each" },
      waitingSignals: ["early"],
      steps: [
        { stepId: "each", executionIndex: 0, itemCount: 50, status: StepStatus.COMPLETED },
        ...items,
        { stepId: "skipped", executionIndex: 51, status: StepStatus.SKIPPED, skipReason: "need" },
        { stepId: "ask", executionIndex: 52, status: StepStatus.WAITING, approvalId: "a1", stepType: StepType.WAIT },
      ],
    });
    const text = runLines(run, { style: PLAIN, columns: 200, hint: " -p x" }).join("\n");
    expect(text).toContain("each[19]");
    expect(text).not.toContain("each[20]");
    expect(text).toContain("… 30 more items of each: add --steps");
    expect(text).toMatch(/items +49 of 50 completed, 1 failed/);
    expect(text).toMatch(/○ skipped .*SKIPPED\n +skipped +need/);
    expect(text).toContain("npx forge approve r a1 -p x");
    expect(text).toMatch(/Forked +from run r0 before each/);
    expect(text).toMatch(/Signals +early/);
  });
});
