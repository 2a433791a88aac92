import { create, fromBinary } from "@bufbuild/protobuf";
import { ErrorCode, ForgeErrorSchema } from "@forge/protocol/common";
import { TurnStatus } from "@forge/protocol/session";
import { ApprovalCategory, Decision, PendingApprovalSchema, RiskLevel, ToolMode } from "@forge/protocol/tool";
import { TaskFailureSchema, ToolResultSchema } from "@forge/protocol/worker";
import { describe, expect, it } from "vitest";
import type { TaskSettled } from "../task.ts";
import { testContext } from "../testing/context.ts";
import {
  ALLOW_ALL,
  answerWith,
  callPart,
  cancelled,
  cancelTurn,
  continueTurn,
  failure,
  lost,
  PATCH,
  PREVIEWED,
  pauseTurn,
  pendingApprovals,
  preview,
  previewTask,
  READ,
  RUN,
  resolve,
  runTool,
  type SessionInit,
  type SessionStream,
  SHELL,
  sessionInTurn,
  settled,
  started,
  TOOLS,
  tellPreview,
  toolTask,
  turnIdOf,
  WRITE,
} from "../testing/session-fixture.ts";
import { previewDigest } from "./bind-decision.ts";
import { sessionListing } from "./listing.ts";
import { turnStatus } from "./state.ts";

const SERVED = [...TOOLS, ...PREVIEWED];
const AGENT = { model: "demo/a", tools: SERVED.map(({ name }) => name) };

function calling(parts: ReturnType<typeof callPart>[], policy: SessionInit["policy"] = {}) {
  const stream = sessionInTurn({ agent: AGENT, policy }, SERVED);
  const effect = answerWith(stream, parts);
  return { stream, cases: effect.cases.slice(2), events: effect.events.slice(2) };
}

