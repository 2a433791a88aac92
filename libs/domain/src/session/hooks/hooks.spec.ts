import type { MessageInitShape } from "@bufbuild/protobuf";
import { FinishReason, type HookEditSchema } from "@forge/protocol/event";
import { HookAt, Role, TurnOutcome, TurnStatus } from "@forge/protocol/session";
import { describe, expect, it } from "vitest";
import {
  ALLOW_ALL,
  answerWith,
  callPart,
  cancelTurn,
  continueTurn,
  edited,
  failure,
  fired,
  hookTask,
  lost,
  modelTask,
  newSession,
  pauseTurn,
  READ,
  runTool,
  type SessionInit,
  type SessionStream,
  settled,
  startTurn,
  steerTurn,
  TOOLS,
  textPart,
  turnIdOf,
} from "../../testing/session-fixture.ts";
import { sent, told } from "../../testing/told.ts";

type Edit = MessageInitShape<typeof HookEditSchema>["kind"];

const { USER_MESSAGE, PRE_LLM, POST_LLM } = HookAt;

const agentWith = (...hooks: NonNullable<NonNullable<SessionInit["agent"]>["hooks"]>): NonNullable<SessionInit["agent"]> => ({
  model: "demo/a",
  tools: TOOLS.map(({ name }) => name),
  hooks,
});

/** A session whose hooks are all served. */
function hooked(...hooks: { name: string; at: HookAt[]; configJson?: string; timeout?: { seconds: bigint } }[]): SessionStream {
  return newSession(
    { agent: agentWith(...hooks), policy: ALLOW_ALL },
    TOOLS,
    hooks.map(({ name }) => `hook:${name}`),
  );
}

const say = (text: string, { role = Role.USER, ephemeral = false }: { role?: Role; ephemeral?: boolean } = {}): Edit => ({
  case: "addMessage",
  value: { role, ephemeral, parts: [textPart(text)] },
});

const answerHook = (stream: SessionStream, ...edits: Edit[]) => stream.must(settled(hookTask(stream), edited(edits)));

