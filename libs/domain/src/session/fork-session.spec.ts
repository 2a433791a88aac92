import { CheckpointKind } from "@forge/protocol/event";
import { describe, expect, it } from "vitest";
import { foldConversation } from "../conversation/fold-conversation.ts";
import {
  ALLOW_ALL,
  answerWith,
  callPart,
  compactSession,
  SESSION_ID,
  type SessionStream,
  sessionInTurn,
  started,
  startTurn,
  TOOLS,
  textPart,
  toolTask,
  turnIdOf,
  WRITE,
} from "../testing/session-fixture.ts";
import { TestStream } from "../testing/test-stream.ts";
import type { ForkFrom } from "./fork-from.ts";
import { sessionDecider } from "./session-decider.ts";

const FORK_ID = "00000000-0000-8000-8000-0000000000f0";

function forkOf(source: SessionStream, init: Partial<ForkFrom> = {}) {
  const { agent, policy, queue, title, labels } = source.state;
  const messages = foldConversation(source.events, { fork: true });
  const command: ForkFrom = {
    $typeName: "session.fork_from",
    sourceSessionId: SESSION_ID,
    throughSeq: source.seq,
    agent,
    policy,
    queue,
    title,
    labels,
    messages,
    ...init,
  };
  const fork: SessionStream = new TestStream(sessionDecider, { streamId: FORK_ID, tools: TOOLS });
  return { fork, command };
}

describe("a fork", () => {
  it("begins with the source's conversation, its open calls of unknown outcome, while the source goes on", () => {
    const source = sessionInTurn({ policy: ALLOW_ALL, labels: { team: "x" }, parent: { runId: "r", stepId: "s" } });
    answerWith(source, [textPart("I write."), callPart(WRITE.name)]);
    source.must(started(toolTask(source, WRITE.name)));
    const { fork, command } = forkOf(source);
    const { cases, result } = fork.must(command, "anna");
    expect(cases).toEqual(["sessionCreated", "messageAdded", "messageAdded", "messageAdded", "sessionForked"]);
    expect(result).toMatchObject({ sessionId: FORK_ID });
    expect(fork.events.at(-1)?.payload.value).toMatchObject({ sourceSessionId: SESSION_ID, throughSeq: BigInt(source.seq) });
    expect(fork.state).toMatchObject({ agent: source.state.agent, policy: source.state.policy, labels: { team: "x" }, policyBy: "anna", parent: undefined });
    expect(fork.outstanding()).toEqual([]);
    expect(foldConversation(fork.events).at(-1)?.parts[0]?.kind.value).toMatchObject({
      isError: true,
      output: expect.stringContaining("outcome of the call is unknown"),
    });
    fork.must(startTurn("Go on."));
    expect(answerWith(fork, [textPart("Done.")]).cases.at(-1)).toBe("turnCompleted");
  });

  it("is made once", () => {
    const { fork, command } = forkOf(sessionInTurn());
    fork.must(command);
    expect(fork.execute(command).rejection?.reason).toBe("SESSION_EXISTS");
  });

  it("is refused a title or labels that no session may have", () => {
    const source = sessionInTurn();
    for (const [field, init] of [
      ["title", { title: "t".repeat(257) }],
      ["labels", { labels: { "": "x" } }],
    ] as const) {
      const { fork, command } = forkOf(source, init);
      expect(fork.execute(command).rejection?.metadata.field).toBe(field);
    }
  });

  it("takes no cut through the messages that it began with", () => {
    const { fork, command } = forkOf(sessionInTurn());
    fork.must(command);
    expect(fork.execute(compactSession("So.", fork.seq - 1)).rejection?.metadata.field).toBe("through_seq");
    fork.must(compactSession("So."));
  });
});

describe("a turn's checkpoints", () => {
  it("mark what a person said, each model call and each answer's tool calls, in the same append", () => {
    const stream = sessionInTurn();
    answerWith(stream, [callPart("tools.read")]);
    const kinds = stream.events.map(({ payload, turnId }) =>
      payload.case === "turnCheckpointed" && turnId === turnIdOf(stream) ? payload.value.kind : String(payload.case),
    );
    expect(kinds).toEqual([
      "sessionCreated",
      "turnStarted",
      "messageAdded",
      CheckpointKind.AFTER_USER_INPUT,
      CheckpointKind.BEFORE_MODEL_CALL,
      "modelRequested",
      "modelStarted",
      "modelCompleted",
      "modelUsageRecorded",
      CheckpointKind.BEFORE_TOOL_CALLS,
      "toolRequested",
    ]);
  });
});