describe("a preview", () => {
  it("is asked for where a person would have to be, before he is", () => {
    const { stream, cases, events } = calling([callPart(PATCH.name, '{"a":1}')]);
    expect(cases).toEqual(["toolRequested"]);
    expect(events[0]?.payload.value).toMatchObject({ decision: { decision: Decision.PREVIEW, source: "policy:default", previewDigest: "" } });
    const [task] = stream.work();
    const [call] = stream.state.turn?.toolCalls ?? [];
    expect(task).toMatchObject({ key: `preview:${call?.toolCallId}`, capability: `tool:${PATCH.name}`, idempotent: true });
    expect(task?.task).toMatchObject({ needsStart: false, kind: { case: "tool", value: { preview: true, argumentsJson: '{"a":1}', mode: ToolMode.ACT } } });
    expect(stream.state.turn && turnStatus(stream.state.turn)).toBe(TurnStatus.RUNNING);
  });

  it("is what the person is asked with, and what the call is executed on", () => {
    const { stream } = calling([callPart(PATCH.name)]);
    const told = { title: "edit a (+1 -1)", ruleKey: "k", ruleTitle: "edit a", paths: ["a"] };
    const { cases, events } = tellPreview(stream, PATCH.name, told);
    expect(cases).toEqual(["toolPreviewed", "toolApprovalRequired"]);
    const value = events[0]?.payload.value as { preview?: Parameters<typeof previewDigest>[1]; decision: { previewDigest: string } };
    expect(value).toMatchObject({ preview: { ...told, diff: "-a\n+b\n" }, decision: { decision: Decision.ASK }, worker: "executor" });
    expect(value.decision.previewDigest).toBe(previewDigest(testContext(), value.preview));
    const [approvalId = ""] = pendingApprovals(stream);
    expect(stream.must(resolve(approvalId, Decision.ALLOW)).events[0]?.payload.value).toMatchObject({
      decision: { decision: Decision.ALLOW, previewDigest: value.decision.previewDigest },
    });
    const task = toolTask(stream, PATCH.name);
    expect(task.task).toMatchObject({ needsStart: true, kind: { value: { preview: false, previewed: { ...told, factsJson: '{"a":1}', diff: "" } } } });
    expect(runTool(stream, PATCH.name).cases).toEqual(["toolCompleted", "modelRequested"]);
  });

  it("is listed with the approval that waits, and its category", () => {
    const { stream } = calling([callPart(PATCH.name), callPart(RUN.name)]);
    tellPreview(stream, PATCH.name, { title: "edit a" });
    tellPreview(stream, RUN.name, { title: "run b" });
    expect(sessionListing(stream.state).approvals.map((bytes) => fromBinary(PendingApprovalSchema, bytes))).toMatchObject([
      { tool: PATCH.name, preview: { title: "edit a", diff: "-a\n+b\n" }, category: ApprovalCategory.CHANGES },
      { tool: RUN.name, preview: { title: "run b" }, category: ApprovalCategory.EXECUTION },
    ]);
  });

  it("of a call that only reads lets it pass where the default allows reads", () => {
    const { stream } = calling([callPart(RUN.name), callPart(READ.name)]);
    expect(tellPreview(stream, RUN.name, { risk: RiskLevel.READ }).cases).toEqual(["toolPreviewed"]);
    expect(stream.state.turn?.toolCalls[0]?.previewed?.diff).toBe("");
    // Both only read, so that they run beside each other.
    expect(stream.work().map(({ capability }) => capability)).toEqual([`tool:${RUN.name}`, `tool:${READ.name}`]);
  });

  it("can lower a tool's risk, and not raise it", () => {
    const { stream } = calling([callPart(PATCH.name)], { mode: ToolMode.PLAN });
    expect(tellPreview(stream, PATCH.name, { risk: RiskLevel.EXECUTE }).cases).toEqual(["toolPreviewed", "toolDenied", "modelRequested"]);
  });

  it.each([
    ["a rule allows", { rules: ALLOW_ALL.rules }, ["toolRequested"]],
    ["a rule denies", { rules: [{ tool: "*", decision: Decision.DENY }] }, ["toolRequested", "toolDenied", "modelRequested"]],
    ["the answer in a person's place allows", { answer: Decision.ALLOW }, ["toolRequested"]],
  ])("is not asked for where %s by the tool alone", (_, policy, expected) => {
    const { stream, cases } = calling([callPart(RUN.name)], policy);
    expect(cases).toEqual(expected);
    expect(stream.work().some(({ key }) => key.startsWith("preview:"))).toBe(false);
  });

  it("is asked for where a rule is for a rule key, and the rule decides then", () => {
    const rules = [
      { tool: RUN.name, decision: Decision.DENY, ruleKey: "rm" },
      { tool: RUN.name, decision: Decision.ALLOW },
    ];
    const denied = calling([callPart(RUN.name)], { rules });
    expect(tellPreview(denied.stream, RUN.name, { ruleKey: "rm" }).cases).toEqual(["toolPreviewed", "toolDenied", "modelRequested"]);
    const allowed = calling([callPart(RUN.name)], { rules });
    const { cases, events } = tellPreview(allowed.stream, RUN.name, { ruleKey: "ls" });
    expect(cases).toEqual(["toolPreviewed"]);
    expect(events[0]?.payload.value).toMatchObject({ decision: { source: "policy:rule:1" } });
    // In no mode is what a rule denies executed.
    const bypassed = calling([callPart(RUN.name)], { rules, mode: ToolMode.BYPASS });
    expect(tellPreview(bypassed.stream, RUN.name, { ruleKey: "rm" }).cases).toEqual(["toolPreviewed", "toolDenied", "modelRequested"]);
  });

  it("lets a denial in a person's place stand only once nothing else allows", () => {
    const { stream } = calling([callPart(RUN.name)], { answer: Decision.DENY });
    const { cases, events } = tellPreview(stream, RUN.name);
    expect(cases).toEqual(["toolPreviewed", "toolDenied", "modelRequested"]);
    expect(events[0]?.payload.value).toMatchObject({ decision: { source: "policy:answer" } });
  });

  it("runs beside everything, and holds back the calls after it until it is decided", () => {
    const { stream } = calling([callPart(PATCH.name), callPart(RUN.name), callPart(SHELL.name)], { rules: [{ tool: SHELL.name, decision: Decision.ALLOW }] });
    expect(stream.work().map(({ key }) => key.split(":")[0])).toEqual(["preview", "preview"]);
    tellPreview(stream, PATCH.name);
    tellPreview(stream, RUN.name);
    expect(stream.work().map(({ capability }) => capability)).toEqual([`tool:${SHELL.name}`]);
  });

  it.each([
    ["failed", failure(), "RATE_LIMIT"],
    ["was given up", cancelled(), "PREVIEW_FAILED"],
    ["is too long in its title", preview({ title: "x".repeat(257) }), "PREVIEW_INVALID"],
    ["is too long in its diff", preview({ diff: "ä".repeat(16_385) }), "PREVIEW_INVALID"],
    ["is too long in its facts", preview({ factsJson: "x".repeat(8_193) }), "PREVIEW_INVALID"],
    ["is too long in its rule key", preview({ ruleKey: "x".repeat(513) }), "PREVIEW_INVALID"],
    ["names too many paths", preview({ paths: Array.from({ length: 257 }, () => "a") }), "PREVIEW_INVALID"],
    ["holds a NUL", preview({ title: "\0" }), "PREVIEW_INVALID"],
  ])("that %s fails the call: the model is told and nobody is asked", (_, outcome, reason) => {
    const { stream } = calling([callPart(PATCH.name)]);
    const { cases, events } = stream.must(settled(previewTask(stream, PATCH.name), outcome));
    expect(cases).toEqual(["toolFailed", "modelRequested"]);
    expect(events[0]?.payload.value).toMatchObject({ error: { reason } });
  });

  it("at its bounds is kept", () => {
    const { stream } = calling([callPart(PATCH.name)]);
    const bounds = { title: "x".repeat(256), diff: "x".repeat(32_768), factsJson: "x".repeat(8_192), ruleKey: "x".repeat(512), paths: ["a"] };
    expect(tellPreview(stream, PATCH.name, bounds).cases).toEqual(["toolPreviewed", "toolApprovalRequired"]);
  });

  it("whose workers were lost fails the call, which has done nothing", () => {
    const { stream } = calling([callPart(PATCH.name)]);
    const { cases, events } = stream.must(lost(previewTask(stream, PATCH.name)));
    expect(cases).toEqual(["toolFailed", "modelRequested"]);
    expect(events[0]?.payload.value).toMatchObject({ error: { code: ErrorCode.WORKER_LOST } });
  });

  it("has no start, and is settled by nothing else", () => {
    const { stream } = calling([callPart(PATCH.name)]);
    const task = previewTask(stream, PATCH.name);
    expect(stream.execute(started(task)).rejection).toMatchObject({ code: ErrorCode.VALIDATION });
    expect(
      stream.execute(settled(task, { case: "tool", value: { $typeName: "forge.worker.v1.ToolResult", durationMs: 0n, breakTurn: false, changes: [] } }))
        .rejection,
    ).toMatchObject({
      code: ErrorCode.VALIDATION,
    });
  });

  it("ends at once when the turn is asked to stop", () => {
    const { stream } = calling([callPart(PATCH.name)]);
    const task = previewTask(stream, PATCH.name);
    expect(stream.must(cancelTurn(turnIdOf(stream))).cases).toEqual(["turnCancelRequested", "toolCancelled", "turnCancelled"]);
    expect(stream.execute(settled(task, preview())).rejection).toMatchObject({ reason: "TASK_NOT_OPEN" });
  });

  it("that is told while the turn is paused is decided on, and nothing is dispatched", () => {
    const { stream } = calling([callPart(RUN.name)]);
    stream.must(pauseTurn(turnIdOf(stream)));
    expect(stream.state.turn && turnStatus(stream.state.turn)).toBe(TurnStatus.RUNNING);
    tellPreview(stream, RUN.name, { risk: RiskLevel.READ });
    expect(stream.work()).toEqual([]);
    expect(stream.state.turn && turnStatus(stream.state.turn)).toBe(TurnStatus.PAUSED);
    stream.must(continueTurn(turnIdOf(stream)));
    expect(stream.work()).toMatchObject([{ capability: `tool:${RUN.name}` }]);
  });

  it("is not asked for of a tool that can't tell", () => {
    const { cases } = calling([callPart(WRITE.name)]);
    expect(cases).toEqual(["toolRequested", "toolApprovalRequired"]);
  });
});

