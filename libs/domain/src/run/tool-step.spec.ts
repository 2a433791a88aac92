import { ErrorCode } from "@forge/protocol/common";
import { Decision } from "@forge/protocol/tool";
import { describe, expect, it } from "vitest";
import { toolDigest } from "../tool-policy.ts";
import {
  artifact,
  functionStep,
  json,
  lost,
  parsed,
  path,
  RUN_ID,
  RunStream,
  reportedLate,
  returned,
  returnedValue,
  runOf,
  SEARCH,
  started,
  startRun,
  taskCancelled,
  taskFailed,
  toolReturned,
  toolStep,
  WRITE,
  workflow,
} from "./testing/run-fixture.ts";

const TOOLS = { tools: [SEARCH, WRITE] };

describe("a tool step", () => {
  it("is granted by whoever started the run, before it is dispatched", () => {
    const run = new RunStream(TOOLS);
    const definition = workflow([toolStep("find", SEARCH.name, { inputs: { query: path("inputs.q") } })], { inputs: [{ name: "q" }] });
    const { cases, events } = run.must(startRun(definition, { inputs: json({ q: "café" }) }), "cli:anna");
    expect(cases).toEqual(["runCreated", "runStarted", "stepStarted", "toolRequested"]);
    const { value } = run.last("toolRequested");
    expect(value).toMatchObject({ tool: SEARCH.name, argumentsJson: '{"query":"café"}' });
    const context = run.context();
    expect(value.decision).toMatchObject({
      decision: Decision.ALLOW,
      subject: `run:${RUN_ID}/find`,
      tool: SEARCH.name,
      toolDigest: toolDigest(context, SEARCH),
      argumentsDigest: context.sha256(value.argumentsJson),
      source: "run-grant",
      decidedBy: "cli:anna",
    });
    const [startedEvent, requested] = events.slice(2);
    expect(requested?.toolCallId).not.toBe("");
    expect(startedEvent?.payload.value).toMatchObject({ toolCallId: requested?.toolCallId });
    expect(run.task.task.kind.value).toMatchObject({
      toolCallId: requested?.toolCallId,
      tool: SEARCH.name,
      argumentsJson: '{"query":"café"}',
      runId: RUN_ID,
      stepId: "find",
      decision: value.decision,
    });
  });

  it("takes two appends: its start, and its end with the next step's begin", () => {
    const run = runOf(workflow([toolStep("write", WRITE.name, { outputs: ["path"] }), functionStep("b", { inputs: { p: path("steps.write.path") } })]), TOOLS);
    expect(run.task).toMatchObject({ key: "step:0:1", capability: "tool:tools.write", idempotent: false, task: { needsStart: true } });
    expect(run.must(started(run.key, 3)).cases).toEqual(["toolStarted"]);
    expect(run.last("toolStarted").value).toMatchObject({ worker: "executor", epoch: 3 });
    const { cases, events } = run.must(toolReturned(run.key, { path: "out.md" }));
    expect(cases).toEqual(["toolCompleted", "stepCompleted", "stepStarted"]);
    expect(events[1]?.payload.value).toMatchObject({ toolDurationMs: 7n, handlerDurationMs: 0n });
    expect(run.task.task.kind.value).toMatchObject({ input: { p: json("out.md") } });
  });

  it("has no result before its start is on record, where its effect must not happen twice", () => {
    const run = runOf(workflow([toolStep("write", WRITE.name)]), TOOLS);
    expect(run.execute(toolReturned(run.key, {})).rejection?.reason).toBe("TASK_NOT_STARTED");
    run.must(started(run.key));
    expect(run.must(toolReturned(run.key, {})).cases).toContain("toolCompleted");
  });

  it("needs no start where the tool is served as idempotent, and may be started again", () => {
    const run = runOf(workflow([toolStep("find", SEARCH.name)]), TOOLS);
    expect(run.task).toMatchObject({ idempotent: true, task: { needsStart: false } });
    run.must(started(run.key, 1));
    expect(run.must(started(run.key, 2)).cases).toEqual(["toolStarted"]);
    expect(run.must(lost(run.key)).cases).toEqual(["toolFailed", "stepFailed", "runFailed"]);
    expect(run.last("stepFailed").value.error?.code).toBe(ErrorCode.WORKER_LOST);
  });

  it("gets what is too large for its arguments beside them", () => {
    const run = runOf(
      workflow([functionStep("a"), toolStep("find", SEARCH.name, { inputs: { text: path("steps.a"), n: path("inputs.n") } })], { inputs: [{ name: "n" }] }),
      {
        ...TOOLS,
        inputs: { n: 1 },
      },
    );
    run.must(returnedValue(run.key, artifact("big")));
    expect(run.task.task.kind.value).toMatchObject({ argumentsJson: '{"n":1}', input: { text: artifact("big") } });
  });

  it("fails where nobody serves the tool", () => {
    const run = runOf(workflow([toolStep("find", "tools.serch", { retry: { attempts: 5 } })]), TOOLS);
    expect(run.last("stepFailed").value.error).toMatchObject({
      code: ErrorCode.NOT_FOUND,
      reason: "TOOL_NOT_FOUND",
      message: 'step "find": no worker of queue "default" serves the tool "tools.serch" (did you mean "tools.search"?)',
    });
    expect(run.outstanding()).toEqual([]);
  });

  it("fails with arguments that are too large", () => {
    const inputs = { x: path("inputs.x"), y: path("inputs.x") };
    const run = runOf(workflow([toolStep("find", SEARCH.name, { inputs })], { inputs: [{ name: "x" }] }), { ...TOOLS, inputs: { x: "x".repeat(40_000) } });
    expect(run.last("stepFailed").value.error?.message).toContain("65536 bytes");
  });

  it("repeats a failed call as another call with the same arguments and key", () => {
    const run = runOf(workflow([toolStep("write", WRITE.name, { retry: { attempts: 2, initialDelay: { seconds: 2n } } })]), TOOLS);
    const first = run.last("toolRequested").value;
    const idempotencyKey = run.task.task.idempotencyKey;
    run.tools = [];
    run.must(started(run.key));
    expect(run.must(taskFailed(run.key)).cases).toEqual(["toolFailed", "stepAttemptFailed", "toolRequested"]);
    expect(run.last("toolRequested").value).toEqual(first);
    expect(new Set(run.events.filter((event) => event.payload.case === "toolRequested").map((event) => event.toolCallId)).size).toBe(2);
    expect(run.task).toMatchObject({ key: "step:0:2", dueAtMs: run.nowMs + 2_000, task: { idempotencyKey } });
    run.must(started(run.key));
    expect(run.must(taskFailed(run.key)).cases).toEqual(["toolFailed", "stepFailed", "runFailed"]);
  });

  it("is unknown, and not tried again, where it was lost after its start", () => {
    const run = runOf(workflow([toolStep("write", WRITE.name, { retry: { attempts: 2 } })]), TOOLS);
    run.must(started(run.key));
    expect(run.must(lost(run.key)).cases).toEqual(["toolSettledUnknown", "stepFailed", "runFailed"]);
    expect(run.last("stepFailed").value.error?.reason).toBe("UNKNOWN_EFFECT");
  });

  it("notes a late answer once and changes nothing else", () => {
    const run = runOf(workflow([toolStep("write", WRITE.name)]), TOOLS);
    const { key } = run;
    run.must(started(key));
    run.must(lost(key));
    const { events, cases } = run.must(reportedLate(key));
    expect(cases).toEqual(["toolReportedLate"]);
    expect(events[0]).toMatchObject({ stepId: "write", payload: { value: { outcome: "completed", preview: '"late"' } } });
    expect(events[0]?.toolCallId).toBe(run.events.find((event) => event.payload.case === "toolRequested")?.toolCallId);
    expect(run.execute(reportedLate(key)).rejection?.reason).toBe("TASK_NOT_OPEN");
    expect(run.decider.listing(run.state).status).toBe("RUN_STATUS_FAILED");
  });

  it("ends its call where the worker gives it up or answers as something else", () => {
    const run = runOf(workflow([toolStep("write", WRITE.name)]), TOOLS);
    expect(run.execute(returned(run.key, 1)).rejection?.reason).toBe("TASK_KIND");
    expect(run.must(taskCancelled(run.key)).cases).toEqual(["toolCancelled", "stepFailed", "runFailed"]);
  });

  it("names the output's call and step for its deltas", () => {
    const run = runOf(workflow([toolStep("write", WRITE.name)]), TOOLS);
    expect(run.decider.deltaIds(run.state, run.key)).toEqual({ stepId: "write", toolCallId: run.current?.call?.toolCallId });
    expect(run.decider.deltaIds(run.state, "step:9:1")).toEqual({});
  });

  it("gives the whole state as arguments where it maps nothing", () => {
    const run = runOf(workflow([functionStep("a"), toolStep("find", SEARCH.name, { inputs: {} })], { inputs: [{ name: "q" }] }), {
      ...TOOLS,
      inputs: { q: 1 },
    });
    run.return({ x: 2 });
    const value = run.last("toolRequested").value;
    expect(JSON.parse(value.argumentsJson)).toEqual({
      inputs: { q: 1 },
      steps: { a: { x: 2 } },
      runtime: { run_id: RUN_ID, workflow_id: "triage", workflow_version: "v1" },
    });
    expect(parsed(run.current?.input["steps"])).toEqual({ a: { x: 2 } });
  });
});