describe("a hook on what a person says", () => {
  const guard = { name: "guard", at: [USER_MESSAGE] };

  it("is asked before any model call, and reads the message as the last one", () => {
    const stream = hooked(guard);
    const { cases } = stream.must(startTurn());
    expect(cases).toEqual(["turnStarted", "messageAdded", "hookRequested"]);
    const { task, capability, idempotent } = hookTask(stream);
    expect({ capability, idempotent, needsStart: task.needsStart }).toEqual({ capability: "hook:guard", idempotent: true, needsStart: false });
    const message = stream.events.find((event) => event.payload.case === "messageAdded");
    expect(task.kind.value).toMatchObject({ hook: "guard", at: USER_MESSAGE, conversationThroughSeq: message?.seq, turnId: turnIdOf(stream) });
    expect(answerHook(stream).cases).toEqual(["hookCompleted", "modelRequested"]);
  });

  it("changes the text, and what it adds is read before the message", () => {
    const stream = hooked(guard);
    stream.must(startTurn("my key is 123"));
    answerHook(stream, { case: "replaceText", value: "my key is ***" }, say("He is an admin."));
    expect(sent(stream)).toEqual(["user: He is an admin.", "user: my key is ***"]);
    answerWith(stream, [textPart("Fine.")]);
    stream.must(startTurn("Next."));
    answerHook(stream);
    expect(sent(stream)).toEqual(["user: He is an admin.", "user: my key is ***", "assistant: Fine.", "user: Next."]);
  });

  it("ends the turn with its block, and no later call reads what it blocked", () => {
    const stream = hooked(guard);
    stream.must(startTurn("Do evil."));
    expect(answerHook(stream, { case: "block", value: "Not here." }).cases).toEqual(["hookCompleted", "turnCompleted"]);
    expect(stream.state.turn?.end).toMatchObject({ status: TurnStatus.COMPLETED, outcome: TurnOutcome.BLOCKED });
    stream.must(startTurn("Do good."));
    answerHook(stream);
    expect(sent(stream)).toEqual(["user: Do good."]);
  });

  it("passes each message that is said meanwhile, in order, before the model reads them", () => {
    const stream = hooked(guard);
    stream.must(startTurn("One."));
    answerHook(stream);
    stream.must(steerTurn(turnIdOf(stream), "Two."));
    stream.must(steerTurn(turnIdOf(stream), "Three."));
    expect(answerWith(stream, [textPart("Said.")]).cases).toEqual(["modelCompleted", "modelUsageRecorded", "hookRequested"]);
    answerHook(stream, { case: "replaceText", value: "2." });
    answerHook(stream, { case: "block", value: "Enough." });
    expect(stream.state.turn?.end?.outcome).toBe(TurnOutcome.BLOCKED);
    expect(told(stream)).toEqual(["user: One.", "assistant: Said.", "user: 2."]);
  });

  it("lets no more messages wait for it than 64", () => {
    const stream = hooked(guard);
    stream.must(startTurn("One."));
    answerHook(stream);
    for (let index = 0; index < 64; index += 1) stream.must(steerTurn(turnIdOf(stream)));
    expect(stream.execute(steerTurn(turnIdOf(stream))).rejection).toMatchObject({ reason: "STEERS_WAIT", retryable: true });
    const unhooked = newSession();
    unhooked.must(startTurn());
    for (let index = 0; index < 65; index += 1) unhooked.must(steerTurn(turnIdOf(unhooked)));
  });

  it("sees what the hooks before it made of the message", () => {
    const stream = hooked({ name: "one", at: [USER_MESSAGE] }, { name: "two", at: [USER_MESSAGE] });
    stream.must(startTurn("secret"));
    answerHook(stream, { case: "replaceText", value: "***" });
    const { task, capability } = hookTask(stream);
    const through = task.kind.case === "hook" ? task.kind.value.conversationThroughSeq : 0n;
    expect([capability, told(stream, { turnId: turnIdOf(stream), through })]).toEqual(["hook:two", ["user: ***"]]);
  });

  it.each<[string, (stream: SessionStream) => void, string, string]>([
    ["fails", (stream) => stream.must(settled(hookTask(stream), failure())), "HOOK_FAILED", "RATE_LIMIT"],
    ["is lost", (stream) => stream.must(lost(hookTask(stream))), "HOOK_FAILED", "WORKER_LOST"],
    ["hangs", (stream) => stream.must(fired(stream.timers().find((key) => key.startsWith("hook-timeout:")) ?? "")), "HOOK_FAILED", "HOOK_TIMEOUT"],
    ["answers with what can't be made", (stream) => answerHook(stream, { case: "goOn", value: true }), "HOOK_FAILED", "INVALID_EDITS"],
  ])("that %s ends the turn", (_, act, reason, cause) => {
    const stream = hooked(guard);
    stream.must(startTurn());
    act(stream);
    expect(stream.state.turn?.end).toMatchObject({ status: TurnStatus.FAILED, outcome: TurnOutcome.TASK_FAILED });
    expect(stream.state.turn?.end?.error).toMatchObject({ reason, metadata: { hook: "guard", cause } });
    expect(stream.outstanding()).toEqual([]);
  });

  it("that nobody serves ends the turn at once", () => {
    const stream = newSession({ agent: agentWith(guard) });
    expect(stream.must(startTurn()).cases).toEqual(["turnStarted", "messageAdded", "hookRequested", "hookFailed", "turnFailed"]);
    expect(stream.state.turn?.end?.error).toMatchObject({ reason: "HOOK_NOT_SERVED", metadata: { hook: "guard" } });
  });

  it("holds nobody up who stops the turn, and a pause holds it back", () => {
    const stream = hooked(guard);
    stream.must(startTurn());
    expect(stream.must(cancelTurn(turnIdOf(stream))).cases).toEqual(["turnCancelRequested", "hookFailed", "turnCancelled"]);
    stream.must(startTurn());
    answerHook(stream);
    stream.must(steerTurn(turnIdOf(stream)));
    stream.must(pauseTurn(turnIdOf(stream)));
    answerWith(stream, [textPart("Done.")]);
    expect(stream.work()).toEqual([]);
    stream.must(continueTurn(turnIdOf(stream)));
    expect(hookTask(stream).capability).toBe("hook:guard");
  });

  it("is bounded in time by the control plane as well, as its spec says", () => {
    const stream = hooked({ ...guard, timeout: { seconds: 2n } });
    stream.must(startTurn());
    const timer = stream.outstanding().find(({ key }) => key.startsWith("hook-timeout:"));
    expect(timer?.dueAtMs).toBe(stream.nowMs + 2_000 + 5_000);
    expect(hookTask(stream).task.timeout).toMatchObject({ seconds: 2n });
  });
});

describe("a hook before a model call", () => {
  it("adds messages that only this turn has, before each of its calls", () => {
    const stream = hooked({ name: "memory", at: [PRE_LLM] });
    stream.must(startTurn());
    answerHook(stream, say("One.", { ephemeral: true, role: Role.SYSTEM }));
    expect(sent(stream)).toEqual(["user: Hello.", "system: One."]);
    answerWith(stream, [callPart(READ.name)]);
    runTool(stream, READ.name, "1");
    answerHook(stream, say("Two."));
    expect(sent(stream)).toEqual(["user: Hello.", "system: One.", "assistant: call tools.read", "tool: 1", "user: Two."]);
    answerWith(stream, [textPart("Done.")]);
    stream.must(startTurn("Next."));
    answerHook(stream);
    expect(sent(stream)).toEqual(["user: Hello.", "assistant: call tools.read", "tool: 1", "user: Two.", "assistant: Done.", "user: Next."]);
  });
});

