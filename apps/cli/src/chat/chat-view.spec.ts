import { create } from "@bufbuild/protobuf";
import type { Event } from "@forge/protocol/event";
import { PlanItemSchema, type PlanStepStatus, Role } from "@forge/protocol/session";
import { describe, expect, it } from "vitest";
import { PLAIN } from "../output/style.ts";
import { eventOf } from "../testing/events.ts";
import { ChatView } from "./chat-view.ts";

const show = (...events: readonly Event[]): string => {
  const view = new ChatView({ style: PLAIN, columns: () => 60 });
  return events.map((event) => view.apply(event)).join("");
};
const delta = (value: string, offset: number, epoch = 1, channel: "text" | "reasoning" = "text"): Event =>
  eventOf({ case: "turnOutputDelta", value: { offset: BigInt(offset), epoch, channel: { case: channel, value } } }, { modelCallId: "m1" });
const completed = (text: string, reasoning = ""): Event =>
  eventOf(
    { case: "modelCompleted", value: { parts: [{ kind: { case: "reasoning", value: { text: reasoning } } }, { kind: { case: "text", value: { text } } }] } },
    { modelCallId: "m1" },
  );

describe("a conversation", () => {
  it("streams an answer and adds only what of it had not been seen", () => {
    expect(show(delta("Hel", 0), delta("lo", 3), completed("Hello, world"))).toBe("Hello, world\n");
  });

  it("shows an answer whole whose pieces were pruned", () => {
    expect(show(completed("Hello\nworld\n"))).toBe("Hello\nworld\n");
  });

  it("begins anew when another attempt does", () => {
    expect(show(delta("Hel", 0, 1), delta("Good", 0, 2), completed("Good day"))).toBe("Hel\nGood day\n");
  });

  it("shows an answer whole that is not what was streamed", () => {
    expect(show(delta("Hel", 0), completed("Good day"))).toBe("Hel\nGood day\n");
  });

  it("ends the thought that a person has begun to read before the answer begins", () => {
    expect(show(delta("Let me th", 0, 1, "reasoning"), completed("Done", "Let me think"))).toBe("Let me think\nDone\n");
    expect(show(completed("Done", "Let me think"))).toBe("Done\n");
  });

  it("has a line for a person's words, each call and each result", () => {
    const text = show(
      eventOf({ case: "messageAdded", value: { message: { role: Role.USER, parts: [{ kind: { case: "text", value: { text: "run\u001B[2J ls" } } }] } } }),
      delta("I call", 0),
      eventOf({ case: "toolRequested", value: { tool: "tools.shell", argumentsJson: JSON.stringify({ command: "x".repeat(100) }) } }),
      eventOf({ case: "toolCompleted", value: { durationMs: 5n, output: { kind: { case: "json", value: '{"exit_code":0}' } } } }),
      eventOf({ case: "turnCancelled", value: {} }),
    );
    expect(text).toBe(`› run ls\nI call\n⚙ tools.shell ${"x".repeat(44)}…\n  ✔ 5ms exit code 0\n■ cancelled\n`);
  });

  it("says why a turn ended where it did not reach its goal", () => {
    expect(show(eventOf({ case: "turnCompleted", value: { outcome: 4 } }))).toBe("■ ended: BUDGET_TOOL_CALLS\n");
    expect(show(eventOf({ case: "turnFailed", value: { error: { message: "the provider\nsays no" } } }))).toBe("✖ the provider says no\n");
  });

  it("shows what a call would change, bounded, and what it did change", () => {
    const diff = `--- a/x\n+++ b/x\n@@ -1,1 +1,60 @@\n-old\n${"+new\n".repeat(60)}`;
    const text = show(
      eventOf({ case: "toolRequested", value: { tool: "tools.patch", argumentsJson: JSON.stringify({ patch: diff }) } }, { toolCallId: "c" }),
      eventOf({ case: "toolPreviewed", value: { preview: { title: "edit x (+60 -1)", diff } } }, { toolCallId: "c" }),
      eventOf(
        { case: "toolArgumentsEdited", value: { argumentsJson: JSON.stringify({ edits: [{ path: "y", search: "a", replace: "b" }] }), editedBy: "anna" } },
        { toolCallId: "c" },
      ),
      eventOf(
        {
          case: "workspaceChangeRecorded",
          value: {
            files: [
              { path: "x", beforeSha256: "1", afterSha256: "2", addedLines: 60, removedLines: 1 },
              { path: "n", afterSha256: "2" },
            ],
            notUndoable: ["2 ignored files"],
          },
        },
        { toolCallId: "c" },
      ),
    );
    const lines = text.split("\n");
    expect(lines.slice(0, 5)).toEqual(["⚙ tools.patch x", "  --- a/x", "  +++ b/x", "  @@ -1,1 +1,60 @@", "  -old"]);
    expect(lines.slice(40)).toEqual([
      "  +new",
      "  … 24 more lines",
      "  ✎ changed by anna: tools.patch y",
      "  ± x +60 -1",
      "  ± n new",
      "  can't be undone: 2 ignored files",
      "",
    ]);
  });

  it("shows a plan as a checklist, and then what of it has changed", () => {
    const plan = (...statuses: readonly PlanStepStatus[]) =>
      eventOf({ case: "planUpdated", value: { plan: { items: statuses.map((status, index) => create(PlanItemSchema, { step: `step ${index}`, status })) } } });
    expect(show(plan(2, 1), plan(3, 2), plan(3, 2))).toBe("Plan 0/2\n  ▸ step 0\n  ○ step 1\nPlan 1/2\n  ✔ step 0\n  ▸ step 1\n");
  });

  it("shows the end of what a failed check printed", () => {
    const output = { kind: { case: "json" as const, value: JSON.stringify({ exit_code: 1, stdout: "ok 1\nnot ok 2\n" }) } };
    const text = show(
      eventOf({ case: "toolRequested", value: { tool: "tools.test", argumentsJson: '{"profile":"unit"}' } }, { toolCallId: "c" }),
      eventOf({ case: "toolCompleted", value: { durationMs: 1200n, output } }, { toolCallId: "c" }),
    );
    expect(text).toBe('⚙ tools.test {"profile":"unit"}\n  ✖ 1.2s exit code 1\n    ok 1\n    not ok 2\n');
  });

  it("tells what a turn took and cost, where its context came from, and what was undone", () => {
    const usage = { inputTokens: 2000n, outputTokens: 100n, cachedInputTokens: 1000n, costMicroUsd: 12_300n };
    const text = show(
      eventOf({ case: "turnStarted", value: { contextSources: ["AGENTS.md"] } }, { atMs: 1_000 }),
      eventOf({
        case: "messageAdded",
        value: { message: { role: Role.USER, ephemeral: true, parts: [{ kind: { case: "text", value: { text: "rules" } } }] } },
      }),
      eventOf({ case: "turnCompleted", value: { outcome: 1, usage } }, { atMs: 3_500 }),
      eventOf({ case: "workspaceChangeUndone", value: { changeIds: ["1"], refused: [{ path: "b.ts", reason: "was changed since" }] } }),
      eventOf({ case: "sessionPolicyUpdated", value: { policy: { mode: 1 }, grantsRevoked: true } }),
    );
    expect(text).toBe(
      "Context: AGENTS.md\n2.5s, 2.0k/100 tokens (50 % of the input cached), $0.0123\n↶ 1 change was taken back\n✖ b.ts was changed since\nMode: plan\nWhat was granted holds no more.\n",
    );
  });
});