describe("a call that is stale when it is to be executed", () => {
  const stale = (): TaskSettled["outcome"] => {
    const error = create(ForgeErrorSchema, { code: ErrorCode.CONFLICT, reason: "PREVIEW_STALE", message: "The file is another." });
    return { case: "failure", value: create(TaskFailureSchema, { error }) };
  };
  const execute = (stream: SessionStream, outcome: TaskSettled["outcome"]) => {
    const task = toolTask(stream, PATCH.name);
    stream.must(started(task));
    return stream.must(settled(task, outcome));
  };
  const changed: TaskSettled["outcome"] = {
    case: "tool",
    value: create(ToolResultSchema, { changes: [{ files: [{ path: "a", afterSha256: "a".repeat(64) }] }] }),
  };

  it("fails where a person allowed it and somebody else made it so", () => {
    const { stream } = calling([callPart(PATCH.name)]);
    tellPreview(stream, PATCH.name);
    stream.must(resolve(pendingApprovals(stream)[0] ?? "", Decision.ALLOW));
    const { cases, events } = execute(stream, stale());
    expect(cases).toEqual(["toolFailed", "modelRequested"]);
    expect(events[0]?.payload.value).toMatchObject({ error: { reason: "PREVIEW_STALE" } });
  });

  it("is looked at again where a call before it changed files, and the person is asked with what it would do now", () => {
    const { stream } = calling([callPart(PATCH.name), callPart(PATCH.name)]);
    tellPreview(stream, PATCH.name);
    tellPreview(stream, PATCH.name);
    for (const approvalId of pendingApprovals(stream)) stream.must(resolve(approvalId, Decision.ALLOW));
    execute(stream, changed);
    expect(execute(stream, stale()).cases).toEqual(["toolRetried"]);
    expect(tellPreview(stream, PATCH.name, { title: "now" }).cases).toEqual(["toolPreviewed", "toolApprovalRequired"]);
    stream.must(resolve(pendingApprovals(stream)[0] ?? "", Decision.ALLOW));
    expect(toolTask(stream, PATCH.name).task.kind.value).toMatchObject({ previewed: { title: "now" } });
    expect(execute(stream, changed).cases).toEqual(["workspaceChangeRecorded", "toolCompleted", "modelRequested"]);
  });

  it("is looked at again where nobody looked before, a few times", () => {
    const { stream } = calling([callPart(RUN.name)], { rules: [{ tool: RUN.name, decision: Decision.ALLOW, ruleKey: "k" }] });
    for (let round = 1; round < 4; round++) {
      tellPreview(stream, RUN.name, { ruleKey: "k" });
      const task = toolTask(stream, RUN.name);
      stream.must(started(task));
      expect(stream.must(settled(task, stale())).cases).toEqual(["toolRetried"]);
    }
    tellPreview(stream, RUN.name, { ruleKey: "k" });
    const task = toolTask(stream, RUN.name);
    stream.must(started(task));
    expect(stream.must(settled(task, stale())).cases).toEqual(["toolFailed", "modelRequested"]);
  });
});

