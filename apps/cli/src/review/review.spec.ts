import { StreamKind } from "@forge/protocol/common";
import { Role } from "@forge/protocol/session";
import { ApprovalCategory } from "@forge/protocol/tool";
import { describe, expect, it } from "vitest";
import { eventOf } from "../testing/events.ts";
import { buildReview } from "./build-review.ts";
import { reviewMarkdown } from "./review-markdown.ts";

const turn = { turnId: "t1" };
const call = (toolCallId: string) => ({ turnId: "t1", toolCallId });
const EVENTS = [
  eventOf(
    { case: "sessionCreated", value: { agent: { model: "demo/chat" }, policy: { mode: 2 } } },
    { stream: { kind: StreamKind.SESSION, id: "s1" } as never },
  ),
  eventOf({ case: "turnStarted", value: { contextSources: ["AGENTS.md"], tools: [{ name: "tools.test", category: ApprovalCategory.EVIDENCE }] } }, turn),
  eventOf({ case: "messageAdded", value: { message: { role: Role.USER, parts: [{ kind: { case: "text", value: { text: "mend it" } } }] } } }, turn),
  eventOf({ case: "planUpdated", value: { plan: { items: [{ step: "look", status: 3 }] } } }, turn),
  eventOf({ case: "toolRequested", value: { tool: "tools.patch", argumentsJson: "{}", decision: { source: "policy:default" } } }, call("c1")),
  eventOf({ case: "toolPreviewed", value: { preview: { title: "edit a.ts (+1 -1)", diff: "--- a\n+++ b\n@@ -1,1 +1,1 @@\n-x\n+```\n" } } }, call("c1")),
  eventOf({ case: "approvalResolved", value: { decision: { source: "approval:1", decidedBy: "anna" }, comment: "good" } }, call("c1")),
  eventOf(
    {
      case: "workspaceChangeRecorded",
      value: { changeId: "w1", files: [{ path: "a.ts", beforeSha256: "1", afterSha256: "2", addedLines: 1, removedLines: 1 }] },
    },
    call("c1"),
  ),
  eventOf({ case: "toolCompleted", value: { durationMs: 5n } }, call("c1")),
  eventOf({ case: "toolRequested", value: { tool: "tools.test", argumentsJson: '{"profile":"unit"}' } }, call("c2")),
  eventOf({ case: "toolCompleted", value: { durationMs: 9n, output: { kind: { case: "json", value: '{"exit_code":1}' } } } }, call("c2")),
  eventOf({ case: "hookFailed", value: { hook: "lint", at: 3, error: { message: "too slow" } } }, turn),
  eventOf({ case: "modelCompleted", value: { parts: [{ kind: { case: "text", value: { text: "Done.\n# not a title" } } }] } }, turn),
  eventOf({ case: "turnCompleted", value: { outcome: 1, usage: { inputTokens: 10n, outputTokens: 2n, costMicroUsd: 500n } } }, turn),
  eventOf({ case: "workspaceChangeUndone", value: { changeIds: ["w1"] } }),
];

describe("a review", () => {
  it("has what was asked, planned, changed, run and proven, and who allowed it", () => {
    const review = buildReview(EVENTS);
    expect(review.session).toMatchObject({ id: "s1", model: "demo/chat", mode: "act" });
    expect(review.turns).toHaveLength(1);
    expect(review.turns[0]).toMatchObject({
      asked: "mend it",
      context: ["AGENTS.md"],
      planned: [{ step: "look", status: "completed" }],
      outcome: "TASK_COMPLETED",
    });
    expect(review.turns[0]?.calls).toMatchObject([
      { tool: "tools.patch", what: "edit a.ts (+1 -1)", outcome: "completed", decided: "approval:1", decided_by: "anna", comment: "good", is_evidence: false },
      { tool: "tools.test", outcome: "completed", exit_code: 1, is_evidence: true },
    ]);
    expect(review.changes).toMatchObject([{ id: "w1", undone: true, diff: expect.stringContaining("+```") }]);
    expect(review.usage).toEqual({ input_tokens: 10, output_tokens: 2, cached_input_tokens: 0, cost_usd: 0.0005 });
  });

  it("is Markdown that nothing in it breaks out of", () => {
    const text = reviewMarkdown(buildReview(EVENTS));
    expect(text).toContain("> # not a title");
    expect(text).toContain("````diff\n--- a");
    expect(text).toContain('- `tools.test {"profile":"unit"}`: completed, exit code 1, 9 ms');
    expect(text).toContain("- lint at POST_LLM: failed, too slow");
    expect(text).not.toMatch(/^# not a title/m);
  });

  it("is bounded, and says what it left out", () => {
    const long = [
      ...EVENTS.slice(0, 2),
      ...Array.from({ length: 3_000 }, (_, index) =>
        eventOf({ case: "toolRequested", value: { tool: "t", argumentsJson: "x".repeat(50_000) } }, call(`c${index}`)),
      ),
    ];
    const review = buildReview(long);
    expect(review.omitted.calls).toBe(1_000);
    expect(review.turns[0]?.calls[0]?.what.length).toBeLessThan(9_000);
    expect(reviewMarkdown(review)).toContain("1000 calls");
  });
});
