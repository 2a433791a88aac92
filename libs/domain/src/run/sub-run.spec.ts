import { create } from "@bufbuild/protobuf";
import { ErrorCode, UsageSchema } from "@forge/protocol/common";
import { type StartChildRun, StartChildRunSchema } from "@forge/protocol/engine";
import { RunStatus } from "@forge/protocol/workflow";
import { describe, expect, it } from "vitest";
import {
  cancelRun,
  fired,
  functionStep,
  json,
  literal,
  parsed,
  path,
  RUN_ID,
  RunStream,
  rejected,
  resumeRun,
  returned,
  runOf,
  runReport,
  startRun,
  subRunStep,
  taskFailed,
  workflow,
} from "./testing/run-fixture.ts";

const INNER = workflow([functionStep("x")], { id: "inner", inputs: [{ name: "n" }] });
const USAGE = create(UsageSchema, { inputTokens: 5n });

function parent(options: Parameters<typeof subRunStep>[2] = {}) {
  const steps = [
    functionStep("a"),
    subRunStep("sub", INNER, { inputs: { n: path("steps.a.n") }, ...options }),
    functionStep("after", { inputs: { it: path("steps.sub") } }),
  ];
  const run = runOf(workflow(steps));
  run.return({ n: 7 });
  return run;
}

function childOf(run: RunStream, request: Partial<StartChildRun> = {}): RunStream {
  const { command } = run.sent.findLast((sent) => sent.command.case === "startChildRun") as (typeof run.sent)[number];
  if (command.case !== "startChildRun") throw new Error("No run was started.");
  const child = new RunStream();
  child.must({ ...command.value, ...request });
  return child;
}

