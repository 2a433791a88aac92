import { create, type MessageInitShape } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { StreamKind } from "@forge/protocol/common";
import { EventSchema } from "@forge/protocol/event";
import { Decision } from "@forge/protocol/tool";
import { StepType } from "@forge/protocol/workflow";
import { describe, expect, it } from "vitest";
import { lifecycle } from "./lifecycle.ts";

type Payload = NonNullable<MessageInitShape<typeof EventSchema>["payload"]>;
const RUN = { kind: StreamKind.RUN, id: "r1" };
const SESSION = { kind: StreamKind.SESSION, id: "s1" };

function event(atMs: number, payload: Payload, rest: Omit<MessageInitShape<typeof EventSchema>, "payload" | "$typeName"> = {}) {
  return create(EventSchema, { stream: RUN, occurredAt: timestampFromMs(atMs), ...rest, payload });
}

const created = event(0, { case: "runCreated", value: { definition: { id: "letters", version: "v1" } } });

describe("the life of a run", () => {
  it("is told by the names and fields of its record", () => {
    const next = lifecycle();
    const told = [
      created,
      event(5, { case: "runStarted", value: {} }),
      event(5, { case: "stepStarted", value: { stepType: StepType.FUNCTION, executionIndex: 0, attempt: 1 } }, { stepId: "draft" }),
      event(9, { case: "stepAttemptFailed", value: { attempt: 1, error: { reason: "USER_ERROR", message: "again" } } }, { stepId: "draft" }),
      event(10, { case: "stepStarted", value: { stepType: StepType.FUNCTION, executionIndex: 0, attempt: 2 } }, { stepId: "draft" }),
      event(25, { case: "stepCompleted", value: { executionIndex: 0, handlerDurationMs: 12n } }, { stepId: "draft" }),
      event(25, { case: "stepStarted", value: { stepType: StepType.FUNCTION, executionIndex: 1, attempt: 1 } }, { stepId: "send" }),
      event(30, { case: "stepFailed", value: { executionIndex: 1, error: { message: "no luck" } } }, { stepId: "send" }),
      event(30, { case: "runFailed", value: { error: { reason: "STEP_FAILED", message: "no luck" } } }),
    ].flatMap(next);
    expect(told).toEqual([
      { event: "RUN_START", payload: { run_id: "r1", workflow_id: "letters" } },
      { event: "STEP_START", payload: { run_id: "r1", step_id: "draft", step_type: "function", execution_index: 0 } },
      {
        event: "STEP_COMPLETE",
        payload: {
          run_id: "r1",
          step_id: "draft",
          step_type: "function",
          execution_index: 0,
          attempt_count: 2,
          last_error: "USER_ERROR: again",
          duration_ms: 20,
          handler_duration_ms: 12,
          tool_duration_ms: null,
        },
      },
      { event: "STEP_START", payload: { run_id: "r1", step_id: "send", step_type: "function", execution_index: 1 } },
      {
        event: "STEP_ERROR",
        payload: {
          run_id: "r1",
          step_id: "send",
          step_type: "function",
          execution_index: 1,
          attempt_count: 1,
          last_error: "no luck",
          duration_ms: 5,
          error: "no luck",
        },
      },
      { event: "RUN_COMPLETE", payload: { run_id: "r1", status: "FAILED", error: "STEP_FAILED: no luck", total_duration_ms: 25 } },
    ]);
  });

  it("has the calls of tools, of a step and of an agent's session, with the run and step that they are for", () => {
    const next = lifecycle();
    const allow = { decision: { decision: Decision.ALLOW } };
    const told = [
      created,
      event(1, { case: "stepStarted", value: { stepType: StepType.TOOL, executionIndex: 0, attempt: 1 } }, { stepId: "echo" }),
      event(1, { case: "toolRequested", value: { tool: "tools.echo", ...allow } }, { stepId: "echo", toolCallId: "c1" }),
      event(4, { case: "toolCompleted", value: { durationMs: 3n } }, { stepId: "echo", toolCallId: "c1" }),
      event(4, { case: "stepCompleted", value: { executionIndex: 0, toolDurationMs: 3n } }, { stepId: "echo" }),
      event(5, { case: "sessionCreated", value: { parent: { runId: "r1", stepId: "judge" } } }, { stream: SESSION }),
      event(6, { case: "toolRequested", value: { tool: "tools.shell", decision: { decision: Decision.ASK } } }, { stream: SESSION, toolCallId: "c2" }),
      event(9, { case: "toolStarted", value: {} }, { stream: SESSION, toolCallId: "c2" }),
      event(9, { case: "toolFailed", value: { durationMs: 1n, error: { message: "exit" } } }, { stream: SESSION, toolCallId: "c2" }),
      event(9, { case: "toolRequested", value: { tool: "tools.shell", decision: { decision: Decision.DENY } } }, { stream: SESSION, toolCallId: "c3" }),
      event(9, { case: "toolDenied", value: { reason: "not here" } }, { stream: SESSION, toolCallId: "c3" }),
      event(9, { case: "toolCompleted", value: {} }, { stream: SESSION, toolCallId: "unknown" }),
    ].flatMap(next);
    const echo = { tool_name: "tools.echo", run_id: "r1", step_id: "echo" };
    const shell = { tool_name: "tools.shell", run_id: "r1", step_id: "judge" };
    expect(told.filter(({ event: name }) => name.startsWith("TOOL"))).toEqual([
      { event: "TOOL_START", payload: echo },
      { event: "TOOL_SUCCESS", payload: { ...echo, execution_time_ms: 3 } },
      { event: "TOOL_START", payload: shell },
      { event: "TOOL_ERROR", payload: { ...shell, execution_time_ms: 1, error: "exit" } },
      { event: "TOOL_ERROR", payload: { ...shell, execution_time_ms: 0, error: "not here" } },
    ]);
    expect(told.find(({ event: name }) => name === "STEP_COMPLETE")?.payload).toMatchObject({ tool_duration_ms: 3, handler_duration_ms: null });
  });

  it("tells executions apart that are under way at once, and begins anywhere", () => {
    const next = lifecycle();
    const item = (executionIndex: number, itemIndex: number) =>
      event(
        executionIndex,
        { case: "stepStarted", value: { stepType: StepType.FUNCTION, executionIndex, attempt: 1, groupIndex: 0, itemIndex } },
        { stepId: "each" },
      );
    const told = [
      item(1, 0),
      item(2, 1),
      event(7, { case: "stepCompleted", value: { executionIndex: 2 } }, { stepId: "each" }),
      event(8, { case: "stepCancelled", value: { executionIndex: 1 } }, { stepId: "each" }),
      event(9, { case: "stepCompleted", value: { executionIndex: 1 } }, { stepId: "each" }),
      event(9, { case: "runCancelled", value: {} }),
    ].flatMap(next);
    expect(told.map(({ event: name, payload }) => [name, payload["item_index"], payload["duration_ms"]])).toEqual([
      ["STEP_START", 0, undefined],
      ["STEP_START", 1, undefined],
      ["STEP_COMPLETE", 1, 5],
      ["RUN_COMPLETE", undefined, undefined],
    ]);
  });

  it("says with a step's end that its output took the place of another one", () => {
    const next = lifecycle();
    next(created);
    next(event(5, { case: "stepStarted", value: { stepType: StepType.FUNCTION, executionIndex: 1, attempt: 1 } }, { stepId: "draft" }));
    const told = next(event(9, { case: "stepCompleted", value: { executionIndex: 1, overwrote: true } }, { stepId: "draft" }));
    expect(told.map((each) => each.event)).toEqual(["STATE_OVERWRITE", "STEP_COMPLETE"]);
    expect(told[0]?.payload).toEqual({ run_id: "r1", key: "steps.draft", writer: "draft" });
  });
});
