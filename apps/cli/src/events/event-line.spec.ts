import { StreamKind } from "@forge/protocol/common";
import { EventSchema } from "@forge/protocol/event";
import { describe, expect, it } from "vitest";
import { PLAIN } from "../output/style.ts";
import { widthOf } from "../output/text.ts";
import { eventOf } from "../testing/events.ts";
import { eventLine } from "./event-line.ts";
import { eventSummary } from "./event-summary.ts";

describe("event line", () => {
  const event = eventOf(
    { case: "toolRequested", value: { tool: "tools.shell", argumentsJson: '{"command":"ls\\n"}', decision: { decision: 2, source: "policy:default" } } },
    {
      seq: 12n,
      stream: { kind: StreamKind.SESSION, id: "11111111-1111-7111-8111-1111aaaabbbb" },
      stepId: "look",
      toolCallId: "22222222-2222-7222-8222-2222ccccdddd",
    },
  );

  it("has seq, time, kind, ids and what the event says", () => {
    const line = eventLine(event, { style: PLAIN, columns: undefined, namesStream: true });
    expect(line).toMatch(
      /^aaaabbbb {4}12 {2}\d\d:\d\d:\d\d\.\d{3} {2}tool\.requested {10}look call ccccdddd {2}tools\.shell \{"command":"ls\\n"\} \(ask by policy:default\)$/,
    );
  });

  it("is one line of the terminal", () => {
    expect(widthOf(eventLine(event, { style: PLAIN, columns: 72, namesStream: false }))).toBeLessThanOrEqual(72);
  });

  it("shows the envelope of a kind that this version does not know", () => {
    const unknown = eventOf({ case: "runStarted", value: {} }, { seq: 3n });
    unknown.payload = { case: undefined };
    unknown.kind = "future.happened";
    expect(eventLine(unknown, { style: PLAIN, columns: undefined, namesStream: false })).toMatch(/^ {4}3 {2}\S+ {2}future\.happened$/);
  });
});

describe("event summary", () => {
  it("says something of every payload that carries anything to say, and never throws on an empty one", () => {
    for (const field of EventSchema.oneofs[0]?.fields ?? []) {
      const empty = eventOf({ case: field.localName, value: {} } as Parameters<typeof eventOf>[0]);
      expect(typeof eventSummary(empty), field.name).toBe("string");
    }
  });

  it("puts what a tool printed on one line, without its escape sequences", () => {
    const output = { kind: { case: "json", value: '"a\\u001b"' } } as const;
    expect(eventSummary(eventOf({ case: "toolCompleted", value: { durationMs: 12n, output } }))).toBe('12ms "a\\u001b"');
    expect(eventSummary(eventOf({ case: "toolOutputDelta", value: { text: "a\u001B[31m\nb" } }))).toBe("a b");
  });
});
