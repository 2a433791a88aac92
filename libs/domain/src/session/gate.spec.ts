import { create } from "@bufbuild/protobuf";
import { ErrorCode } from "@forge/protocol/common";
import { FinishReason } from "@forge/protocol/event";
import { Decision, ToolSpecSchema } from "@forge/protocol/tool";
import { describe, expect, it } from "vitest";
import { testContext } from "../testing/context.ts";
import { ALLOW_ALL, answerWith, callPart, READ, SEARCH, SESSION_ID, SHELL, sessionInTurn, WRITE } from "../testing/session-fixture.ts";
import { toolDigest } from "../tool-policy.ts";

const called = (stream: ReturnType<typeof sessionInTurn>, ...args: Parameters<typeof callPart>) => {
  const effect = answerWith(stream, [callPart(...args)]);
  return { ...effect, cases: effect.cases.slice(2), events: effect.events.slice(2) };
};

describe("the gate", () => {
  it("records the intent with a decision that is bound to exactly this call", () => {
    const stream = sessionInTurn();
    const { events } = called(stream, READ.name, '{"path": "a"}', "p1");
    const digest = testContext().sha256('{"path": "a"}');
    expect(events[0]?.payload).toMatchObject({
      case: "toolRequested",
      value: {
        tool: READ.name,
        argumentsJson: '{"path": "a"}',
        providerCallId: "p1",
        decision: {
          decision: Decision.ALLOW,
          subject: `session:${SESSION_ID}`,
          tool: READ.name,
          toolDigest: toolDigest(testContext(), READ),
          argumentsDigest: digest,
          source: "policy:default",
          decidedBy: "cli",
        },
      },
    });
  });

  it("knows a tool whose description changed for another tool", () => {
    const changed = create(ToolSpecSchema, { ...READ, description: "Does something else." });
    expect(toolDigest(testContext(), changed)).not.toBe(toolDigest(testContext(), READ));
  });

  it("dispatches what is allowed, with the decision and an idempotency key", () => {
    const stream = sessionInTurn({ policy: ALLOW_ALL });
    called(stream, WRITE.name, '{"a":1}');
    const [task] = stream.work();
    const toolCallId = stream.state.turn?.toolCalls[0]?.toolCallId;
    expect(task).toMatchObject({ key: `tool:${toolCallId}`, capability: `tool:${WRITE.name}`, idempotent: false, cancelRequested: false });
    expect(task?.task).toMatchObject({
      needsStart: true,
      idempotencyKey: toolCallId,
      kind: { value: { argumentsJson: '{"a":1}', decision: { source: "policy:rule:0" } } },
    });
  });

  it("needs no start for an idempotent tool", () => {
    const stream = sessionInTurn();
    called(stream, READ.name);
    expect(stream.work()[0]).toMatchObject({ idempotent: true, task: { needsStart: false } });
  });

  it.each([
    [READ, undefined, ["toolRequested"], "policy:default"],
    [WRITE, undefined, ["toolRequested", "toolApprovalRequired"], "policy:default"],
    [SHELL, undefined, ["toolRequested", "toolApprovalRequired"], "policy:default"],
    [SHELL, { defaultDecision: Decision.ALLOW }, ["toolRequested"], "policy:default"],
    [READ, { defaultDecision: Decision.DENY }, ["toolRequested", "toolDenied", "modelRequested"], "policy:default"],
    [
      WRITE,
      { rules: [{ tool: "tools.write", decision: Decision.DENY }, ...ALLOW_ALL.rules] },
      ["toolRequested", "toolDenied", "modelRequested"],
      "policy:rule:0",
    ],
    [
      WRITE,
      {
        rules: [
          { tool: "other.*", decision: Decision.DENY },
          { tool: "tools.w*", decision: Decision.ALLOW },
        ],
      },
      ["toolRequested"],
      "policy:rule:1",
    ],
    [READ, { rules: [{ tool: "tools.rea", decision: Decision.DENY }] }, ["toolRequested"], "policy:default"],
    [READ, { rules: [{ tool: "*", decision: Decision.ASK }] }, ["toolRequested", "toolApprovalRequired"], "policy:rule:0"],
  ])("decides by the first rule that matches, else the default: case %#", (tool, policy, cases, source) => {
    const effect = called(sessionInTurn({ policy }), tool.name);
    expect(effect.cases).toEqual(cases);
    expect(effect.events[0]?.payload.value).toMatchObject({ decision: { source } });
  });

  it("fails a call of a tool that the agent may not use, though it is served", () => {
    const effect = called(sessionInTurn({ agent: { model: "demo/a", tools: [READ.name] }, policy: ALLOW_ALL }), SHELL.name);
    expect(effect.cases).toEqual(["toolRequested", "toolFailed", "modelRequested"]);
    expect(effect.events[0]?.payload.value).toMatchObject({ decision: { decision: Decision.DENY } });
    expect(effect.events[1]?.payload.value).toMatchObject({
      error: { code: ErrorCode.NOT_FOUND, reason: "TOOL_NOT_FOUND", message: expect.stringContaining(READ.name) },
    });
  });

  it("fails a call of a tool that nobody serves, and says so", () => {
    const effect = called(sessionInTurn({}, []), READ.name);
    expect(effect.events[1]?.payload.value).toMatchObject({ error: { reason: "TOOL_NOT_FOUND", message: expect.stringContaining("not served") } });
  });

  it.each(["{", "nonsense", "[]", '"text"', "null", `{"a":"${"x".repeat(65_536)}"}`])("never executes invalid arguments", (argumentsJson) => {
    const stream = sessionInTurn({ policy: ALLOW_ALL });
    const effect = called(stream, READ.name, argumentsJson);
    expect(effect.cases).toEqual(["toolRequested", "toolFailed", "modelRequested"]);
    expect(effect.events[1]?.payload.value).toMatchObject({ error: { reason: "INVALID_ARGUMENTS" } });
    expect(stream.work().map((task) => task.capability)).toEqual(["model:demo/triage"]);
  });

  it("takes no arguments at all for an empty object", () => {
    const stream = sessionInTurn();
    called(stream, READ.name, "");
    expect(stream.work()[0]?.task.kind.value).toMatchObject({ argumentsJson: "{}" });
  });

  it("never executes the calls of an answer that was cut, valid as they may look", () => {
    const stream = sessionInTurn({ policy: ALLOW_ALL });
    const { cases, events } = answerWith(stream, [callPart(READ.name, '{"a":1}'), callPart(WRITE.name, '{"b":')], FinishReason.LENGTH);
    expect(cases.slice(2)).toEqual(["toolRequested", "toolFailed", "toolRequested", "toolFailed", "modelRequested"]);
    expect(events[3]?.payload.value).toMatchObject({ error: { reason: "ARGUMENTS_CUT" } });
  });

  it("bounds the calls of one answer", () => {
    const stream = sessionInTurn({ agent: { model: "demo/a", tools: [READ.name], budget: { toolCalls: 10_000 } } });
    const { events } = answerWith(
      stream,
      Array.from({ length: 300 }, () => callPart(READ.name)),
    );
    expect(stream.state.turn?.toolCalls.length).toBe(256);
    expect(events.filter((event) => event.payload.case === "toolFailed").length).toBe(44);
  });
});

describe("the order of an answer's calls", () => {
  const dispatched = (stream: ReturnType<typeof sessionInTurn>) => stream.work().map((task) => task.capability.replace("tool:tools.", ""));

  it.each([
    [
      [READ, SEARCH, READ],
      ["read", "search", "read"],
    ],
    [[WRITE, READ, SEARCH], ["write"]],
    [
      [READ, SEARCH, WRITE, READ],
      ["read", "search"],
    ],
    [[WRITE, SHELL], ["write"]],
  ])("runs reads beside each other and everything else alone: case %#", (tools, first) => {
    const stream = sessionInTurn({ policy: ALLOW_ALL });
    answerWith(
      stream,
      tools.map((tool) => callPart(tool.name)),
    );
    expect(dispatched(stream)).toEqual(first);
  });

  it("is not held up by a call that waits for a person, which joins once granted", () => {
    const stream = sessionInTurn({ policy: { rules: [{ tool: SHELL.name, decision: Decision.ASK }, ...ALLOW_ALL.rules] } });
    answerWith(stream, [callPart(SHELL.name), callPart(WRITE.name)]);
    expect(dispatched(stream)).toEqual(["write"]);
  });
});
