import { create } from "@bufbuild/protobuf";
import { type Event, EventSchema, FinishReason, MessageAddedSchema } from "@forge/protocol/event";
import { type Message, MessageSchema, Role } from "@forge/protocol/session";
import { Decision } from "@forge/protocol/tool";
import { TaskCancelledSchema, ToolResultSchema } from "@forge/protocol/worker";
import { describe, expect, it } from "vitest";
import {
  ALLOW_ALL,
  abandonTurn,
  answerWith,
  callPart,
  cancelTurn,
  failure,
  fired,
  lost,
  modelTask,
  pendingApprovals,
  READ,
  reportedLate,
  resolve,
  runTool,
  SEARCH,
  type SessionStream,
  SHELL,
  sessionInTurn,
  settled,
  started,
  startTurn,
  textPart,
  toolResult,
  toolTask,
  turnIdOf,
  WRITE,
} from "../testing/session-fixture.ts";
import { conversationFaults } from "../testing/well-formed.ts";
import { foldConversation } from "./fold-conversation.ts";

/** Each message as one line: whose it is, and what its parts say. */
function lines(messages: readonly Message[]): string[] {
  const names = { [Role.USER]: "user", [Role.ASSISTANT]: "assistant", [Role.TOOL]: "tool" } as Readonly<Record<number, string>>;
  return messages.map((message) => {
    const parts = message.parts.map(({ kind }) => {
      if (kind.case === "text" || kind.case === "reasoning") return kind.value.text;
      if (kind.case === "toolCall") return `call ${kind.value.tool}`;
      return kind.case === "toolResult" ? `${kind.value.isError ? "error" : "result"} of ${kind.value.tool}: ${kind.value.output}` : String(kind.case);
    });
    return `${names[message.role]}: ${parts.join(" | ")}`;
  });
}

const told = (stream: SessionStream) => lines(foldConversation(stream.events));

describe("the conversation", () => {
  it("is what the person said, what the model answered and what tools returned", () => {
    const stream = sessionInTurn({ policy: ALLOW_ALL });
    answerWith(stream, [textPart("Let me look."), callPart(READ.name, '{"path":"a"}', "p1")]);
    runTool(stream, READ.name, '{"text":"A"}');
    answerWith(stream, [textPart("It says A.")]);
    stream.must(startTurn("Thanks."));
    const messages = foldConversation(stream.events);
    expect(lines(messages)).toEqual([
      "user: Hello.",
      `assistant: Let me look. | call ${READ.name}`,
      `tool: result of ${READ.name}: {"text":"A"}`,
      "assistant: It says A.",
      "user: Thanks.",
    ]);
    const seqOf = (payloadCase: string) => stream.events.find((event) => event.payload.case === payloadCase)?.seq;
    expect(messages.slice(0, 3).map((message) => message.seq)).toEqual([seqOf("messageAdded"), seqOf("modelCompleted"), seqOf("toolCompleted")]);
    expect(messages[2]?.parts[0]?.kind.value).toMatchObject({ providerCallId: "p1", isError: false });
    expect(new Set(messages.slice(0, 4).map((message) => message.turnId)).size).toBe(1);
  });

  it("has the results in the order of the calls, whatever order they came in", () => {
    const stream = sessionInTurn({ policy: ALLOW_ALL });
    answerWith(stream, [callPart(READ.name), callPart(SEARCH.name)]);
    runTool(stream, SEARCH.name, "2");
    runTool(stream, READ.name, "1");
    expect(told(stream).at(-1)).toBe(`tool: result of ${READ.name}: 1 | result of ${SEARCH.name}: 2`);
  });

  it("tells an output that lives in the artifact store by its beginning, and keeps the reference", () => {
    const stream = sessionInTurn();
    answerWith(stream, [callPart(READ.name)]);
    const artifact = { sha256: "a".repeat(64), size: 70_000n, mediaType: "application/json", preview: '{"lines":[' };
    stream.must(
      settled(toolTask(stream, READ.name), {
        case: "tool",
        value: create(ToolResultSchema, { output: { kind: { case: "artifact", value: { $typeName: "forge.common.v1.ArtifactRef", ...artifact } } } }),
      }),
    );
    const [result] = foldConversation(stream.events).at(-1)?.parts ?? [];
    expect(result?.kind.value).toMatchObject({ artifact, isError: false, output: expect.stringContaining('{"lines":[\n[the beginning of 70000 bytes') });
  });
});

describe("a call whose arguments a person changed", () => {
  it("tells the model so with its result, and leaves what the model said as it was", () => {
    const stream = sessionInTurn();
    answerWith(stream, [callPart(WRITE.name, '{"a":1}')]);
    stream.must(resolve(pendingApprovals(stream)[0] ?? "", Decision.ALLOW, "", { editedArgumentsJson: '{"a":2}' }));
    runTool(stream, WRITE.name);
    const messages = foldConversation(stream.events);
    const call = messages.at(-2)?.parts[0]?.kind;
    expect(call?.case === "toolCall" && call.value.argumentsJson).toBe('{"a":1}');
    expect(lines(messages).at(-1)).toBe(`tool: result of ${WRITE.name}: [A person changed the arguments of this call to: {"a":2}]\n"done"`);
  });
});

