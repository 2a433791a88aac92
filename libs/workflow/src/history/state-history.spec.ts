import { create } from "@bufbuild/protobuf";
import { RunSchema, RunStatus, StepStatus } from "@forge/protocol/workflow";
import { describe, expect, it } from "vitest";
import { executed, json, loopingRun, readInline } from "../testing/runs.ts";
import { stateAt, stateHistory, valuesOf } from "./state-history.ts";

describe("the history of a run's state", () => {
  it("has a version for the start and one for each execution that ended, each with what it changed", () => {
    const versions = stateHistory(loopingRun(), readInline);
    expect(versions.map(({ version, step }) => `${version} ${step?.stepId ?? "start"}`)).toEqual([
      "0 start",
      "1 draft",
      "2 review",
      "3 draft",
      "4 review",
      "5 send",
    ]);
    expect(versions[1]?.changes).toEqual([{ marker: "+", path: "steps.draft", after: { text: "a", words: 1 } }]);
    expect(versions[3]?.changes).toEqual([
      { marker: "~", path: "steps.draft.text", before: "a", after: "a b" },
      { marker: "~", path: "steps.draft.words", before: 1, after: 2 },
    ]);
  });

  it("adds up to the state at every version", () => {
    const run = loopingRun();
    expect(stateAt(run, 0, readInline)).toEqual({
      inputs: { to: "Ada" },
      steps: {},
      runtime: { run_id: run.runId, workflow_id: "letters", workflow_version: "v2" },
    });
    expect(stateAt(run, 3, readInline)["steps"]).toEqual({ draft: { text: "a b", words: 2 }, review: { again: true } });
    expect(stateAt(run, 99, readInline)).toEqual(stateAt(run, 5, readInline));
  });

  it("loses the output of a step that failed when it ran again, and knows nothing of one that runs still", () => {
    const run = create(RunSchema, {
      status: RunStatus.RUNNING,
      steps: [
        executed({ stepId: "a", output: json(1) }, 0),
        executed({ stepId: "a", status: StepStatus.FAILED }, 1),
        executed({ stepId: "b", status: StepStatus.RUNNING, finishedAt: undefined }, 2),
      ],
    });
    const versions = stateHistory(run, readInline);
    expect(versions.map(({ changes }) => changes.map(({ marker, path }) => `${marker} ${path}`)).slice(1)).toEqual([["+ steps.a"], ["- steps.a"]]);
  });

  it("names the values that it reads", () => {
    expect(valuesOf(loopingRun())).toHaveLength(6);
  });
});
