import { create } from "@bufbuild/protobuf";
import { type Part, StartTurnRequestSchema } from "@forge/protocol/session";
import { describe, expect, it } from "vitest";
import { answerWith, newSession, SESSION_ID, startTurn, textPart } from "../testing/session-fixture.ts";
import { sent } from "../testing/told.ts";

const startWith = (context: Part[], contextSources: string[] = []) =>
  create(StartTurnRequestSchema, { sessionId: SESSION_ID, input: [textPart("Hello.")], context, contextSources });

describe("what the host puts before a turn", () => {
  it("is read before the input, in this turn only, and its sources are on record", () => {
    const stream = newSession();
    const { events } = stream.must(startWith([textPart("Use tabs."), textPart("a.ts: 1")], ["AGENTS.md", "a.ts"]));
    expect(events[0]?.payload.value).toMatchObject({ contextSources: ["AGENTS.md", "a.ts"] });
    expect(sent(stream)).toEqual(["user: Use tabs. | a.ts: 1", "user: Hello."]);
    answerWith(stream, [textPart("Hi.")]);
    stream.must(startTurn("Next."));
    expect(sent(stream)).toEqual(["user: Hello.", "assistant: Hi.", "user: Next."]);
  });

  it("is kept in messages that hold no more than a person's", () => {
    const stream = newSession();
    const part = textPart("x".repeat(40_000));
    const { cases } = stream.must(startWith([part, part, textPart("y"), part]));
    expect(cases.filter((name) => name === "messageAdded")).toHaveLength(4);
    expect(sent(stream).map((line) => line.length)).toEqual([40_006, 40_010, 40_006, 12]);
  });

  it("has bounds", () => {
    const field = (parts: Part[], sources?: string[]) => newSession().execute(startWith(parts, sources)).rejection?.metadata["field"];
    expect(field([textPart("x".repeat(65_537))])).toBe("context[0].text");
    expect(field(Array.from({ length: 5 }, () => textPart("x".repeat(60_000))))).toBe("context");
    expect(field([textPart("\u0000")])).toBe("context[0].text");
    expect(field(Array.from({ length: 129 }, () => textPart("x")))).toBe("context");
    expect(
      field(
        [],
        Array.from({ length: 257 }, () => "a"),
      ),
    ).toBe("context_sources");
    expect(field([], ["x".repeat(1_025)])).toBe("context_sources[0]");
    expect(newSession().execute(startWith([])).rejection).toBeUndefined();
  });
});
