import { create } from "@bufbuild/protobuf";
import { StreamKind } from "@forge/protocol/common";
import type { Event } from "@forge/protocol/event";
import { RunStatus, StepType, WorkflowDefinitionSchema } from "@forge/protocol/workflow";
import { describe, expect, it } from "vitest";
import { PLAIN } from "../output/style.ts";
import { widthOf } from "../output/text.ts";
import { eventOf } from "../testing/events.ts";
import { RunView } from "./run-view.ts";

const definition = create(WorkflowDefinitionSchema, { id: "w", version: "v1", steps: [{ id: "parse" }, { id: "judge" }] });
const view = (isLive: boolean, columns = 80) => new RunView({ runId: "r1", definition, style: PLAIN, isLive, columns: () => columns, hint: " --project p" });
const session = { stream: { kind: StreamKind.SESSION, id: "s1" } } as const;

const started = (stepId: string, stepType: StepType, atMs: number, attempt = 1): Event =>
  eventOf({ case: "stepStarted", value: { stepType, attempt } }, { stepId, atMs });
const text = (value: string, offset: bigint): Event => eventOf({ case: "turnOutputDelta", value: { offset, channel: { case: "text", value } } }, session);

describe("a run as plain lines", () => {
  it("tells each step's beginning and end, its time, cost and branch", () => {
    const shown = view(false);
    const lines = [
      started("parse", StepType.FUNCTION, 1_000),
      eventOf({ case: "stepCompleted", value: { nextStepId: "judge", nextSource: "sequence" } }, { stepId: "parse", atMs: 1_250 }),
      started("judge", StepType.AGENT, 1_250),
      eventOf({ case: "toolRequested", value: { tool: "tools.search", argumentsJson: '{"pattern":\n"x"}' } }, session),
      eventOf({ case: "stepCompleted", value: { nextStepId: "", nextSource: "default", usage: { costMicroUsd: 1_234n } } }, { stepId: "judge", atMs: 3_250 }),
      eventOf({ case: "runCompleted", value: {} }, { atMs: 3_250 }),
    ].flatMap((event) => shown.apply(event));
    expect(lines).toEqual([
      "  parse  function",
      "✔ parse  function    250ms",
      "  judge  agent",
      '    tools.search {"pattern": "x"}',
      "✔ judge  agent        2.0s  $0.0012  → end",
    ]);
    expect(shown.status).toBe(RunStatus.COMPLETED);
    expect(shown.hasEnded).toBe(true);
  });

  it("counts a step's time from its first attempt", () => {
    const shown = view(false);
    const lines = [
      started("parse", StepType.FUNCTION, 0),
      eventOf({ case: "stepAttemptFailed", value: { attempt: 1, error: { message: "no\nluck" } } }, { stepId: "parse" }),
      started("parse", StepType.FUNCTION, 900, 2),
      eventOf({ case: "stepFailed", value: { error: { message: "no luck again" } } }, { stepId: "parse", atMs: 1_500 }),
      eventOf({ case: "runFailed", value: {} }),
    ].flatMap((event) => shown.apply(event));
    expect(lines).toEqual(["  parse  function", "↻ parse  attempt 1 failed: no luck", "✖ parse  function     1.5s           no luck again"]);
    expect(shown.status).toBe(RunStatus.FAILED);
  });

  it("shows a call that waits for an answer whole, and how to answer", () => {
    const shown = view(false, 40);
    shown.apply(started("judge", StepType.AGENT, 0));
    const argumentsJson = JSON.stringify({ command: "echo ".repeat(30) });
    shown.apply(eventOf({ case: "toolRequested", value: { tool: "tools.shell", argumentsJson } }, session));
    expect(shown.apply(eventOf({ case: "toolApprovalRequired", value: { approvalId: "a1" } }, session))).toEqual([
      `? waits for an answer: tools.shell ${argumentsJson}`,
      "    npx forge approve s1 --project p   (or --deny)",
    ]);
  });
});

describe("a run on a terminal", () => {
  it("has the active step's time and, below, the end of what its agent writes", () => {
    const shown = view(true, 40);
    expect(shown.apply(started("judge", StepType.AGENT, 1_000))).toEqual([]);
    shown.apply(text("The login\u001B[2J page crashes because ", 0n));
    shown.apply(text("the session\nis gone", 38n));
    const [head, below] = shown.liveLines(3_500);
    expect(head?.slice(2)).toBe("judge  agent        2.5s");
    expect(below).toBe("    …rashes because the session is gone");
    expect(widthOf(below as string)).toBeLessThan(41);
    shown.apply(text("Anew", 0n));
    expect(shown.liveLines(3_500)[1]).toBe("    Anew");
  });

  it("shows nothing that moves once the run has ended", () => {
    const shown = view(true);
    shown.apply(started("judge", StepType.AGENT, 0));
    shown.apply(eventOf({ case: "runCancelRequested", value: {} }));
    expect(shown.liveLines(100)[0]).toContain("cancelling");
    expect(shown.apply(eventOf({ case: "runCancelled", value: {} }))).toEqual(["■ judge  cancelled"]);
    expect(shown.liveLines(100)).toEqual([]);
  });
});

