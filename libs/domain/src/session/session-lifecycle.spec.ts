import { create } from "@bufbuild/protobuf";
import { ErrorCode } from "@forge/protocol/common";
import { RejectCommandSchema } from "@forge/protocol/engine";
import { CreateSessionRequestSchema, SessionStatus } from "@forge/protocol/session";
import { Decision } from "@forge/protocol/tool";
import { describe, expect, it } from "vitest";
import { answerWith, closeSession, createSession, newSession, SESSION_ID, sessionInTurn, startTurn, textPart, turnIdOf } from "../testing/session-fixture.ts";
import { TestStream } from "../testing/test-stream.ts";
import type { SessionCommand } from "./session-command.ts";
import { sessionDecider } from "./session-decider.ts";

const emptyStream = () => new TestStream(sessionDecider, { streamId: SESSION_ID });

describe("a session's creation", () => {
  it("records agent, policy and queue, and answers with the id", () => {
    const stream = emptyStream();
    const { cases, result } = stream.must(createSession({ agent: { model: "demo/a" }, title: "Triage", labels: { team: "x" } }));
    expect(cases).toEqual(["sessionCreated"]);
    expect(result).toMatchObject({ sessionId: SESSION_ID });
    expect(stream.state).toMatchObject({ status: SessionStatus.ACTIVE, queue: "default", title: "Triage", labels: { team: "x" }, policyBy: "cli" });
    expect(stream.outstanding()).toEqual([]);
  });

  it.each<[string, Parameters<typeof createSession>[0]]>([
    ["agent", { agent: undefined }],
    ["agent.model", { agent: { model: "gpt-5" } }],
    ["agent.model", { agent: { model: "demo/a b" } }],
    ["agent.model", { agent: { model: `demo/${"x".repeat(256)}` } }],
    ["agent.system", { agent: { model: "demo/a", system: "ü".repeat(32_769) } }],
    ["agent.system", { agent: { model: "demo/a", system: "a\u0000" } }],
    ["agent.tools[1]", { agent: { model: "demo/a", tools: ["a", ""] } }],
    ["agent.tools[1]", { agent: { model: "demo/a", tools: ["a", "a"] } }],
    ["agent.tools", { agent: { model: "demo/a", tools: Array.from({ length: 129 }, (_, index) => `t${index}`) } }],
    ["agent.temperature", { agent: { model: "demo/a", temperature: Number.NaN } }],
    ["agent.max_output_tokens", { agent: { model: "demo/a", maxOutputTokens: 0 } }],
    ["agent.budget.model_calls", { agent: { model: "demo/a", budget: { modelCalls: 1_001 } } }],
    ["agent.budget.tool_calls", { agent: { model: "demo/a", budget: { toolCalls: 10_001 } } }],
    ["agent.budget.wall_time", { agent: { model: "demo/a", budget: { wallTime: { seconds: 0n } } } }],
    ["policy.rules[0].tool", { policy: { rules: [{ tool: "a*b", decision: Decision.ALLOW }] } }],
    ["policy.rules[0].decision", { policy: { rules: [{ tool: "a" }] } }],
    ["policy.default_decision", { policy: { defaultDecision: Decision.UNSPECIFIED } }],
    ["policy.approval_ttl", { policy: { approvalTtl: { seconds: -1n } } }],
    ["labels", { labels: { "": "x" } }],
    ["labels", { labels: { k: "\ud800" } }],
    ["queue", { queue: "a b" }],
    ["title", { title: "x".repeat(257) }],
    ["parent", { parent: { runId: "r", stepId: "" } }],
  ])("is refused for a bad %s", (field, init) => {
    const { rejection } = emptyStream().execute(createSession(init));
    expect(rejection).toMatchObject({ code: ErrorCode.VALIDATION, metadata: { field } });
  });

  it("happens once", () => {
    expect(newSession().execute(createSession()).rejection).toMatchObject({ code: ErrorCode.CONFLICT, reason: "SESSION_EXISTS" });
  });
});

describe("a session's end", () => {
  it("is recorded once and refuses turns from then on", () => {
    const stream = newSession();
    expect(stream.must(closeSession()).cases).toEqual(["sessionClosed"]);
    expect(stream.execute(closeSession()).rejection).toMatchObject({ code: ErrorCode.CONFLICT, reason: "SESSION_CLOSED" });
    expect(stream.execute(startTurn()).rejection).toMatchObject({ code: ErrorCode.CONFLICT, reason: "SESSION_CLOSED" });
  });

  it("waits for the active turn", () => {
    const stream = sessionInTurn();
    expect(stream.execute(closeSession()).rejection).toMatchObject({ reason: "TURN_ACTIVE", relatedIds: [SESSION_ID, turnIdOf(stream)] });
    answerWith(stream, [textPart("Hi.")]);
    expect(stream.must(closeSession()).cases).toEqual(["sessionClosed"]);
  });
});

describe("commands that can't be meant", () => {
  it("are not found where there is no session", () => {
    for (const command of [startTurn(), closeSession()] satisfies SessionCommand[]) {
      expect(emptyStream().execute(command).rejection).toMatchObject({ code: ErrorCode.NOT_FOUND, reason: "SESSION_NOT_FOUND" });
    }
  });

  it("are refused where a report of ours came back", () => {
    expect(newSession().execute(create(RejectCommandSchema, { commandId: "x" })).rejection).toMatchObject({ code: ErrorCode.VALIDATION });
  });

  it("are refused for labels beyond their number", () => {
    const labels = Object.fromEntries(Array.from({ length: 33 }, (_, index) => [`k${index}`, "v"]));
    const command = create(CreateSessionRequestSchema, { agent: { model: "demo/a" }, labels });
    expect(emptyStream().execute(command).rejection).toMatchObject({ metadata: { field: "labels" } });
  });
});
