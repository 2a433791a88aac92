import { PlanStepStatus, TurnOutcome } from "@forge/protocol/session";
import { Decision } from "@forge/protocol/tool";
import { describe, expect, it } from "vitest";
import { answerWith, callPart, pendingApprovals, resolve, sessionInTurn, textPart } from "../../testing/session-fixture.ts";
import { sent } from "../../testing/told.ts";
import { sessionView } from "../view.ts";

const agent = { model: "demo/a", tools: ["tools.update_plan", "tools.auto_continue"] };
const PLAN = {
  plan: [
    { step: "Read.", status: "completed" },
    { step: "Write.", status: "in_progress" },
    { step: "Test.", status: "pending" },
  ],
  explanation: "Simple.",
};

const planPart = (plan: object = PLAN) => callPart("tools.update_plan", JSON.stringify(plan));

describe("tools.update_plan", () => {
  it("shows the plan to people, at once and without a worker", () => {
    const stream = sessionInTurn({ agent });
    const { cases } = answerWith(stream, [planPart()]);
    expect(cases).toEqual(["modelCompleted", "modelUsageRecorded", "toolRequested", "planUpdated", "toolCompleted", "modelRequested"]);
    const items = [
      { step: "Read.", status: PlanStepStatus.COMPLETED },
      { step: "Write.", status: PlanStepStatus.IN_PROGRESS },
      { step: "Test.", status: PlanStepStatus.PENDING },
    ];
    expect(sessionView(stream.state, stream.seq).plan).toMatchObject({ items, explanation: "Simple." });
    expect(sent(stream).at(-1)).toBe('tool: "The plan is shown to the person."');
    answerWith(stream, [planPart({ plan: [] })]);
    expect(sessionView(stream.state, stream.seq).plan?.items).toEqual([]);
  });

  it.each<[string, object]>([
    ["no plan", {}],
    ["a plan that is no list", { plan: "Read." }],
    ["a step that is no object", { plan: ["Read."] }],
    ["no status", { plan: [{ step: "Read." }] }],
    ["another status", { plan: [{ step: "Read.", status: "done" }] }],
    ["an empty step", { plan: [{ step: " ", status: "pending" }] }],
    ["a long step", { plan: [{ step: "x".repeat(257), status: "pending" }] }],
    ["too many steps", { plan: Array.from({ length: 65 }, () => ({ step: "a", status: "pending" })) }],
    ["a long explanation", { plan: [], explanation: "x".repeat(1_025) }],
    ["text that can't be kept", { plan: [{ step: "\u0000", status: "pending" }] }],
  ])("with %s is told what was expected", (_, plan) => {
    const stream = sessionInTurn({ agent });
    const { cases, events } = answerWith(stream, [planPart(plan)]);
    expect(cases).not.toContain("planUpdated");
    const failed = events.find(({ payload }) => payload.case === "toolFailed");
    expect(failed?.payload.value).toMatchObject({
      error: { reason: "INVALID_ARGUMENTS", message: expect.stringContaining("pending, in_progress and completed") },
    });
  });

  it("passes the gate like any tool", () => {
    const stream = sessionInTurn({ agent, policy: { rules: [{ tool: "tools.update_plan", decision: Decision.ASK }] } });
    expect(answerWith(stream, [planPart()]).cases).not.toContain("planUpdated");
    expect(stream.must(resolve(pendingApprovals(stream)[0] ?? "", Decision.ALLOW)).cases).toEqual([
      "approvalResolved",
      "planUpdated",
      "toolCompleted",
      "modelRequested",
    ]);
  });
});

describe("tools.auto_continue", () => {
  it("lets the model go on", () => {
    const stream = sessionInTurn({ agent });
    answerWith(stream, [textPart("Half of it."), callPart("tools.auto_continue", '{"reason":"The rest."}')]);
    expect(sent(stream).at(-1)).toMatch(/^tool: "Go on/);
    answerWith(stream, [textPart("All of it.")]);
    expect(stream.state.turn?.end?.outcome).toBe(TurnOutcome.TASK_COMPLETED);
  });
});