describe("a workflow step", () => {
  it("starts a run with its inputs, below its own", () => {
    const run = parent();
    const { childRunId } = run.open("sub");
    expect(run.sent).toMatchObject([
      {
        target: { id: childRunId },
        commandId: `run:${RUN_ID}:1:1:create`,
        command: {
          case: "startChildRun",
          value: { parent: { runId: RUN_ID, stepId: "sub" }, depth: 1, request: { inputs: json({ n: 7 }), labels: { parent_run_id: RUN_ID } } },
        },
      },
    ]);
    expect(run.outstanding()).toEqual([]);
    expect(run.status).toBe("RUNNING");
    const child = childOf(run);
    expect(child.state).toMatchObject({ workflowId: "inner", depth: 1, parent: { stepId: "sub" }, startedBy: "cli" });
    expect(parsed(child.state.inputs)).toEqual({ n: 7 });
  });

  it("has the other run's output, and counts what it used", () => {
    const run = parent();
    const child = childOf(run);
    child.return({ out: 1 });
    const [{ command }] = child.sent.filter((sent) => sent.command.case === "reportRunEnd") as [(typeof child.sent)[number]];
    expect(command).toMatchObject({ value: { status: RunStatus.COMPLETED, stepId: "sub", output: json({ out: 1 }) } });
    run.must(runReport(run.open("sub").childRunId, { output: json({ out: 1 }), usage: USAGE }));
    expect(parsed(run.open("after").input["it"])).toEqual({ out: 1 });
    expect(run.state.usage).toMatchObject({ inputTokens: 5n });
  });

  it.each([
    [RunStatus.COMPLETED_WITH_ERRORS, ["stepCompleted", "stepStarted"]],
    [RunStatus.FAILED, ["stepFailed", "runFailed"]],
    [RunStatus.CANCELLED, ["stepFailed", "runFailed"]],
  ])("takes status %s for what it is", (status, cases) => {
    const run = parent();
    expect(run.must(runReport(run.open("sub").childRunId, { status })).cases).toEqual(cases);
  });

  it("names the run that failed", () => {
    const run = parent();
    const { childRunId } = run.open("sub");
    run.must(runReport(childRunId, { status: RunStatus.FAILED, error: { code: ErrorCode.INTERNAL, reason: "X", message: "Inside." }, usage: USAGE }));
    expect(run.last("runFailed").value.error).toMatchObject({
      reason: "X",
      message: 'step "sub" failed: Inside.',
      relatedIds: [childRunId],
      metadata: { step_id: "sub" },
    });
    expect(run.state.usage).toMatchObject({ inputTokens: 5n });
  });

  it("tries again in a run of its own, and hears no more of the one before", () => {
    const run = parent({ retry: { attempts: 2, initialDelay: { seconds: 5n } } });
    const first = run.open("sub").childRunId;
    expect(run.must(runReport(first, { status: RunStatus.FAILED, usage: USAGE })).cases).toEqual(["stepAttemptFailed"]);
    expect(run.execute(runReport(first)).rejection).toMatchObject({ reason: "STEP_NOT_ACTIVE" });
    run.must(fired("retry:1:2"));
    const second = run.open("sub").childRunId;
    expect(second).not.toBe(first);
    expect(run.sent.map(({ target }) => target?.id)).toEqual([first, second]);
    expect(childOf(run).state.inputs).toMatchObject(json({ n: 7 }));
    run.must(runReport(second, { output: json(1), usage: USAGE }));
    expect(run.lastOf("stepCompleted", "sub").usage).toMatchObject({ inputTokens: 10n });
    expect(run.state.usage).toMatchObject({ inputTokens: 10n });
  });

  it("is cancelled with its run, and waits for it", () => {
    const run = parent();
    const { childRunId } = run.open("sub");
    expect(run.must(cancelRun()).cases).toEqual(["runCancelRequested"]);
    run.must(cancelRun());
    expect(run.sent.map(({ command }) => command.case)).toEqual(["startChildRun", "cancelRun"]);
    expect(run.execute(rejected(`run:${RUN_ID}:1:1:cancel`)).rejection).toMatchObject({ reason: "STEP_NOT_ACTIVE" });
    expect(run.must(runReport(childRunId, { status: RunStatus.CANCELLED, usage: USAGE })).cases).toEqual(["stepCancelled", "runCancelled"]);
    expect(run.state.usage).toMatchObject({ inputTokens: 5n });
  });

  it("fails where its run is refused", () => {
    const run = parent();
    const { childRunId } = run.open("sub");
    expect(run.must(rejected(`run:${RUN_ID}:1:1:create`)).cases).toEqual(["stepFailed", "runFailed"]);
    expect(run.last("runFailed").value.error).toMatchObject({ reason: "REFUSED", origin: "run", relatedIds: [childRunId] });
  });

  it("keeps its contract", () => {
    const run = parent({ outputs: ["v"] });
    run.must(runReport(run.open("sub").childRunId, { output: json({ w: 1 }) }));
    expect(run.last("runFailed").value.error?.message).toContain('the output lacks "v"');
  });

  it("has its time as a deadline of the run that it starts, unless that has a shorter one", () => {
    const run = parent({ timeout: { seconds: 60n } });
    expect(childOf(run).timers()).toHaveLength(1);
    for (const [own, seconds] of [
      [30n, 30n],
      [90n, 60n],
    ] as const) {
      const definition = workflow([functionStep("x")], { id: "inner", deadline: { seconds: own } });
      const child = childOf(runOf(workflow([subRunStep("sub", definition, { timeout: { seconds: 60n } })])));
      expect(child.state.definition?.deadline).toMatchObject({ seconds });
    }
  });

  it("has no label more than a run may have", () => {
    const labels = Object.fromEntries(Array.from({ length: 32 }, (_, index) => [`l${index}`, ""]));
    const run = new RunStream();
    run.must(startRun(workflow([subRunStep("sub", INNER)]), { labels }));
    expect(childOf(run).state.labels).toEqual(labels);
  });

  it("can't go deeper than eight runs, nor begin with inputs too large for one value", () => {
    const run = parent();
    expect(childOf(run, { depth: 8 }).state.depth).toBe(8);
    const request = startRun(INNER);
    expect(new RunStream().execute(create(StartChildRunSchema, { request, depth: 9 })).rejection).toMatchObject({ reason: "RUN_DEPTH" });
    const inner = workflow([functionStep("x")], { id: "inner", inputs: [{ name: "a" }, { name: "b" }] });
    const large = literal("x".repeat(40_000));
    const big = runOf(workflow([subRunStep("sub", inner, { inputs: { a: large, b: large } })]));
    expect(big.last("runFailed").value.error?.message).toContain("the inputs of its workflow take more than 65536 bytes");
  });

  it("that ends again after a resumption says so again, under another name", () => {
    const child = childOf(parent());
    child.must(taskFailed(child.key));
    child.must(resumeRun());
    child.return(1);
    const reports = child.sent.filter(({ command }) => command.case === "reportRunEnd");
    expect(reports.map(({ command }) => (command.case === "reportRunEnd" ? command.value.status : 0))).toEqual([RunStatus.FAILED, RunStatus.COMPLETED]);
    expect(new Set(reports.map(({ commandId }) => commandId)).size).toBe(2);
  });

  it("is told of by a run that nobody started as a step only", () => {
    const run = runOf(workflow([functionStep("a")]));
    run.must(returned(run.key, 1));
    expect(run.sent).toEqual([]);
  });
});
