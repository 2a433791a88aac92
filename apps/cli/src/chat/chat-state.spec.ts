import { describe, expect, it } from "vitest";
import { eventOf } from "../testing/events.ts";
import { ChatState } from "./chat-state.ts";

const requested = (toolCallId: string) => eventOf({ case: "toolRequested", value: { tool: "tools.shell", argumentsJson: "{}" } }, { toolCallId });
const asked = (toolCallId: string, approvalId: string) => eventOf({ case: "toolApprovalRequired", value: { approvalId } }, { toolCallId });

describe("chat state", () => {
  it("knows the active turn and how the last one ended", () => {
    const state = new ChatState();
    state.apply(eventOf({ case: "turnStarted", value: {} }, { turnId: "t1" }));
    expect(state.activeTurnId).toBe("t1");
    state.apply(eventOf({ case: "turnFailed", value: {} }, { turnId: "t1" }));
    expect([state.activeTurnId, state.lastEnd]).toEqual([undefined, "turn.failed"]);
  });

  it("has the oldest question first, and forgets those that are answered, cancelled or over with their turn", () => {
    const state = new ChatState();
    for (const [call, approval] of [
      ["c1", "a1"],
      ["c2", "a2"],
      ["c3", "a3"],
    ] as const) {
      state.apply(requested(call));
      state.apply(asked(call, approval));
    }
    expect(state.approval).toEqual({ approvalId: "a1", toolCallId: "c1", tool: "tools.shell", argumentsJson: "{}" });
    state.apply(eventOf({ case: "approvalResolved", value: { approvalId: "a1" } }));
    expect(state.approval?.approvalId).toBe("a2");
    state.apply(eventOf({ case: "toolCancelled", value: {} }, { toolCallId: "c2" }));
    expect(state.approval?.approvalId).toBe("a3");
    state.apply(eventOf({ case: "turnCancelled", value: {} }));
    expect(state.approval).toBeUndefined();
  });

  it("wakes whoever waits for a change", async () => {
    const state = new ChatState();
    const changed = state.changed();
    state.apply(eventOf({ case: "turnStarted", value: {} }, { turnId: "t1" }));
    await changed;
    const next = state.changed();
    state.caughtUp();
    await next;
    expect(state.isCaughtUp).toBe(true);
  });
});