describe("a hook on what the model answers", () => {
  const audit = { name: "audit", at: [POST_LLM] };

  it("is asked before the answer's calls are requested, and denies some of them", () => {
    const stream = hooked(audit);
    stream.must(startTurn());
    expect(answerWith(stream, [callPart("tools.write"), callPart(READ.name)]).cases).toEqual(["modelCompleted", "modelUsageRecorded", "hookRequested"]);
    const toolCallId = stream.state.turn?.hooks.answer?.calls[0]?.toolCallId ?? "";
    const { cases, events } = answerHook(stream, { case: "denyCall", value: { toolCallId, reason: "Never write." } });
    expect(cases).toEqual(["hookCompleted", "toolRequested", "toolDenied", "toolRequested"]);
    expect(events[2]?.payload.value).toMatchObject({ reason: "Never write.", decision: { source: "hook:audit" } });
    runTool(stream, READ.name, "1");
    expect(sent(stream).at(-1)).toBe("tool: The call was denied and not executed: Never write. | 1");
  });

  it("reads the answer as the last message, whatever the hooks before it added", () => {
    const stream = hooked(audit, { name: "second", at: [POST_LLM] });
    stream.must(startTurn());
    answerWith(stream, [textPart("I call."), callPart(READ.name)]);
    const read = () => {
      const { kind } = hookTask(stream).task;
      return told(stream, { turnId: turnIdOf(stream), through: kind.case === "hook" ? kind.value.conversationThroughSeq : 0n, hook: true });
    };
    expect(read()).toEqual(["user: Hello.", `assistant: I call. | call ${READ.name}`]);
    answerHook(stream, say("Mind this."), { case: "replaceText", value: "Calls." });
    expect(read()).toEqual(["user: Hello.", "user: Mind this.", `assistant: Calls. | call ${READ.name}`]);
    answerHook(stream);
    expect(told(stream)).toEqual(["user: Hello.", `assistant: Calls. | call ${READ.name}`, "tool: The call has not finished.", "user: Mind this."]);
  });

  it("changes the text that later calls read, and that the turn ends with", () => {
    const stream = hooked(audit);
    stream.must(startTurn());
    answerWith(stream, [textPart("The key is 123.")]);
    const { events } = answerHook(stream, { case: "replaceText", value: "The key is ***." });
    expect(events.at(-1)?.payload.value).toMatchObject({ textPreview: "The key is ***." });
    stream.must(startTurn("Next."));
    expect(sent(stream)).toEqual(["user: Hello.", "assistant: The key is ***.", "user: Next."]);
  });

  it("makes the loop go on, within the steps that the budget has", () => {
    const stream = newSession({ agent: { model: "demo/a", tools: TOOLS.map(({ name }) => name), hooks: [audit], budget: { steps: 4 } } }, TOOLS, [
      "hook:audit",
    ]);
    stream.must(startTurn());
    for (let round = 0; round < 2; round += 1) {
      answerWith(stream, [textPart("Done?")]);
      answerHook(stream, { case: "goOn", value: true }, say("Really?", { ephemeral: true }));
    }
    expect(stream.state.turn?.end?.outcome).toBe(TurnOutcome.BUDGET_STEPS);
  });

  it("that fails keeps nobody from going on", () => {
    const stream = hooked(audit);
    stream.must(startTurn());
    answerWith(stream, [textPart("Done.")]);
    expect(stream.must(settled(hookTask(stream), failure())).cases).toEqual(["hookFailed", "turnCompleted"]);
    expect(stream.state.turn?.end?.outcome).toBe(TurnOutcome.TASK_COMPLETED);
  });

  it("is not asked about an answer that was refused", () => {
    const stream = hooked(audit);
    stream.must(startTurn());
    answerWith(stream, [textPart("No.")], FinishReason.CONTENT_FILTER);
    expect(stream.state.turn?.end?.outcome).toBe(TurnOutcome.REFUSED);
  });

  it("can't deny a call that the answer has not, block, or say more than it may", () => {
    for (const edit of [
      { case: "denyCall", value: { toolCallId: "other", reason: "" } },
      { case: "block", value: "no" },
      say("x".repeat(16_385)),
      say(""),
      say("x", { role: Role.ASSISTANT }),
      { case: "replaceText", value: "\ud800" },
      { case: undefined },
    ] satisfies Edit[]) {
      const stream = hooked(audit);
      stream.must(startTurn());
      answerWith(stream, [textPart("Done.")]);
      const { events } = answerHook(stream, edit);
      expect(events[0]?.payload.value, JSON.stringify(edit)).toMatchObject({ error: { reason: "HOOK_FAILED", metadata: { cause: "INVALID_EDITS" } } });
    }
    const stream = hooked(audit);
    stream.must(startTurn());
    answerWith(stream, [textPart("Done.")]);
    expect(answerHook(stream, ...Array.from({ length: 17 }, () => say("x"))).cases[0]).toBe("hookFailed");
  });
});

describe("hooks of one point", () => {
  it("are called in order, one after the other", () => {
    const stream = hooked({ name: "b", at: [PRE_LLM] }, { name: "a", at: [USER_MESSAGE, PRE_LLM] }, { name: "c", at: [PRE_LLM] });
    stream.must(startTurn());
    const asked: string[] = [];
    for (let index = 0; index < 4; index += 1) {
      asked.push(...stream.work().map(({ capability }) => capability));
      answerHook(stream);
    }
    expect(asked).toEqual(["hook:a", "hook:b", "hook:a", "hook:c"]);
    expect(modelTask(stream)).toBeDefined();
  });
});
