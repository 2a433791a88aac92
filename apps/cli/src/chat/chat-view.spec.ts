import type { Event } from "@forge/protocol/event";
import { Role } from "@forge/protocol/session";
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
    expect(text).toBe(`› run ls\nI call\n⚙ tools.shell {"command":"${"x".repeat(32)}…\n  ✔ 5ms {"exit_code":0}\n■ cancelled\n`);
  });

  it("says why a turn ended where it did not reach its goal", () => {
    expect(show(eventOf({ case: "turnCompleted", value: { outcome: 4 } }))).toBe("■ ended: BUDGET_TOOL_CALLS\n");
    expect(show(eventOf({ case: "turnFailed", value: { error: { message: "the provider\nsays no" } } }))).toBe("✖ the provider says no\n");
  });
});
