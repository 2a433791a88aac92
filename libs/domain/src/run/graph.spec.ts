import { TurnOutcome, TurnStatus } from "@forge/protocol/session";
import { OnError, RunStatus } from "@forge/protocol/workflow";
import { describe, expect, it } from "vitest";
import {
  agentStep,
  artifact,
  cancelRun,
  functionStep,
  lost,
  path,
  pauseRun,
  returned,
  returnedValue,
  runOf,
  runReport,
  type Step,
  started,
  subRunStep,
  taskCancelled,
  taskFailed,
  toolStep,
  turnReport,
  WRITE,
  waitStep,
  workflow,
} from "./testing/run-fixture.ts";

const INNER = workflow([functionStep("x")], { id: "inner" });
const DIAMOND = [
  functionStep("a"),
  functionStep("b", { needs: ["a"] }),
  functionStep("c", { needs: ["a"] }),
  functionStep("d", { needs: ["b", "c"], inputs: { b: path("steps.b"), c: path("steps.c.v") } }),
];

function graph(steps: readonly Step[], options: Parameters<typeof workflow>[1] = {}, more: Parameters<typeof runOf>[1] = {}) {
  return runOf(workflow(steps, options), more);
}

describe("a graph", () => {
  it("begins each step as soon as its needs are met, and ends with the last", () => {
    const run = graph(DIAMOND);
    expect(run.working).toEqual(["a"]);
    run.must(returned(run.keyOf("a"), 1));
    expect(run.working).toEqual(["b", "c"]);
    run.must(returned(run.keyOf("c"), { v: 3 }));
    expect(run.working).toEqual(["b"]);
    expect(run.must(returned(run.keyOf("b"), 2)).cases).toEqual(["stepCompleted", "stepStarted"]);
    expect(run.open("d").input).toMatchObject({ b: { kind: { value: "2" } }, c: { kind: { value: "3" } } });
    expect(run.must(returned(run.keyOf("d"), 4)).cases).toEqual(["stepCompleted", "runCompleted"]);
    expect(run.last("runCompleted").value).toMatchObject({ output: { kind: { value: "4" } }, withErrors: false });
  });

  it("is one where a single step has needs, in whatever order they stand", () => {
    const run = graph([functionStep("late", { needs: ["early"] }), functionStep("early"), functionStep("alone")]);
    expect(run.working).toEqual(["early", "alone"]);
  });

  it.each([
    [0, 16],
    [1, 1],
    [3, 3],
  ])("has no more under way than its limit of %s says, and goes on in order", (parallelMax, atOnce) => {
    const steps = Array.from({ length: 20 }, (_, index) => functionStep(`s${index}`));
    const run = graph([...steps, functionStep("last", { needs: ["s0"] })], { parallelMax });
    expect(run.working).toEqual(steps.slice(0, atOnce).map(({ id }) => id));
    const begun = [...run.working];
    while (run.working.length > 0) {
      run.must(returned(run.keyOf(run.working[0] as string), 1));
      expect(run.working.length).toBeLessThanOrEqual(atOnce);
      for (const id of run.working) if (!begun.includes(id)) begun.push(id);
    }
    expect(begun).toEqual([...steps.map(({ id }) => id), "last"]);
    expect(run.status).toBe("COMPLETED");
  });

  it("does not count what only waits against its limit", () => {
    const run = graph([waitStep("w", { case: "signal", value: "go" }), functionStep("a"), functionStep("b", { needs: ["a"] })], { parallelMax: 1 });
    expect(run.working).toEqual(["w", "a"]);
    expect(run.status).toBe("RUNNING");
  });

  it("hands outputs in the artifact store to whoever reads them, however the readers begin", () => {
    const steps = [
      functionStep("a"),
      waitStep("w", { case: "until", value: path("steps.a.at") }, { needs: ["a"] }),
      functionStep("b", { needs: ["w"], inputs: { it: path("steps.a.v") } }),
    ];
    const run = graph(steps, {}, { artifacts: { big: '{"v":7,"at":"2020-01-01T00:00:00Z"}' } });
    run.must(returnedValue(run.key, artifact("big")));
    expect(run.open("b").input).toMatchObject({ it: { kind: { value: "7" } } });
  });
});

