import { OnError } from "@forge/protocol/workflow";
import { describe, expect, it } from "vitest";
import {
  artifact,
  cancelRun,
  functionStep,
  literal,
  path,
  RunStream,
  resumeRun,
  returned,
  returnedValue,
  runOf,
  SEARCH,
  taskCancelled,
  taskFailed,
  toolReturned,
  toolStep,
  workflow,
} from "./testing/run-fixture.ts";

describe("resuming a run", () => {
  it("executes the step that failed again, and none that has completed", () => {
    const run = runOf(workflow([functionStep("a"), functionStep("b", { inputs: { it: path("steps.a") } }), functionStep("c")]));
    run.must(returned(run.key, 1));
    run.must(taskFailed(run.key));
    expect(run.status).toBe("FAILED");
    const { cases, result } = run.must(resumeRun());
    expect(cases).toEqual(["runResumed", "stepStarted"]);
    expect(result).toMatchObject({ stepIds: ["b"] });
    expect(run.task.key).toBe("step:2:1");
    expect(run.open("b").input).toMatchObject({ it: { kind: { value: "1" } } });
    run.return(2);
    run.return(3);
    // The failure has been made good.
    expect(run.last("runCompleted").value.withErrors).toBe(false);
    expect(run.events.filter(({ payload, stepId }) => payload.case === "stepStarted" && stepId === "a")).toHaveLength(1);
  });

  it("looks for a branch again where none was found", () => {
    const steps = [functionStep("a", { next: [{ when: "state.steps.a.n > 3", goto: "b" }] }), functionStep("b")];
    const run = runOf(workflow(steps));
    run.must(returned(run.key, { n: 1 }));
    expect(run.must(resumeRun()).cases).toEqual(["runResumed", "runFailed"]);
    expect(run.last("runResumed").value.stepIds).toEqual([]);
  });

  it("fails again at once where a branch leads back without end", () => {
    const run = runOf(workflow([functionStep("spin", { nextDefault: "spin" })]));
    while (run.outstanding().length > 0) run.return(1);
    expect(run.must(resumeRun()).cases).toEqual(["runResumed", "runFailed"]);
    expect(run.last("runFailed").value.error).toMatchObject({ reason: "CIRCULAR_EXECUTION" });
  });

  it("opens in a graph what failed, what was stopped and what was passed over because of that", () => {
    const steps = [
      functionStep("done"),
      functionStep("no", { needs: ["done"], when: "false" }),
      functionStep("bad", { needs: ["done"] }),
      functionStep("stopped", { needs: ["done"] }),
      functionStep("after", { needs: ["bad", "stopped"] }),
      functionStep("never", { needs: ["no"] }),
    ];
    const run = runOf(workflow(steps));
    run.must(returned(run.keyOf("done"), 1));
    run.must(taskFailed(run.keyOf("bad")));
    run.must(taskCancelled(run.keyOf("stopped")));
    expect(run.must(resumeRun()).result).toMatchObject({ stepIds: ["bad", "stopped"] });
    expect(run.working).toEqual(["bad", "stopped"]);
    for (const id of ["bad", "stopped", "after"]) run.must(returned(run.keyOf(id), 1));
    expect(run.status).toBe("COMPLETED");
    const begun = run.events.flatMap(({ payload, stepId }) => (payload.case === "stepStarted" ? [stepId] : []));
    expect(begun).toEqual(["done", "bad", "stopped", "bad", "stopped", "after"]);
  });

  it("does not execute again what completed while the run was being stopped", () => {
    const run = runOf(workflow([functionStep("bad"), functionStep("slow"), functionStep("after", { needs: ["slow"] })]));
    run.must(taskFailed(run.keyOf("bad")));
    run.must(returned(run.keyOf("slow"), 1));
    expect(run.status).toBe("FAILED");
    expect(run.must(resumeRun()).result).toMatchObject({ stepIds: ["bad"] });
    expect(run.working).toEqual(["bad", "after"]);
  });

  it("executes a list again as a whole", () => {
    const run = runOf(workflow([functionStep("each", { forEach: { items: literal([1, 2]) } })]));
    run.must(returned(run.keyOf("each", 0), "12345678"));
    run.must(taskFailed(run.keyOf("each", 1)));
    run.must(resumeRun());
    expect(run.working).toEqual(["each.0", "each.1"]);
    for (const item of [0, 1]) run.must(returned(run.keyOf("each", item), 1));
    expect(run.status).toBe("COMPLETED");
  });

  it("can call the tool that was not there", () => {
    const run = runOf(workflow([toolStep("t", SEARCH.name)]));
    expect(run.last("runFailed").value.error).toMatchObject({ reason: "TOOL_NOT_FOUND" });
    const again = run.must(resumeRun());
    expect(again.cases).toEqual(["runResumed", "stepStarted", "stepFailed", "runFailed"]);
    expect(again.result).toMatchObject({ warnings: [expect.stringContaining(SEARCH.name)] });
    run.tools = [SEARCH];
    expect(run.must(resumeRun()).result).toMatchObject({ warnings: [] });
    run.must(toolReturned(run.key, 1));
    expect(run.status).toBe("COMPLETED");
  });

  it("reads what the step needs from the artifact store", () => {
    const run = runOf(workflow([functionStep("a"), functionStep("b", { inputs: { it: path("steps.a.v") } })]), { artifacts: { big: '{"v":7}' } });
    run.must(returnedValue(run.key, artifact("big")));
    run.must(taskFailed(run.key));
    run.must(resumeRun());
    expect(run.open("b").input).toMatchObject({ it: { kind: { value: "7" } } });
  });

  it("may go on as often as it fails, and be cancelled in between", () => {
    const run = runOf(workflow([functionStep("a")]));
    for (let round = 0; round < 3; round++) {
      run.must(taskFailed(run.key));
      expect(run.execute(cancelRun()).rejection).toMatchObject({ reason: "RUN_ENDED" });
      run.must(resumeRun());
    }
    run.must(cancelRun());
    run.must(taskCancelled(run.key));
    expect(run.execute(resumeRun()).rejection).toMatchObject({ reason: "RUN_NOT_FAILED" });
  });

  it("is refused where the workflow has changed, or the run has not failed or does not exist", () => {
    const run = runOf(workflow([functionStep("a")], { onError: OnError.CONTINUE }));
    expect(run.execute(resumeRun()).rejection).toMatchObject({ reason: "RUN_NOT_FAILED", message: expect.stringContaining("is RUNNING") });
    run.must(taskFailed(run.key));
    expect(run.execute(resumeRun()).rejection).toMatchObject({ reason: "RUN_NOT_FAILED", message: expect.stringContaining("COMPLETED_WITH_ERRORS") });
    expect(new RunStream().execute(resumeRun()).rejection).toMatchObject({ reason: "RUN_NOT_FOUND" });
    const failed = runOf(workflow([functionStep("a")]));
    failed.must(taskFailed(failed.key));
    expect(failed.execute(resumeRun("0".repeat(64))).rejection).toMatchObject({ reason: "WORKFLOW_INTEGRITY" });
    expect(failed.must(resumeRun(failed.state.workflowHash)).cases).toEqual(["runResumed", "stepStarted"]);
  });
});