describe("edited arguments", () => {
  const edited = '{"a":2}';

  it("are previewed anew and then executed as the person allowed them", () => {
    const { stream } = calling([callPart(PATCH.name, '{"a":1}')]);
    tellPreview(stream, PATCH.name);
    const [approvalId = ""] = pendingApprovals(stream);
    const { cases, events } = stream.must(resolve(approvalId, Decision.ALLOW, "", { editedArgumentsJson: edited }), "anna");
    expect(cases).toEqual(["toolArgumentsEdited", "approvalResolved"]);
    const argumentsDigest = testContext().sha256(edited);
    expect(events.map(({ payload }) => payload.value)).toMatchObject([
      { argumentsJson: edited, argumentsDigest, editedBy: "anna" },
      { decision: { decision: Decision.ALLOW, argumentsDigest, previewDigest: "", source: `approval:${approvalId}` } },
    ]);
    const [task] = stream.work();
    expect(task).toMatchObject({ key: expect.stringMatching(/^preview:.*:1$/), task: { kind: { value: { preview: true, argumentsJson: edited } } } });
    const told = tellPreview(stream, PATCH.name, { title: "edited" });
    expect(told.cases).toEqual(["toolPreviewed"]);
    expect(told.events[0]?.payload.value).toMatchObject({ decision: { source: `approval:${approvalId}`, argumentsDigest, decidedBy: "anna" } });
    expect(toolTask(stream, PATCH.name).task.kind.value).toMatchObject({
      argumentsJson: edited,
      previewed: { title: "edited" },
      decision: { argumentsDigest },
    });
  });

  it("of a tool that can't tell are executed at once", () => {
    const { stream } = calling([callPart(WRITE.name, '{"a":1}')]);
    stream.must(resolve(pendingApprovals(stream)[0] ?? "", Decision.ALLOW, "", { editedArgumentsJson: edited }));
    expect(toolTask(stream, WRITE.name).task.kind.value).toMatchObject({ argumentsJson: edited });
  });

  it("are not executed where they can't be previewed, or a rule denies them", () => {
    const rules = [{ tool: PATCH.name, decision: Decision.DENY, ruleKey: "bad" }];
    const edit = () => {
      const { stream } = calling([callPart(PATCH.name)], { rules });
      tellPreview(stream, PATCH.name);
      stream.must(resolve(pendingApprovals(stream)[0] ?? "", Decision.ALLOW, "", { editedArgumentsJson: edited }));
      return stream;
    };
    const failed = edit();
    expect(failed.must(settled(previewTask(failed, PATCH.name), failure())).cases).toEqual(["toolFailed", "modelRequested"]);
    const denied = tellPreview(edit(), PATCH.name, { ruleKey: "bad" });
    expect(denied.cases).toEqual(["toolPreviewed", "toolDenied", "modelRequested"]);
    expect(denied.events[1]?.payload.value).toMatchObject({ decision: { decision: Decision.DENY, source: "policy:rule:0" } });
  });

  it.each([
    ["no JSON", "{"],
    ["no object", "[]"],
    ["too long", JSON.stringify({ a: "x".repeat(65_536) })],
    ["not storable", '{"a":"\0"}'],
  ])("that are %s are refused by their field", (_, editedArgumentsJson) => {
    const { stream } = calling([callPart(WRITE.name)]);
    const { rejection } = stream.execute(resolve(pendingApprovals(stream)[0] ?? "", Decision.ALLOW, "", { editedArgumentsJson }));
    expect(rejection).toMatchObject({ code: ErrorCode.VALIDATION, metadata: { field: "edited_arguments_json" } });
  });
});
