import { CompactionReason } from "@forge/protocol/event";
import { TurnOutcome, TurnStatus } from "@forge/protocol/session";
import { describe, expect, it } from "vitest";
import {
  ALLOW_ALL,
  abandonTurn,
  answerWith,
  callPart,
  cancelled,
  cancelTurn,
  closeSession,
  compactionTask,
  compactSession,
  failure,
  fired,
  lost,
  modelTask,
  newSession,
  READ,
  runTool,
  type SessionStream,
  sessionInTurn,
  settled,
  started,
  startTurn,
  summarised,
  TOOLS,
  textPart,
  turnIdOf,
} from "../../testing/session-fixture.ts";
import { sent, told } from "../../testing/told.ts";
import { sessionView } from "../view.ts";

const tools = TOOLS.map(({ name }) => name);
const SUMMARY = "user: [A summary of the conversation up to here, which it stands for]\n\nThey spoke.";

/** A session that has had a turn. */
function spoken(agent: object = {}): SessionStream {
  const stream = sessionInTurn({ agent: { model: "demo/a", tools, ...agent }, policy: ALLOW_ALL });
  answerWith(stream, [textPart("Hi.")]);
  return stream;
}

const ask = (stream: SessionStream) => stream.must(compactSession(""));

const overflow = (stream: SessionStream) => {
  const task = modelTask(stream);
  stream.must(started(task));
  return stream.must(settled(task, failure({ reason: "CONTEXT_OVERFLOW", message: "Too long." })));
};

describe("a summary that a model is to write", () => {
  it("is asked of the agent's model, and stands once it has come", () => {
    const stream = spoken();
    const { cases, result } = ask(stream);
    expect(cases).toEqual(["sessionCompactionRequested"]);
    const { capability, task, idempotent } = compactionTask(stream);
    expect({ capability, idempotent, needsStart: task.needsStart }).toEqual({ capability: "model:demo/a", idempotent: true, needsStart: false });
    const compactionId = stream.state.compacting?.compactionId;
    expect(result).toMatchObject({ compactionId });
    expect(sessionView(stream.state, stream.seq).compactionId).toBe(compactionId);
    const before = stream.state.usage?.inputTokens ?? 0n;
    const { events } = stream.must(settled(compactionTask(stream), summarised()));
    expect(events[0]?.payload).toMatchObject({ case: "sessionCompacted", value: { compactionId, model: "demo/a", throughSeq: BigInt(stream.seq - 2) } });
    expect(stream.state.usage?.inputTokens).toBe(before + 20n);
    expect(stream.outstanding()).toEqual([]);
    stream.must(startTurn("Next."));
    expect(sent(stream)).toEqual([SUMMARY, "user: Next."]);
  });

  it("is waited for by the next turn's model call, and by nothing else", () => {
    const stream = spoken();
    ask(stream);
    stream.must(startTurn("Next."));
    expect(stream.work().map(({ task }) => task.kind.case)).toEqual(["compaction"]);
    expect(stream.must(settled(compactionTask(stream), summarised())).cases).toEqual(["sessionCompacted", "modelRequested"]);
    expect(sent(stream)).toEqual([SUMMARY, "user: Next."]);
  });

  it("that fails leaves the conversation as it was, and what it used is counted", () => {
    const stream = spoken();
    ask(stream);
    stream.must(startTurn("Next."));
    const { cases } = stream.must(settled(compactionTask(stream), failure({ message: "No." })));
    expect(cases).toEqual(["sessionCompactionFailed", "modelRequested"]);
    expect(sent(stream)).toEqual(["user: Hello.", "assistant: Hi.", "user: Next."]);
  });

  it.each<[string, (stream: SessionStream) => unknown]>([
    ["lost", (stream) => stream.must(lost(compactionTask(stream)))],
    ["stopped", (stream) => stream.must(settled(compactionTask(stream), cancelled()))],
    ["late", (stream) => stream.must(fired(stream.timers().find((key) => key.startsWith("compact-timeout:")) ?? ""))],
    ["empty", (stream) => stream.must(settled(compactionTask(stream), summarised(" ")))],
  ])("that is %s fails", (_, act) => {
    const stream = spoken();
    ask(stream);
    act(stream);
    expect(stream.events.at(-1)?.payload.case).toBe("sessionCompactionFailed");
    expect(stream.outstanding()).toEqual([]);
  });

  it("changes nothing once it is no longer wanted", () => {
    for (const supersede of [compactSession("Mine."), closeSession()]) {
      const stream = spoken();
      ask(stream);
      const task = compactionTask(stream);
      stream.must(supersede);
      expect(stream.outstanding()).toEqual([]);
      expect(stream.execute(settled(task, summarised())).rejection?.reason).toBe("TASK_NOT_OPEN");
    }
  });

  it("is one at a time, of something that was said, and with bounded instructions", () => {
    const stream = spoken();
    ask(stream);
    expect(stream.execute(compactSession("")).rejection?.reason).toBe("SESSION_BUSY");
    stream.must(settled(compactionTask(stream), summarised()));
    expect(stream.execute(compactSession("")).rejection?.metadata).toMatchObject({ field: "through_seq" });
    expect(newSession().execute(compactSession("")).rejection?.metadata).toMatchObject({ field: "through_seq" });
  });

  it("goes on when the turn that waits for it is cancelled", () => {
    const stream = spoken();
    ask(stream);
    stream.must(startTurn("Next."));
    expect(stream.must(cancelTurn(turnIdOf(stream))).cases).toEqual(["turnCancelRequested", "turnCancelled"]);
    expect(compactionTask(stream).cancelRequested).toBe(false);
  });
});

