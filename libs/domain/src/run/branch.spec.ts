import type { Event } from "@forge/protocol/event";
import { OnError } from "@forge/protocol/workflow";
import { describe, expect, it } from "vitest";
import { allOf } from "./chunks.ts";
import { replayRun } from "./replay.ts";
import { artifact, functionStep, json, path, resumeRun, returnedValue, runOf, taskFailed, workflow } from "./testing/run-fixture.ts";

const RULES = [
  { when: "state.steps.triage.severity == 'high'", goto: "page" },
  { when: "state.steps.triage.count > state.inputs.limit", goto: "end" },
];

function triage(output: unknown, options: { nextDefault?: string; onError?: OnError; next?: { when: string; goto: string }[] } = {}) {
  const { onError = OnError.FAIL_FAST, next = RULES, ...rest } = options;
  const steps = [functionStep("triage", { next, ...rest }), functionStep("skipped"), functionStep("page"), functionStep("file")];
  const run = runOf(workflow(steps, { onError, inputs: [{ name: "limit", defaultJson: "3" }] }));
  return { run, effect: run.return(output) };
}

describe("a branch", () => {
  it("takes the first rule that is true", () => {
    const { run, effect } = triage({ severity: "high", count: 9 });
    expect(effect.events[0]?.payload.value).toMatchObject({ nextStepId: "page", nextSource: "rule:0" });
    expect(run.task.capability).toBe("function:module.page");
    run.return(1);
    expect(run.task.capability).toBe("function:module.file");
  });

  it("ends the run where a rule leads to the end", () => {
    const { run, effect } = triage({ severity: "low", count: 9 });
    expect(effect.cases).toEqual(["stepCompleted", "runCompleted"]);
    expect(run.last("stepCompleted").value).toMatchObject({ nextStepId: "", nextSource: "rule:1" });
  });

  it("takes the default where no rule is true", () => {
    const { effect } = triage({ severity: "low", count: 1 }, { nextDefault: "file" });
    expect(effect.events[0]?.payload.value).toMatchObject({ nextStepId: "file", nextSource: "default" });
  });

  it("takes a default without rules", () => {
    const { effect } = triage(1, { next: [], nextDefault: "file" });
    expect(effect.events[0]?.payload.value).toMatchObject({ nextStepId: "file", nextSource: "default" });
  });

  it.each([OnError.FAIL_FAST, OnError.CONTINUE])("fails the run where nothing matches, whatever on_error says (%s)", (onError) => {
    const { run, effect } = triage({ severity: "low", count: 1 }, { onError });
    expect(effect.cases).toEqual(["stepCompleted", "runFailed"]);
    expect(run.last("runFailed").value.error).toMatchObject({
      reason: "BRANCH_RESOLUTION",
      message: 'step "triage": no rule of `next` is true, and there is no default: add one',
    });
  });

  it("fails the run where a rule can't be evaluated, naming it", () => {
    const { run } = triage({ severity: "low" }, { nextDefault: "file" });
    const { error } = run.last("runFailed").value;
    expect(error?.reason).toBe("BRANCH_RESOLUTION");
    expect(error?.message).toContain("rule 1 (`state.steps.triage.count > state.inputs.limit`) can't be evaluated: no key `count`");
  });

  it("holds for true what Python holds for true", () => {
    const { effect } = triage({ items: [] }, { next: [{ when: "state.steps.triage.items", goto: "page" }], nextDefault: "file" });
    expect(effect.events[0]?.payload.value).toMatchObject({ nextStepId: "file" });
  });

  it("looks into outputs in the artifact store", () => {
    const steps = [
      functionStep("triage", { next: [{ when: "state.steps.triage.severity == 'high'", goto: "page" }], nextDefault: "end" }),
      functionStep("page"),
    ];
    const run = runOf(workflow(steps), { artifacts: { big: '{"severity":"high"}' } });
    run.must(returnedValue(run.key, artifact("big")));
    expect(run.last("stepCompleted").value.nextStepId).toBe("page");
  });

  it("may lead back, and each execution is another task", () => {
    const steps = [functionStep("work"), functionStep("check", { next: [{ when: "state.steps.check.done", goto: "end" }], nextDefault: "work" })];
    const run = runOf(workflow(steps));
    const keys: string[] = [];
    for (let round = 0; round < 3; round++) {
      keys.push(run.key);
      run.return(round);
      keys.push(run.key);
      run.return({ done: round === 2 });
    }
    expect(keys).toEqual(["step:0:1", "step:1:1", "step:2:1", "step:3:1", "step:4:1", "step:5:1"]);
    expect(run.decider.listing(run.state).status).toBe("RUN_STATUS_COMPLETED");
  });

  it("may not lead back for ever", () => {
    const run = runOf(workflow([functionStep("spin", { nextDefault: "spin" })], { onError: OnError.CONTINUE }));
    let count = 0;
    while (run.outstanding().length > 0) {
      run.return(count);
      count++;
    }
    expect(count).toBe(1_000);
    expect(run.last("runFailed").value.error).toMatchObject({ reason: "CIRCULAR_EXECUTION", metadata: { step_id: "spin" } });
  });
});

