import { Decision } from "@forge/protocol/tool";
import { describe, expect, it } from "vitest";
import {
  answerWith,
  callPart,
  closeSession,
  newSession,
  pendingApprovals,
  resolve,
  runTool,
  sessionInTurn,
  updatePolicy,
  WRITE,
} from "../testing/session-fixture.ts";

describe("a new policy", () => {
  it("decides from the next call on, for whoever gave it; what was asked is still asked", () => {
    const stream = sessionInTurn();
    answerWith(stream, [callPart(WRITE.name)]);
    const [approval] = pendingApprovals(stream);
    expect(stream.must(updatePolicy({ defaultDecision: Decision.ALLOW }), "anna").cases).toEqual(["sessionPolicyUpdated"]);
    expect(pendingApprovals(stream)).toEqual([approval]);
    stream.must(resolve(approval ?? "", Decision.ALLOW), "ben");
    runTool(stream, WRITE.name);
    const { events } = answerWith(stream, [callPart(WRITE.name)]);
    expect(events[2]?.payload.value).toMatchObject({ decision: { decision: Decision.ALLOW, source: "policy:default", decidedBy: "anna" } });
  });

  it("does not take back what was granted", () => {
    const stream = sessionInTurn({ policy: { defaultDecision: Decision.ALLOW } });
    answerWith(stream, [callPart(WRITE.name)]);
    stream.must(updatePolicy({ defaultDecision: Decision.DENY }));
    expect(runTool(stream, WRITE.name).cases).toEqual(["toolCompleted", "modelRequested"]);
    expect(answerWith(stream, [callPart(WRITE.name)]).cases).toContain("toolDenied");
  });

  it("is refused where it is none, is wrong, or comes after the session's end", () => {
    const stream = newSession();
    expect(stream.execute(updatePolicy()).rejection?.metadata.field).toBe("policy");
    expect(stream.execute(updatePolicy({ rules: [{ tool: "a*b", decision: Decision.ALLOW }] })).rejection?.metadata.field).toBe("policy.rules[0].tool");
    stream.must(closeSession());
    expect(stream.execute(updatePolicy({})).rejection?.reason).toBe("SESSION_CLOSED");
  });
});
