import { ErrorCode } from "@forge/protocol/common";
import { TurnStatus } from "@forge/protocol/session";
import { Decision } from "@forge/protocol/tool";
import { describe, expect, it } from "vitest";
import {
  answerWith,
  callPart,
  cancelTurn,
  fired,
  pendingApprovals,
  READ,
  resolve,
  runTool,
  SHELL,
  sessionInTurn,
  turnIdOf,
  WRITE,
} from "../testing/session-fixture.ts";
import { turnStatus } from "./state.ts";

function asking(...names: string[]) {
  const stream = sessionInTurn();
  answerWith(
    stream,
    names.map((name) => callPart(name)),
  );
  return { stream, approvals: pendingApprovals(stream) };
}

describe("an approval", () => {
  it("waits for a day where the policy says nothing, and dispatches nothing meanwhile", () => {
    const { stream, approvals } = asking(WRITE.name);
    expect(stream.work()).toEqual([]);
    expect(stream.outstanding()[1]).toEqual({ kind: "timer", key: `approval:${approvals[0]}`, dueAtMs: stream.nowMs + 86_400_000 });
    expect(stream.state.turn && turnStatus(stream.state.turn)).toBe(TurnStatus.WAITING_APPROVAL);
  });

  it("waits as long as the policy says", () => {
    const stream = sessionInTurn({ policy: { approvalTtl: { seconds: 60n } } });
    answerWith(stream, [callPart(WRITE.name)]);
    expect(stream.outstanding()[1]).toMatchObject({ dueAtMs: stream.nowMs + 60_000 });
  });

  it("that is given dispatches the call with the person's decision", () => {
    const { stream, approvals } = asking(WRITE.name);
    const { events, cases } = stream.must(resolve(approvals[0] ?? "", Decision.ALLOW, "Go on."), "anna");
    expect(cases).toEqual(["approvalResolved"]);
    expect(events[0]?.payload.value).toMatchObject({
      comment: "Go on.",
      decision: { decision: Decision.ALLOW, decidedBy: "anna", source: `approval:${approvals[0]}` },
    });
    expect(stream.work()[0]?.task.kind.value).toMatchObject({ tool: WRITE.name, decision: { decidedBy: "anna", tool: WRITE.name } });
    expect(stream.timers()).toEqual([`turn:${turnIdOf(stream)}`]);
    expect(runTool(stream, WRITE.name).cases).toEqual(["toolCompleted", "modelRequested"]);
  });

  it("that is refused denies the call, and the model is told why", () => {
    const { stream, approvals } = asking(WRITE.name);
    const { events, cases } = stream.must(resolve(approvals[0] ?? "", Decision.DENY, "Not on a Friday."));
    expect(cases).toEqual(["approvalResolved", "toolDenied", "modelRequested"]);
    expect(events[1]?.payload.value).toMatchObject({ reason: "Not on a Friday." });
  });

  it("that nobody answers in time is denied", () => {
    const { stream, approvals } = asking(WRITE.name);
    expect(stream.must(fired(`approval:${approvals[0]}`)).cases).toEqual(["approvalExpired", "toolDenied", "modelRequested"]);
    expect(stream.execute(fired(`approval:${approvals[0]}`)).rejection).toMatchObject({ reason: "TASK_NOT_OPEN" });
  });

  it.each([
    [Decision.ALLOW, "DECISION_ALLOW"],
    [Decision.DENY, "DECISION_DENY"],
  ])("is answered once: the second is told of the first (%s)", (decision, name) => {
    const { stream, approvals } = asking(WRITE.name);
    stream.must(resolve(approvals[0] ?? "", decision), "anna");
    const { rejection } = stream.execute(resolve(approvals[0] ?? "", Decision.ALLOW), "ben");
    expect(rejection).toMatchObject({ code: ErrorCode.CONFLICT, reason: "APPROVAL_RESOLVED", metadata: { decision: name, decided_by: "anna" } });
  });

  it("answers who comes after its expiry or after a cancel", () => {
    const expired = asking(WRITE.name);
    expired.stream.must(fired(`approval:${expired.approvals[0]}`));
    expect(expired.stream.execute(resolve(expired.approvals[0] ?? "", Decision.ALLOW)).rejection).toMatchObject({ metadata: { decided_by: "expiry" } });
    const stopped = asking(WRITE.name);
    stopped.stream.must(cancelTurn(turnIdOf(stopped.stream)));
    expect(stopped.stream.execute(resolve(stopped.approvals[0] ?? "", Decision.ALLOW)).rejection).toMatchObject({ metadata: { decided_by: "cancel" } });
  });

  it("is answered with allow or deny, by its id", () => {
    const { stream, approvals } = asking(WRITE.name);
    expect(stream.execute(resolve(approvals[0] ?? "", Decision.ASK)).rejection).toMatchObject({ metadata: { field: "decision" } });
    expect(stream.execute(resolve(approvals[0] ?? "", Decision.ALLOW, "x".repeat(4_097))).rejection).toMatchObject({ metadata: { field: "comment" } });
    expect(stream.execute(resolve("other", Decision.ALLOW)).rejection).toMatchObject({ code: ErrorCode.NOT_FOUND, reason: "APPROVAL_NOT_FOUND" });
  });

  it("holds up neither its siblings nor, once given, what runs by then", () => {
    const { stream, approvals } = asking(WRITE.name, READ.name, SHELL.name);
    expect(stream.work().map((task) => task.capability)).toEqual([`tool:${READ.name}`]);
    stream.must(resolve(approvals[1] ?? "", Decision.ALLOW));
    expect(stream.work().map((task) => task.capability)).toEqual([`tool:${READ.name}`]);
    stream.must(resolve(approvals[0] ?? "", Decision.ALLOW));
    runTool(stream, READ.name);
    expect(stream.work().map((task) => task.capability)).toEqual([`tool:${WRITE.name}`]);
    expect(runTool(stream, WRITE.name).cases).toEqual(["toolCompleted"]);
    expect(runTool(stream, SHELL.name).cases).toEqual(["toolCompleted", "modelRequested"]);
  });
});
