import { OnError } from "@forge/protocol/workflow";
import { describe, expect, it } from "vitest";
import { artifact, functionStep, returnedValue, runOf, workflow } from "./testing/run-fixture.ts";

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
