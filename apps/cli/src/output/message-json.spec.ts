import { create } from "@bufbuild/protobuf";
import { durationFromMs } from "@bufbuild/protobuf/wkt";
import { ErrorCode } from "@forge/protocol/common";
import { EventSchema } from "@forge/protocol/event";
import { RunSchema, RunStatus, StepStatus, StepType } from "@forge/protocol/workflow";
import { describe, expect, it } from "vitest";
import { messageJson } from "./message-json.ts";

describe("messageJson", () => {
  it("writes proto field names and enum values without their prefix, at any depth", () => {
    const run = create(RunSchema, {
      runId: "r",
      status: RunStatus.COMPLETED_WITH_ERRORS,
      seq: 7n,
      steps: [{ stepId: "a", stepType: StepType.FUNCTION, status: StepStatus.FAILED, error: { code: ErrorCode.WORKER_LOST } }],
      definition: { steps: [{ id: "a", timeout: durationFromMs(1_500), retry: { attempts: 2, backoff: 2 } }] },
      labels: { status: "RUN_STATUS_FAILED" },
    });
    expect(messageJson(RunSchema, run)).toEqual({
      run_id: "r",
      status: "COMPLETED_WITH_ERRORS",
      seq: "7",
      steps: [{ step_id: "a", step_type: "FUNCTION", status: "FAILED", error: { code: "WORKER_LOST" } }],
      definition: { steps: [{ id: "a", timeout: "1.500s", retry: { attempts: 2, backoff: "EXPONENTIAL" } }] },
      labels: { status: "RUN_STATUS_FAILED" },
    });
  });

  it("finds the enums of an event's payload", () => {
    const event = create(EventSchema, { kind: "step.started", payload: { case: "stepStarted", value: { stepType: StepType.AGENT, attempt: 1 } } });
    expect(messageJson(EventSchema, event)).toEqual({ kind: "step.started", step_started: { step_type: "AGENT", attempt: 1 } });
  });
});