describe("a turn that comes near the model's window", () => {
  const near = (tokens = 900n) => {
    const stream = spoken({ contextWindowTokens: 2_000 });
    stream.must(startTurn("Read it all."));
    answerWith(stream, [callPart(READ.name)], undefined, tokens);
    return { stream, ...runTool(stream, READ.name, "1") };
  };

  it("summarises what came before its last step, and keeps that step and the person's words", () => {
    const { stream, cases } = near();
    expect(cases).toEqual(["toolCompleted", "sessionCompactionRequested"]);
    expect(stream.events.at(-1)?.payload.value).toMatchObject({
      reason: CompactionReason.WINDOW,
      throughSeq: BigInt((stream.state.turn?.startedSeq ?? 0) - 1),
    });
    const usage = stream.state.turn?.usage?.inputTokens ?? 0n;
    expect(stream.must(settled(compactionTask(stream), summarised())).cases).toEqual(["sessionCompacted", "modelRequested"]);
    expect(stream.state.turn?.usage?.inputTokens).toBe(usage + 20n);
    expect(sent(stream)).toEqual([SUMMARY, "user: Read it all.", `assistant: call ${READ.name}`, "tool: 1"]);
  });

  it("is compacted again as its steps grow, never within one, and what the person said stays", () => {
    const { stream } = near();
    stream.must(settled(compactionTask(stream), summarised()));
    answerWith(stream, [callPart(READ.name)], undefined, 900n);
    expect(runTool(stream, READ.name, "2").cases).toEqual(["toolCompleted", "sessionCompactionRequested"]);
    stream.must(settled(compactionTask(stream), summarised()));
    expect(sent(stream)).toEqual([SUMMARY, "user: Read it all.", `assistant: call ${READ.name}`, "tool: 2"]);
    answerWith(stream, [textPart("Done.")]);
    stream.must(startTurn("Next."));
    expect(sent(stream)).toEqual([SUMMARY, "user: Read it all.", `assistant: call ${READ.name}`, "tool: 2", "assistant: Done.", "user: Next."]);
    // From where the state says it has to be read.
    const kept = stream.state.compaction?.keptAfterSeq ?? 0;
    const tail = stream.events.filter(({ seq }) => Number(seq) > kept);
    expect(tail[0]?.payload.case).toBe("turnStarted");
    const whole = told(stream);
    stream.events.splice(0, stream.events.length - tail.length);
    expect(told(stream)).toEqual(whole);
  });

  it("goes on without where the summary fails, and does not try again", () => {
    const { stream } = near();
    expect(stream.must(settled(compactionTask(stream), failure())).cases).toEqual(["sessionCompactionFailed", "modelRequested"]);
    answerWith(stream, [callPart(READ.name)], undefined, 900n);
    expect(runTool(stream, READ.name, "2").cases).toEqual(["toolCompleted", "modelRequested"]);
  });

  it("is left alone below 85 %, without a window, and where nothing came before", () => {
    expect(near(400n).cases).toEqual(["toolCompleted", "modelRequested"]);
    const unknown = spoken();
    unknown.must(startTurn());
    answerWith(unknown, [callPart(READ.name)], undefined, 900_000n);
    expect(runTool(unknown, READ.name).cases).toEqual(["toolCompleted", "modelRequested"]);
    const first = sessionInTurn({ agent: { model: "demo/a", tools, contextWindowTokens: 2_000 } });
    answerWith(first, [callPart(READ.name)], undefined, 900n);
    expect(runTool(first, READ.name).cases).toEqual(["toolCompleted", "modelRequested"]);
  });

  it("counts what was said since at three bytes a token, and shows it", () => {
    const stream = spoken({ contextWindowTokens: 2_000 });
    expect(sessionView(stream.state, stream.seq).context).toMatchObject({ tokens: 20n, windowTokens: 2_000 });
    expect(stream.must(startTurn("x".repeat(5_400))).cases).toContain("sessionCompactionRequested");
    expect(sessionView(stream.state, stream.seq).context?.tokens).toBe(20n + 1_800n);
  });

  it("stops when it is cancelled, once the worker has stopped", () => {
    const { stream } = near();
    stream.must(cancelTurn(turnIdOf(stream)));
    const task = compactionTask(stream);
    expect(task.cancelRequested).toBe(true);
    expect(stream.must(settled(task, cancelled())).cases).toEqual(["sessionCompactionFailed", "turnCancelled"]);
  });

  it("takes the summary with it when it is abandoned", () => {
    const { stream } = near();
    expect(stream.must(abandonTurn(turnIdOf(stream))).cases).toEqual(["sessionCompactionFailed", "turnAbandoned"]);
    expect(stream.outstanding()).toEqual([]);
  });
});