describe("the branch of a step that failed, where the run goes on", () => {
  const failing = (options: Parameters<typeof functionStep>[1], more: Parameters<typeof functionStep>[1] = {}) =>
    runOf(
      workflow([functionStep("first", { nextDefault: "a" }), functionStep("other"), functionStep("a", options), functionStep("b", more), functionStep("c")], {
        onError: OnError.CONTINUE,
      }),
    );
  const fail = (run: ReturnType<typeof failing>) => {
    run.return({ n: 1 });
    return run.must(taskFailed(run.key));
  };

  it.each<[string, Parameters<typeof functionStep>[1], string, string]>([
    [
      "its first rule that is true",
      {
        next: [
          { when: "state.steps.first.n == 2", goto: "other" },
          { when: "state.steps.first.n == 1", goto: "c" },
        ],
      },
      "c",
      "rule:1",
    ],
    ["its default", { next: [{ when: "state.steps.first.n == 2", goto: "other" }], nextDefault: "c" }, "c", "default"],
    ["the next step, where it has none", {}, "b", "sequence"],
    ["the end", { nextDefault: "end" }, "", "default"],
  ])("is %s", (_, options, nextStepId, nextSource) => {
    const run = failing(options);
    const { cases } = fail(run);
    expect(run.last("stepFailed").value).toMatchObject({ nextStepId, nextSource });
    expect(cases).toEqual(["stepFailed", nextStepId === "" ? "runCompleted" : "stepStarted"]);
    if (nextStepId !== "") expect(run.task.capability).toBe(`function:module.${nextStepId}`);
    expect(
      replayRun(run.events, true, { sha256: String, artifact: () => undefined }).mismatches.filter(({ path: at }) => at.startsWith("payload.next")),
    ).toEqual([]);
  });

  it.each<[string, Parameters<typeof functionStep>[1]]>([
    ["no rule of it is true", { next: [{ when: "state.steps.first.n == 2", goto: "other" }] }],
    ["a rule reads what the step did not put out", { next: [{ when: "state.steps.a.ok", goto: "other" }], nextDefault: "c" }],
  ])("fails the run where %s; resumed, the step is executed again", (_, options) => {
    const run = failing(options);
    expect(fail(run).cases).toEqual(["stepFailed", "runFailed"]);
    expect(run.last("runFailed").value.error?.reason).toBe("BRANCH_RESOLUTION");
    expect(run.must(resumeRun()).cases).toEqual(["runResumed", "stepStarted"]);
    expect(run.last("runResumed").value.stepIds).toEqual(["a"]);
    expect(run.task.capability).toBe("function:module.a");
    expect(run.return({ ok: true }).cases).toEqual(options?.nextDefault === undefined ? ["stepCompleted", "runFailed"] : ["stepCompleted", "stepStarted"]);
  });

  it("may lead back to a step that reads an artifact", () => {
    const steps = [
      functionStep("big"),
      functionStep("read", { inputs: { it: path("steps.big.v") } }),
      functionStep("a", { nextDefault: "b" }),
      functionStep("b", { inputs: { it: path("steps.nobody.v") }, nextDefault: "read" }),
      functionStep("nobody"),
    ];
    const run = runOf(workflow(steps, { onError: OnError.CONTINUE }), { artifacts: { large: JSON.stringify({ v: 7 }) } });
    run.must(returnedValue(run.key, artifact("large")));
    run.return(1);
    expect(run.return(1).cases).toEqual(["stepCompleted", "stepStarted", "stepFailed", "stepStarted"]);
    expect(run.task.task.kind.value).toMatchObject({ stepId: "read", input: { it: json(7) } });
  });

  it("is none where a history does not tell it: then it is the next in sequence", () => {
    const run = failing({ nextDefault: "c" });
    fail(run);
    const at = run.events.findIndex(({ payload }) => payload.case === "stepFailed");
    const event = run.events[at] as Event;
    if (event.payload.case !== "stepFailed") throw new Error("no failure");
    const old = { ...event, payload: { ...event.payload, value: { ...event.payload.value, nextStepId: "", nextSource: undefined } } };
    const before = run.events.slice(0, at).reduce((state, each) => run.decider.evolve(state, each), run.decider.initial());
    expect(allOf(run.decider.evolve(before, old).ready)).toEqual([3]);
    expect(allOf(run.decider.evolve(before, event).ready)).toEqual([4]);
  });
});
