import { create } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { RunSchema, RunStatus, StepStatus } from "@forge/protocol/workflow";
import { describe, expect, it } from "vitest";
import { executed, json, loopingRun, readInline } from "../testing/runs.ts";
import { stateAt, stateHistory, stepStates, valuesOf } from "./state-history.ts";

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

  it("has the state before and after each execution", () => {
    const run = loopingRun();
    const states = Array.from(stepStates(run, readInline));
    expect(states.map(({ step }) => step.stepId)).toEqual(["draft", "review", "draft", "review", "send"]);
    for (const [index, { before, after }] of states.entries()) {
      expect(before).toEqual(stateAt(run, index, readInline));
      expect(after).toEqual(stateAt(run, index + 1, readInline));
    }
  });

  it("puts a list together from its items where it is too large to be kept as one value", () => {
    const run = create(RunSchema, {
      status: RunStatus.COMPLETED,
      steps: [
        executed({ stepId: "each", itemCount: 3 }, 0),
        executed({ stepId: "each", output: json("a"), groupIndex: 0, itemIndex: 0 }, 1),
        executed({ stepId: "each", status: StepStatus.FAILED, groupIndex: 0, itemIndex: 1 }, 2),
        executed({ stepId: "each", output: json("c"), groupIndex: 0, itemIndex: 2 }, 3),
      ],
    });
    expect(stateAt(run, 1, readInline)["steps"]).toEqual({ each: ["a", null, "c"] });
    expect(stateHistory(run, readInline).at(-1)?.changes).toEqual([{ marker: "+", path: "steps.each", after: ["a", null, "c"] }]);
    expect(Array.from(stepStates(run, readInline))[0]?.after?.["steps"]).toEqual({ each: ["a", null, "c"] });
  });

  it("counts steps that ran at once in the order in which they ended, and the items of a list with their list", () => {
    const at = (startMs: number, endMs: number) => ({ startedAt: timestampFromMs(startMs), finishedAt: timestampFromMs(endMs) });
    const run = create(RunSchema, {
      status: RunStatus.RUNNING,
      steps: [
        executed({ stepId: "slow", output: json("slow"), ...at(0, 50) }, 0),
        executed({ stepId: "fast", output: json("fast"), ...at(0, 10) }, 1),
        executed({ stepId: "each", output: json(["item"]), itemCount: 1, ...at(10, 30) }, 2),
        executed({ stepId: "each", output: json("item"), groupIndex: 2, itemIndex: 0, ...at(10, 30) }, 3),
        executed({ stepId: "last", status: StepStatus.RUNNING, startedAt: timestampFromMs(50), finishedAt: undefined }, 4),
      ],
    });
    expect(stateHistory(run, readInline).map(({ step }) => step?.stepId)).toEqual([undefined, "fast", "each", "slow"]);
    const seen = Array.from(stepStates(run, readInline)).map(({ before, after }) => [
      Object.keys(before["steps"] ?? {}),
      after && Object.keys(after["steps"] ?? {}),
    ]);
    expect(seen).toEqual([
      [[], ["fast", "each", "slow"]],
      [[], ["fast"]],
      [["fast"], ["fast", "each"]],
      [["fast"], ["fast"]],
      [["fast", "each", "slow"], undefined],
    ]);
  });

  it("names the values that it reads", () => {
    expect(valuesOf(loopingRun())).toHaveLength(6);
  });
});