describe("a step of a graph that fails", () => {
  const many = (options: Parameters<typeof workflow>[1] = {}) =>
    graph(
      [
        functionStep("bad"),
        functionStep("slow", { notIdempotent: true }),
        agentStep("agent"),
        subRunStep("sub", INNER),
        toolStep("tool", WRITE.name),
        waitStep("w", { case: "signal", value: "go" }),
        functionStep("retrying", { retry: { attempts: 3, initialDelay: { seconds: 60n } } }),
        functionStep("next", { needs: ["bad"] }),
      ],
      options,
      { tools: [WRITE] },
    );

  it("asks all that is under way to stop, once, and the run fails with the first error once nothing is", () => {
    const run = many();
    const { sessionId } = run.open("agent");
    const { childRunId } = run.open("sub");
    run.must(started(run.keyOf("slow")));
    run.must(taskFailed(run.keyOf("retrying")));
    run.sent.length = 0;
    const { cases } = run.must(taskFailed(run.keyOf("bad"), "The first."));
    // What nobody works for ends at once: the tool that has not started, the wait, the retry.
    expect(cases).toEqual(["stepFailed", "toolCancelled", "stepCancelled", "stepCancelled", "stepCancelled"]);
    expect(run.working).toEqual(["slow", "agent", "sub"]);
    expect(run.sent.map(({ command }) => command.case)).toEqual(["cancelTurn", "cancelRun"]);
    expect(run.outstanding()).toMatchObject([{ key: run.keyOf("slow"), cancelRequested: true }]);
    expect(run.status).toBe("RUNNING");
    // Another failure meanwhile, and a person who cancels as well, ask nobody again.
    run.must(lost(run.keyOf("slow")));
    expect(run.must(turnReport(sessionId, { status: TurnStatus.CANCELLED, outcome: TurnOutcome.CANCELLED })).cases).toEqual(["stepCancelled"]);
    expect(run.must(runReport(childRunId, { status: RunStatus.CANCELLED })).cases).toEqual(["stepCancelled", "runFailed"]);
    expect(run.sent).toHaveLength(2);
    expect(run.last("runFailed").value.error?.message).toBe('step "bad" failed: The first.');
    expect(run.outstanding()).toEqual([]);
  });

  it("leaves the run cancelled where a person asks for that before it has failed", () => {
    const run = many();
    const { sessionId } = run.open("agent");
    const { childRunId } = run.open("sub");
    run.must(taskFailed(run.keyOf("bad")));
    const sent = run.sent.length;
    run.must(cancelRun());
    expect(run.sent).toHaveLength(sent);
    run.must(turnReport(sessionId, { status: TurnStatus.CANCELLED, outcome: TurnOutcome.CANCELLED }));
    run.must(runReport(childRunId, { status: RunStatus.CANCELLED }));
    expect(run.must(taskCancelled(run.keyOf("retrying"))).cases).toEqual(["stepCancelled", "runCancelled"]);
  });

  it("lets independent ones go on where on_error says so, and passes over what needs it", () => {
    const steps = [...DIAMOND, functionStep("x"), functionStep("y", { needs: ["x"] }), functionStep("after", { needs: ["d"] })];
    const run = graph(steps, { onError: OnError.CONTINUE });
    run.must(returned(run.keyOf("a"), 1));
    run.must(returned(run.keyOf("c"), { v: 1 }));
    expect(run.must(taskFailed(run.keyOf("b"))).cases).toEqual(["stepFailed", "stepSkipped", "stepSkipped"]);
    expect(run.lastOf("stepSkipped", "d")).toMatchObject({ reason: "need", need: "b" });
    expect(run.lastOf("stepSkipped", "after")).toMatchObject({ reason: "need", need: "d" });
    run.must(returned(run.keyOf("x"), 1));
    run.must(returned(run.keyOf("y"), 5));
    expect(run.status).toBe("COMPLETED_WITH_ERRORS");
    expect(run.last("runCompleted").value.output).toMatchObject({ kind: { value: "5" } });
  });

  it("may fail as it begins, and then fails the run only once the others have stopped", () => {
    const run = graph([functionStep("a"), functionStep("slow"), functionStep("b", { needs: ["a"], inputs: { it: path("steps.a.none") } })]);
    expect(run.must(returned(run.keyOf("a"), {})).cases).toEqual(["stepCompleted", "stepStarted", "stepFailed"]);
    expect(run.must(taskCancelled(run.keyOf("slow"))).cases).toEqual(["stepCancelled", "runFailed"]);
    expect(run.last("runFailed").value.error).toMatchObject({ metadata: { step_id: "b" } });
  });

  it("fails the run although it is paused", () => {
    const run = graph(DIAMOND);
    run.must(pauseRun());
    expect(run.must(taskFailed(run.keyOf("a"))).cases).toEqual(["stepFailed", "runFailed"]);
    expect(run.status).toBe("FAILED");
  });
});

