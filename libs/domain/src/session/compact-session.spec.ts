import { Role } from "@forge/protocol/session";
import { describe, expect, it } from "vitest";
import { foldConversation } from "../conversation/fold-conversation.ts";
import { answerWith, closeSession, compactSession, newSession, type SessionStream, startTurn, textPart } from "../testing/session-fixture.ts";

function turn(stream: SessionStream, question: string, answer: string): { readonly first: number; readonly last: number } {
  const first = stream.seq + 1;
  stream.must(startTurn(question));
  answerWith(stream, [textPart(answer)]);
  return { first, last: stream.seq };
}

const texts = (stream: SessionStream) => foldConversation(stream.events).map(({ parts }) => (parts[0]?.kind.case === "text" ? parts[0].kind.value.text : ""));

const MARK = "[A summary of the conversation up to here, which it stands for]\n\n";

describe("a compaction", () => {
  it("lets a summary stand for all that was said, as a user's message that says what it is", () => {
    const stream = newSession();
    turn(stream, "One?", "One.");
    const { cases, events } = stream.must(compactSession("They spoke of one."));
    expect(cases).toEqual(["sessionCompacted"]);
    expect(events[0]?.payload.value).toMatchObject({ throughSeq: BigInt(stream.seq - 1) });
    turn(stream, "Two?", "Two.");
    expect(texts(stream)).toEqual([`${MARK}They spoke of one.`, "Two?", "Two."]);
    expect(foldConversation(stream.events)[0]?.role).toBe(Role.USER);
  });

  it("leaves the turns after its seq, and gives way to the next one", () => {
    const stream = newSession();
    const one = turn(stream, "One?", "One.");
    const two = turn(stream, "Two?", "Two.");
    turn(stream, "Three?", "Three.");
    stream.must(compactSession("First.", one.last));
    expect(texts(stream)).toEqual([`${MARK}First.`, "Two?", "Two.", "Three?", "Three."]);
    stream.must(compactSession("Second.", two.last));
    expect(texts(stream)).toEqual([`${MARK}Second.`, "Three?", "Three."]);
  });

  it("takes turns whole, and never less than the one before it", () => {
    const stream = newSession();
    const one = turn(stream, "One?", "One.");
    const two = turn(stream, "Two?", "Two.");
    for (const seq of [two.first, two.last - 1, stream.seq + 1]) {
      expect(stream.execute(compactSession("So.", seq)).rejection?.metadata.field).toBe("through_seq");
    }
    stream.must(compactSession("So.", two.first - 1));
    expect(stream.execute(compactSession("So.", one.first - 1)).rejection?.metadata.field).toBe("through_seq");
    stream.must(compactSession("So.", one.last));
  });

  it("looks back 64 turns, and no further", () => {
    const stream = newSession();
    const turns = Array.from({ length: 66 }, (_, index) => turn(stream, `${index}?`, "Yes."));
    expect(stream.state.spans).toHaveLength(64);
    expect(stream.execute(compactSession("So.", turns[0]?.last)).rejection?.message).toContain("before the last 64 turns");
    stream.must(compactSession("So.", turns[1]?.last));
  });

  it("is refused while a turn is active, after the session's end, and where it says nothing or too much", () => {
    const stream = newSession();
    for (const summary of [" ", "\0", "a".repeat(65_537)]) expect(stream.execute(compactSession(summary)).rejection?.metadata.field).toBe("summary");
    stream.must(startTurn());
    expect(stream.execute(compactSession()).rejection?.reason).toBe("TURN_ACTIVE");
    answerWith(stream, [textPart("Done.")]);
    stream.must(closeSession());
    expect(stream.execute(compactSession()).rejection?.reason).toBe("SESSION_CLOSED");
  });
});
