import { create } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { ErrorCode } from "@forge/protocol/common";
import { RunSchema, RunStatus, type StepExecution, StepStatus } from "@forge/protocol/workflow";
import { describe, expect, it } from "vitest";
import { executed, graphRun, json, loopingRun, readInline, START_MS } from "../testing/runs.ts";
import { runGraph } from "./run-graph.ts";
import { runPage } from "./run-page.ts";
import { timeline } from "./timeline.ts";

describe("the graph of a run", () => {
  it("has every step, and every way with how often it was taken", () => {
    const { nodes, edges } = runGraph(loopingRun());
    expect(nodes.map(({ id, type, executions }) => `${id} ${type} ${executions.length}`)).toEqual([
      "draft function 2",
      "review agent 2",
      "never tool 0",
      "send tool 1",
    ]);
    expect(edges.map(({ from, to, source, taken }) => `${from} ${to} ${source} ${taken}`)).toEqual([
      "draft review sequence 2",
      "review draft rule:0 1",
      "review send default 1",
      "never send sequence 0",
      "send end sequence 1",
    ]);
  });

  it("shows where a run went on after a step that failed", () => {
    const run = create(RunSchema, {
      definition: {
        steps: [
          { id: "a", kind: { case: "function", value: {} }, next: [{ when: "true", goto: "end" }] },
          { id: "b", kind: { case: "function", value: {} } },
        ],
      },
      steps: [executed({ stepId: "a", status: StepStatus.FAILED }, 0), executed({ stepId: "b", nextSource: "end" }, 1)],
    });
    expect(runGraph(run).edges.filter(({ taken }) => taken > 0)).toMatchObject([
      { from: "a", to: "b", source: "sequence" },
      { from: "b", to: "end", source: "sequence" },
    ]);
  });
});

describe("the graph of a run whose steps need each other", () => {
  it("has a way for each need, and one node for all items of a list", () => {
    const { nodes, edges, isGraph } = runGraph(graphRun());
    expect(isGraph).toBe(true);
    expect(nodes.map(({ id, type, executions, items }) => `${id} ${type} ${executions.length} ${items.length}`)).toEqual([
      "list function 1 0",
      "notes function 1 0",
      "check function 1 4",
      "translate function 1 0",
      "approve wait 1 0",
      "publish workflow 0 0",
    ]);
    expect(edges.filter(({ taken }) => taken > 0).map(({ from, to }) => `${from} ${to}`)).toEqual(["list check", "notes approve", "list approve"]);
    expect(edges.at(-1)).toMatchObject({ from: "publish", to: "end", source: "needs", taken: 0 });
  });

  it("says on the page how items ended, what waits and what was skipped", () => {
    const page = runPage(graphRun(), readInline, START_MS + 10_000);
    for (const text of [
      "3 of 4 items, 1 failed, 1.0 s to 5.0 s",
      "for signal approved, until 2027-",
      "skipped: when is false",
      "not reached",
      "4, 4 items, 1 skipped",
      "if state.inputs.version.endswith",
    ])
      expect(page).toContain(text.replaceAll("'", "&#39;"));
    expect(page).toContain("[1] failed 4.0 s");
    expect(page).toContain("$0.000400");
  });

  it("of a list of thousands stays a page that opens", () => {
    const run = graphRun();
    const [first] = run.steps.filter(({ groupIndex }) => groupIndex !== undefined);
    run.steps.push(...Array.from({ length: 9_000 }, (_, index) => ({ ...(first as StepExecution), itemIndex: 4 + index, executionIndex: 100 + index })));
    const page = runPage(run, readInline, START_MS + 10_000);
    expect(page).toContain("… 8804 more items");
    expect(page.length).toBeLessThan(200_000);
  });
});

it("a run whose last step failed and was passed over ends in its graph as well", () => {
  const run = create(RunSchema, {
    status: RunStatus.COMPLETED_WITH_ERRORS,
    definition: { steps: [{ id: "a", kind: { case: "function", value: {} } }] },
    steps: [executed({ stepId: "a", status: StepStatus.FAILED }, 0)],
  });
  expect(runGraph(run).edges).toMatchObject([{ from: "a", to: "end", taken: 1 }]);
  expect(runGraph(create(RunSchema, { ...run, status: RunStatus.FAILED })).edges).toMatchObject([{ to: "end", taken: 0 }]);
});

describe("the timeline of a run", () => {
  it("counts from its start, and to now for what runs still", () => {
    const run = create(RunSchema, {
      createdAt: timestampFromMs(START_MS),
      steps: [executed({ stepId: "a" }, 0), executed({ stepId: "b", finishedAt: undefined, status: StepStatus.RUNNING }, 1)],
    });
    const { bars, totalMs } = timeline(run, START_MS + 4_000);
    expect(bars.map(({ fromMs, toMs }) => [fromMs, toMs])).toEqual([
      [0, 1_000],
      [1_000, 4_000],
    ]);
    expect(totalMs).toBe(4_000);
    expect(timeline(graphRun(), START_MS).bars.map(({ label }) => label)).toEqual([
      "list",
      "notes",
      "check",
      "check [0]",
      "check [1]",
      "check [2]",
      "check [3]",
      "approve",
    ]);
    expect(timeline(create(RunSchema), START_MS)).toEqual({ bars: [], totalMs: 1 });
  });
});

describe("the page of a run", () => {
  it("shows its steps, what they changed and what they cost, and asks for nothing from elsewhere", () => {
    const page = runPage(loopingRun(), readInline, START_MS + 5_000);
    expect(page).toContain("<h1>letters@v2");
    expect(page).toContain("state.steps.review.again");
    expect(page).toContain("steps.draft.words");
    expect(page).toContain("$0.001500");
    expect(runPage(create(RunSchema, { createdAt: timestampFromMs(START_MS) }), readInline, START_MS + 119_700)).toContain("2 min 0 s");
    expect(page).not.toMatch(/<script|src=|href=|url\((?!#)|@import/i);
    expect(page).toContain("default-src 'none'");
  });

  it("shows what a run brings as text, whatever it is", () => {
    const hostile = `</title></style><script>alert(1)</script><img src=x onerror=alert(1)>"'\u0000\u001b[31m&amp;`;
    const run = create(RunSchema, {
      runId: hostile,
      workflowId: hostile,
      status: RunStatus.FAILED,
      error: { code: ErrorCode.INTERNAL, reason: hostile, message: hostile },
      inputs: json({ [hostile]: hostile }),
      definition: { steps: [{ id: hostile, kind: { case: "function", value: { name: hostile } }, next: [{ when: hostile, goto: hostile }] }] },
      steps: [executed({ stepId: hostile, output: json(hostile), error: { message: hostile }, nextSource: "rule:0", nextStepId: hostile }, 0)],
    });
    const page = runPage(run, readInline, START_MS);
    expect(page).not.toMatch(/<script|<img/i);
    expect(page.match(/<\/title>/g)).toHaveLength(1 + 2);
    // oxlint-disable-next-line no-control-regex -- they are what must not be there
    expect(page).not.toMatch(/[\u0000-\u0008\u001b]/);
    expect(page.length).toBeLessThan(40_000);
  });
});