describe("a run with several steps at once", () => {
  const definition = create(WorkflowDefinitionSchema, { id: "w", version: "v1", steps: [{ id: "left" }, { id: "right" }, { id: "each" }, { id: "wait" }] });
  const several = (isLive: boolean, rows = 24) => new RunView({ runId: "r1", definition, style: PLAIN, isLive, columns: () => 80, rows: () => rows, hint: "" });
  type Started = Extract<Parameters<typeof eventOf>[0], { case?: "stepStarted" }>["value"];
  const begin = (stepId: string, executionIndex: number, more: Started = {}): Event =>
    eventOf({ case: "stepStarted", value: { stepType: StepType.FUNCTION, attempt: 1, executionIndex, ...more } }, { stepId, atMs: executionIndex * 100 });
  const complete = (stepId: string, executionIndex: number): Event => eventOf({ case: "stepCompleted", value: { executionIndex } }, { stepId, atMs: 1_000 });
  const fail = (stepId: string, executionIndex: number): Event =>
    eventOf({ case: "stepFailed", value: { executionIndex, error: { message: "no" } } }, { stepId, atMs: 1_000 });

  it("tells each of them apart, also two executions of one step", () => {
    const shown = several(true);
    for (const event of [begin("left", 0), begin("right", 1), begin("left", 2)]) expect(shown.apply(event)).toEqual([]);
    expect(shown.liveLines(1_000).map((line) => line.slice(2).trim())).toEqual([
      "left   function     1.0s",
      "right  function     0.9s",
      "left   function     0.8s",
    ]);
    expect(shown.apply(complete("left", 0))[0]).toMatch(/^✔ left +function +1\.0s$/);
    expect(shown.liveLines(1_000)).toHaveLength(2);
    expect(shown.apply(fail("right", 1))[0]).toMatch(/^✖ right +function +900ms +no$/);
  });

  it("shows what each of two agents writes below its own step", () => {
    const shown = several(true);
    shown.apply(begin("left", 0, { sessionId: "s1" }));
    shown.apply(begin("right", 1, { sessionId: "s2" }));
    const write = (id: string, value: string): Event =>
      eventOf({ case: "turnOutputDelta", value: { offset: 0n, channel: { case: "text", value } } }, { stream: { kind: StreamKind.SESSION, id } });
    shown.apply(write("s2", "second"));
    shown.apply(write("s1", "first"));
    shown.apply(write("s9", "of nobody"));
    expect(shown.liveLines(0).filter((_, index) => index % 2 === 1)).toEqual(["    first", "    second"]);
  });

  it("never takes more lines than the terminal has, whatever is under way", () => {
    const shown = several(true, 10);
    shown.apply(begin("wait", 0, { stepType: StepType.WAIT, waitsForSignal: "paid" }));
    for (let index = 1; index <= 500; index++) shown.apply(begin("left", index));
    const lines = shown.liveLines(0);
    expect(lines).toHaveLength(6);
    expect(lines.at(-1)?.trim()).toBe("… and 496 more under way");
    expect(lines[0]).toContain("left");
    expect(several(true, 1).liveLines(0)).toEqual([]);
  });

  it("counts the items of a list, and gives a line of their own to those that fail", () => {
    const listed = create(WorkflowDefinitionSchema, { id: "w", version: "v1", steps: [{ id: "each", forEach: {} }] });
    const shown = new RunView({ runId: "r1", definition: listed, style: PLAIN, isLive: true, columns: () => 80, hint: "" });
    shown.apply(begin("each", 0, { itemCount: 3 }));
    for (const index of [0, 1, 2]) shown.apply(begin("each", index + 1, { groupIndex: 0, itemIndex: index }));
    expect(shown.apply(complete("each", 1))).toEqual([]);
    expect(shown.apply(fail("each", 3))[0]).toMatch(/^✖ each\[2\].* no$/);
    expect(shown.liveLines(1_000)[0]).toMatch(/each .*2\/3 1 failed$/);
    shown.apply(complete("each", 2));
    expect(shown.apply(complete("each", 0))[0]).toMatch(/^✔ each .*3 items, 1 failed$/);
    expect(shown.liveLines(1_000)).toEqual([]);
  });

  it("says what a step waits for and how to go on", () => {
    const shown = several(false);
    const lines = [
      begin("wait", 0, { stepType: StepType.WAIT, waitsForSignal: "paid" }),
      begin("wait", 1, { stepType: StepType.WAIT, approvalId: "a1", question: "Send it?" }),
      eventOf({ case: "stepSkipped", value: { reason: "need", need: "left" } }, { stepId: "right" }),
      eventOf({ case: "runPaused", value: {} }),
      eventOf({ case: "runResumed", value: { stepIds: ["left"] } }),
    ].flatMap((event) => shown.apply(event));
    expect(lines).toEqual([
      "  wait   wait  for the signal paid",
      "    npx forge signal r1 paid",
      "? waits for an answer: Send it?",
      "    npx forge approve r1   (or --deny)",
      "○ right  skipped: left did not complete",
      "‖ paused: no step begins before `npx forge continue r1`",
      "▸ resumed: executes left again",
    ]);
  });

  it("is not ended by the end of a run that it started", () => {
    const shown = several(true);
    shown.apply(begin("left", 0, { stepType: StepType.WORKFLOW, childRunId: "r2" }));
    const child = { stream: { kind: StreamKind.RUN, id: "r2" } } as const;
    shown.apply(eventOf({ case: "stepStarted", value: { stepType: StepType.FUNCTION, attempt: 1 } }, { ...child, stepId: "inner" }));
    expect(shown.liveLines(0)[1]).toBe("    inner of run r2");
    shown.apply(eventOf({ case: "stepFailed", value: {} }, { ...child, stepId: "left" }));
    shown.apply(eventOf({ case: "runFailed", value: {} }, child));
    expect(shown.hasEnded).toBe(false);
    expect(shown.liveLines(0)).toHaveLength(2);
  });
});