describe("a step's `when`", () => {
  const steps = (when: string) => [
    functionStep("a"),
    functionStep("b", { needs: ["a"], when }),
    functionStep("c", { needs: ["b"] }),
    functionStep("d", { needs: ["a"] }),
  ];

  it("passes over the step and what needs it where it is false, which is no error", () => {
    const run = graph(steps("state.steps.a.n > 1"));
    expect(run.must(returned(run.keyOf("a"), { n: 1 })).cases).toEqual(["stepCompleted", "stepSkipped", "stepStarted", "stepSkipped"]);
    expect(run.lastOf("stepSkipped", "b")).toMatchObject({ reason: "when", need: "" });
    expect(run.lastOf("stepSkipped", "c")).toMatchObject({ reason: "need", need: "b" });
    run.must(returned(run.keyOf("d"), 1));
    expect(run.status).toBe("COMPLETED");
  });

  it("lets the step begin where it is true", () => {
    const run = graph(steps("state.steps.a.n > 1"));
    run.must(returned(run.keyOf("a"), { n: 2 }));
    expect(run.working).toEqual(["b", "d"]);
  });

  it("fails the step where it can't be evaluated, and the run only once nothing is under way", () => {
    const run = graph([functionStep("slow"), ...steps("state.steps.a.missing")]);
    expect(run.must(returned(run.keyOf("a"), {})).cases).toEqual(["stepCompleted", "stepStarted", "stepFailed"]);
    expect(run.outstanding()).toMatchObject([{ cancelRequested: true }]);
    run.must(taskCancelled(run.keyOf("slow")));
    expect(run.last("runFailed").value.error).toMatchObject({ reason: "BRANCH_RESOLUTION", metadata: { step_id: "b" } });
    expect(run.last("runFailed").value.error?.message).toContain("can't be evaluated: no key `missing`");
  });

  it("that can't be evaluated is a failure like others where on_error says continue", () => {
    const run = graph(steps("state.steps.a.missing"), { onError: OnError.CONTINUE });
    run.must(returned(run.keyOf("a"), {}));
    expect(run.working).toEqual(["d"]);
    run.must(returned(run.keyOf("d"), 1));
    expect(run.status).toBe("COMPLETED_WITH_ERRORS");
  });

  it("looks into the artifact store", () => {
    const run = graph(steps("state.steps.a.n > 1"), {}, { artifacts: { big: '{"n":2}' } });
    run.must(returnedValue(run.key, artifact("big")));
    expect(run.working).toEqual(["b", "d"]);
  });

  it("that leaves nothing to be done ends the run", () => {
    const run = graph([functionStep("a", { when: "false" }), functionStep("b", { needs: ["a"] })]);
    expect(run.status).toBe("COMPLETED");
    expect(run.last("runCompleted").value.output).toBeUndefined();
  });
});