describe("a model call that is refused as too long", () => {
  it("is made again once, after a summary", () => {
    const stream = spoken();
    stream.must(startTurn("Next."));
    expect(overflow(stream).cases).toEqual(["modelFailed", "sessionCompactionRequested"]);
    expect(stream.must(settled(compactionTask(stream), summarised())).cases).toEqual(["sessionCompacted", "modelRequested"]);
    expect(sent(stream)).toEqual([SUMMARY, "user: Next."]);
    answerWith(stream, [textPart("Done.")]);
    expect(stream.state.turn?.end?.outcome).toBe(TurnOutcome.TASK_COMPLETED);
  });

  it("ends the turn when it is refused again, and the next turn works", () => {
    const stream = spoken();
    stream.must(startTurn("Next."));
    overflow(stream);
    stream.must(settled(compactionTask(stream), summarised()));
    expect(overflow(stream).cases).toEqual(["modelFailed", "turnFailed"]);
    expect(stream.state.turn?.end).toMatchObject({
      status: TurnStatus.FAILED,
      error: { reason: "CONTEXT_OVERFLOW", message: expect.stringContaining("Start a new session") },
    });
    stream.must(startTurn("Again."));
    overflow(stream);
    stream.must(settled(compactionTask(stream), summarised()));
    expect(sent(stream)).toEqual([SUMMARY, "user: Again."]);
    answerWith(stream, [textPart("Done.")]);
    expect(stream.state.turn?.end?.outcome).toBe(TurnOutcome.TASK_COMPLETED);
  });

  it("ends the turn when the summary fails, or when there is nothing to summarise", () => {
    const stream = spoken();
    stream.must(startTurn("Next."));
    overflow(stream);
    expect(stream.must(settled(compactionTask(stream), failure({ message: "Down." }))).cases).toEqual(["sessionCompactionFailed", "turnFailed"]);
    expect(stream.state.turn?.end?.error).toMatchObject({ reason: "CONTEXT_OVERFLOW", message: expect.stringContaining("Down.") });
    const first = sessionInTurn();
    expect(overflow(first).cases).toEqual(["modelFailed", "turnFailed"]);
    expect(first.state.turn?.end?.error).toMatchObject({ reason: "CONTEXT_OVERFLOW", message: expect.stringContaining("Start a new session") });
  });

  it("may be again after an answer, each time with a summary of its own", () => {
    const stream = spoken();
    stream.must(startTurn("Next."));
    overflow(stream);
    stream.must(settled(compactionTask(stream), summarised()));
    answerWith(stream, [callPart(READ.name)]);
    runTool(stream, READ.name, "1");
    answerWith(stream, [callPart(READ.name)]);
    runTool(stream, READ.name, "2");
    expect(overflow(stream).cases).toEqual(["modelFailed", "sessionCompactionRequested"]);
    stream.must(settled(compactionTask(stream), summarised()));
    expect(sent(stream)).toEqual([SUMMARY, "user: Next.", `assistant: call ${READ.name}`, "tool: 2"]);
  });
});