describe("a call that did not complete", () => {
  const calling = (name: string, policy: object = ALLOW_ALL) => {
    const stream = sessionInTurn({ policy });
    answerWith(stream, [callPart(name)]);
    return stream;
  };

  it.each<[string, (stream: SessionStream) => void, string]>([
    ["failed", (stream) => stream.must(settled(toolTask(stream, WRITE.name), failure())), "The call failed: Too many requests. (RATE_LIMIT)"],
    [
      "was cancelled",
      (stream) => stream.must(settled(toolTask(stream, WRITE.name), { case: "cancelled", value: create(TaskCancelledSchema) })),
      "The call was cancelled: ",
    ],
    [
      "is unknown",
      (stream) => {
        stream.must(started(toolTask(stream, WRITE.name)));
        stream.must(lost(toolTask(stream, WRITE.name)));
      },
      "The outcome of the call is unknown, it may or may not have taken effect: The worker was lost",
    ],
    ["has not finished", () => undefined, "The call has not finished."],
    ["was abandoned", (stream) => stream.must(abandonTurn(turnIdOf(stream))), "The outcome of the call is unknown"],
  ])("%s, and the model is told so", (_, act, text) => {
    const stream = calling(WRITE.name);
    act(stream);
    expect(told(stream)[2]).toContain(`tool: error of ${WRITE.name}: ${text}`);
  });

  it("was denied by a person or the policy or nobody's answer, and the model is told so", () => {
    const denied = calling(WRITE.name, {});
    denied.must(resolve(pendingApprovals(denied)[0] ?? "", Decision.DENY, "Not today."));
    expect(told(denied)[2]).toContain("The call was denied and not executed: Not today.");
    const expired = calling(WRITE.name, {});
    expired.must(fired(`approval:${pendingApprovals(expired)[0]}`));
    expect(told(expired)[2]).toContain("Nobody approved the call in time.");
    expect(told(calling(WRITE.name, { defaultDecision: Decision.DENY }))[2]).toContain("policy denies");
  });

  it("has its result before the next thing that is said", () => {
    const stream = calling(SHELL.name, {});
    stream.must(cancelTurn(turnIdOf(stream)));
    stream.must(startTurn("Something else."));
    expect(told(stream)).toEqual(["user: Hello.", `assistant: call ${SHELL.name}`, expect.stringContaining("tool: error of"), "user: Something else."]);
  });
});

describe("what is left out", () => {
  it("is an answer that a filter stopped", () => {
    const stream = sessionInTurn();
    answerWith(stream, [textPart("Well, "), callPart(READ.name)], FinishReason.CONTENT_FILTER);
    stream.must(startTurn("And now?"));
    expect(told(stream)).toEqual(["user: Hello.", "user: And now?"]);
  });

  it("is an answer without content", () => {
    const stream = sessionInTurn();
    answerWith(stream, [textPart("")]);
    expect(told(stream)).toEqual(["user: Hello."]);
  });

  it("is nothing of a turn that failed", () => {
    const stream = sessionInTurn();
    stream.must(settled(modelTask(stream), failure()));
    stream.must(startTurn("Again."));
    expect(told(stream)).toEqual(["user: Hello.", "user: Again."]);
  });

  it("is an ephemeral message, but for its own turn", () => {
    const ephemeral = (turnId: string, text: string) =>
      create(EventSchema, {
        turnId,
        payload: {
          case: "messageAdded",
          value: create(MessageAddedSchema, { message: create(MessageSchema, { role: Role.USER, parts: [textPart(text)], ephemeral: true }) }),
        },
      });
    const events = [ephemeral("t1", "one"), ephemeral("t2", "two")];
    expect(lines(foldConversation(events, { turnId: "t2" }))).toEqual(["user: two"]);
    expect(foldConversation(events)).toEqual([]);
  });

  it("is a result whose call is before the range", () => {
    const stream = sessionInTurn();
    answerWith(stream, [callPart(READ.name)]);
    const { events } = runTool(stream, READ.name);
    expect(foldConversation(events)).toEqual([]);
  });
});

describe("a late report", () => {
  it("is told once the call has its result, and never between calls and results", () => {
    const stream = sessionInTurn({ policy: ALLOW_ALL });
    answerWith(stream, [callPart(WRITE.name), callPart(READ.name)]);
    const task = toolTask(stream, WRITE.name);
    stream.must(started(task));
    stream.must(lost(task));
    stream.must(reportedLate(task.key, toolResult('"written"')));
    runTool(stream, READ.name, "1");
    expect(told(stream).slice(2)).toEqual([
      expect.stringMatching(/^tool: error of tools.write: .* \| result of tools.read: 1$/),
      expect.stringMatching(/^user: \[A late report on tool call .*: it completed: "written"\]$/),
    ]);
  });
});

describe("every range", () => {
  it("is a conversation that providers accept", () => {
    const stream = sessionInTurn({ policy: { rules: [{ tool: SHELL.name, decision: Decision.ASK }, ...ALLOW_ALL.rules] } });
    answerWith(stream, [callPart(READ.name), callPart(SHELL.name), callPart("tools.none"), callPart(WRITE.name)]);
    runTool(stream, READ.name);
    runTool(stream, WRITE.name);
    stream.must(cancelTurn(turnIdOf(stream)));
    stream.must(startTurn("Next."));
    for (let from = 0; from < stream.events.length; from += 1) {
      for (let to = from; to <= stream.events.length; to += 1) expect(conversationFaults(foldConversation(stream.events.slice(from, to)))).toEqual([]);
    }
  });

  it("fails on an event of an unknown kind", () => {
    const unknown: Event = create(EventSchema, { kind: "future.thing" });
    expect(() => foldConversation([unknown])).toThrow("a kind that this version does not know");
  });
});
