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
const view = (isLive: boolean, columns = 80) => new RunView({ definition, style: PLAIN, isLive, columns: () => columns, hint: " --project p" });
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
