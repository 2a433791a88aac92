import { Role } from "@forge/protocol/session";
import { ApprovalCategory, RiskLevel } from "@forge/protocol/tool";
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
    expect(state.approval).toEqual({ approvalId: "a1", toolCallId: "c1", tool: "tools.shell", argumentsJson: "{}", category: ApprovalCategory.EXECUTION });
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

  it("knows of a question what the call would do, its category and the arguments as they were edited", () => {
    const state = new ChatState();
    state.apply(eventOf({ case: "turnStarted", value: { tools: [{ name: "tools.patch", risk: RiskLevel.CHANGE }] } }, { turnId: "t1" }));
    state.apply(eventOf({ case: "toolRequested", value: { tool: "tools.patch", argumentsJson: "{}" } }, { toolCallId: "c1" }));
    state.apply(eventOf({ case: "toolPreviewed", value: { preview: { title: "edit a" } } }, { toolCallId: "c1" }));
    state.apply(eventOf({ case: "toolArgumentsEdited", value: { argumentsJson: '{"patch":""}' } }, { toolCallId: "c1" }));
    state.apply(asked("c1", "a1"));
    expect(state.approval).toMatchObject({ category: ApprovalCategory.CHANGES, argumentsJson: '{"patch":""}', preview: { title: "edit a" } });
  });

  it("knows what was said and where the session stood before, until it is rewound", () => {
    const state = new ChatState();
    const say = (text: string, seq: bigint, init: { ephemeral?: boolean } = {}) => {
      state.apply(eventOf({ case: "turnStarted", value: {} }, { turnId: text, seq }));
      state.apply(
        eventOf(
          { case: "messageAdded", value: { message: { role: Role.USER, parts: [{ kind: { case: "text", value: { text } } }], ...init } } },
          { turnId: text, seq: seq + 1n },
        ),
      );
      state.apply(eventOf({ case: "turnCompleted", value: {} }, { turnId: text, seq: seq + 5n }));
    };
    say("one", 2n);
    say("rules", 10n, { ephemeral: true });
    say("two", 20n);
    expect(state.messages).toEqual([
      { text: "one", throughSeq: 1n },
      { text: "two", throughSeq: 19n },
    ]);
    state.apply(eventOf({ case: "sessionRewound", value: { throughSeq: 19n, undoId: "u" } }));
    expect([state.messages.length, state.isDone("u")]).toEqual([1, true]);
  });

  it("asks for sub-agents as well, this session first, until the turn ends", () => {
    const state = new ChatState();
    state.apply(eventOf({ case: "turnStarted", value: {} }, { turnId: "t1" }));
    state.applyChild("child", requested("c9"));
    state.applyChild("child", asked("c9", "a9"));
    expect(state.approval).toMatchObject({ approvalId: "a9", childSessionId: "child" });
    state.applyChild("child", eventOf({ case: "turnInputRequested", value: { inputId: "i1" } }, { turnId: "t9", toolCallId: "c8" }));
    expect(state.question).toMatchObject({ inputId: "i1", turnId: "t9", childSessionId: "child" });
    state.apply(requested("c1"));
    state.apply(asked("c1", "a1"));
    expect([state.approval?.approvalId, state.approval?.childSessionId, state.isOpen("a9")]).toEqual(["a1", undefined, true]);
    state.apply(eventOf({ case: "turnCompleted", value: {} }, { turnId: "t1" }));
    expect([state.approval, state.question]).toEqual([undefined, undefined]);
  });
});
