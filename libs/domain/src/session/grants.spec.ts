import { create } from "@bufbuild/protobuf";
import { ErrorCode } from "@forge/protocol/common";
import { ApprovalCategory, ApprovalScope, Decision, GrantSchema, ToolMode, ToolSpecSchema } from "@forge/protocol/tool";
import { describe, expect, it } from "vitest";
import {
  ALLOW_ALL,
  answerWith,
  callPart,
  PATCH,
  PREVIEWED,
  pendingApprovals,
  READ,
  RUN,
  resolve,
  runTool,
  type SessionInit,
  type SessionStream,
  SHELL,
  sessionInTurn,
  startTurn,
  TOOLS,
  tellPreview,
  textPart,
  updatePolicy,
  WRITE,
} from "../testing/session-fixture.ts";
import { GRANTS_MAX, withGrant } from "./grants.ts";
import { sessionView } from "./view.ts";

const SERVED = [...TOOLS, ...PREVIEWED];
const AGENT = { model: "demo/a", tools: SERVED.map(({ name }) => name) };
const { TURN, SESSION } = ApprovalScope;

function begin(policy: SessionInit["policy"] = {}): SessionStream {
  return sessionInTurn({ agent: AGENT, policy }, SERVED);
}

function asked(stream: SessionStream, ...names: string[]): string[] {
  answerWith(
    stream,
    names.map((name) => callPart(name)),
  );
  return pendingApprovals(stream);
}

function nextTurn(stream: SessionStream): void {
  answerWith(stream, [textPart("Done.")]);
  stream.must(startTurn());
}

describe("a grant by category", () => {
  it("for the session lets calls of its category pass in every later turn, without a question or a preview", () => {
    const stream = begin();
    const [approvalId = ""] = asked(stream, WRITE.name);
    const { events } = stream.must(resolve(approvalId, Decision.ALLOW, "", { scope: SESSION, category: ApprovalCategory.CHANGES }), "anna");
    expect(events[0]?.payload.value).toMatchObject({
      grant: { approvalId, scope: SESSION, category: ApprovalCategory.CHANGES, grantedBy: "anna", turnId: "" },
    });
    expect(sessionView(stream.state, 0).grants).toMatchObject([{ approvalId }]);
    runTool(stream, WRITE.name);
    nextTurn(stream);
    const effect = answerWith(stream, [callPart(PATCH.name)]);
    expect(effect.cases.slice(2)).toEqual(["toolRequested"]);
    expect(effect.events[2]?.payload.value).toMatchObject({ decision: { decision: Decision.ALLOW, source: `grant:${approvalId}`, decidedBy: "anna" } });
    runTool(stream, PATCH.name);
    expect(answerWith(stream, [callPart(SHELL.name)]).cases.slice(2)).toEqual(["toolRequested", "toolApprovalRequired"]);
  });

  it("for the turn ends with it", () => {
    const stream = begin();
    const [approvalId = ""] = asked(stream, WRITE.name);
    stream.must(resolve(approvalId, Decision.ALLOW, "", { scope: TURN, category: ApprovalCategory.CHANGES }));
    runTool(stream, WRITE.name);
    expect(answerWith(stream, [callPart(WRITE.name)]).cases.slice(2)).toEqual(["toolRequested"]);
    runTool(stream, WRITE.name);
    nextTurn(stream);
    expect(stream.state.grants).toEqual([]);
    expect(answerWith(stream, [callPart(WRITE.name)]).cases.slice(2)).toEqual(["toolRequested", "toolApprovalRequired"]);
  });

  it("releases the siblings that wait and that it covers, and no others", () => {
    const stream = begin();
    const [first = "", second = "", third = ""] = asked(stream, WRITE.name, WRITE.name, SHELL.name);
    const { cases, events } = stream.must(resolve(first, Decision.ALLOW, "", { scope: TURN, category: ApprovalCategory.CHANGES }), "anna");
    expect(cases).toEqual(["approvalResolved", "approvalResolved"]);
    expect(events[1]?.payload.value).toMatchObject({ approvalId: second, decision: { source: `grant:${first}`, decidedBy: "anna" } });
    expect(pendingApprovals(stream)).toEqual([third]);
  });

  it("for all covers whatever is asked, and what a rule denies stays denied", () => {
    const stream = begin({ rules: [{ tool: SHELL.name, decision: Decision.DENY }], defaultDecision: Decision.ASK });
    const [approvalId = ""] = asked(stream, READ.name);
    stream.must(resolve(approvalId, Decision.ALLOW, "", { scope: SESSION, category: ApprovalCategory.ALL }));
    runTool(stream, READ.name);
    expect(answerWith(stream, [callPart(WRITE.name), callPart(SHELL.name)]).cases.slice(2)).toEqual(["toolRequested", "toolRequested", "toolDenied"]);
  });

  it("goes by what the tool says of itself where it does", () => {
    const test = create(ToolSpecSchema, { ...SHELL, name: "tools.test", category: ApprovalCategory.EVIDENCE });
    const stream = sessionInTurn({ agent: { model: "demo/a", tools: [SHELL.name, test.name] } }, [SHELL, test]);
    const [approvalId = ""] = asked(stream, test.name);
    stream.must(resolve(approvalId, Decision.ALLOW, "", { scope: TURN, category: ApprovalCategory.EXECUTION }));
    runTool(stream, test.name);
    expect(answerWith(stream, [callPart(test.name), callPart(SHELL.name)]).cases.slice(2)).toEqual(["toolRequested", "toolApprovalRequired", "toolRequested"]);
  });
});

describe("a remembered rule", () => {
  const remember = { scope: SESSION, rememberRule: true };

  function remembered(ruleKey = "git status") {
    const stream = begin();
    answerWith(stream, [callPart(RUN.name)]);
    tellPreview(stream, RUN.name, { ruleKey, ruleTitle: "git status here" });
    const [approvalId = ""] = pendingApprovals(stream);
    return { stream, approvalId };
  }

  it("lets calls of the tool with the same rule key pass, and asks for all others", () => {
    const { stream, approvalId } = remembered();
    stream.must(resolve(approvalId, Decision.ALLOW, "", remember));
    expect(stream.state.grants).toMatchObject([
      { tool: RUN.name, ruleKey: "git status", ruleTitle: "git status here", category: ApprovalCategory.UNSPECIFIED },
    ]);
    runTool(stream, RUN.name);
    answerWith(stream, [callPart(RUN.name)]);
    expect(tellPreview(stream, RUN.name, { ruleKey: "git status" }).cases).toEqual(["toolPreviewed"]);
    runTool(stream, RUN.name);
    answerWith(stream, [callPart(RUN.name)]);
    expect(tellPreview(stream, RUN.name, { ruleKey: "git status && x" }).cases).toEqual(["toolPreviewed", "toolApprovalRequired"]);
  });

  it("does not hold for another tool of the same name", () => {
    const { stream, approvalId } = remembered();
    stream.must(resolve(approvalId, Decision.ALLOW, "", remember));
    runTool(stream, RUN.name);
    answerWith(stream, [textPart("Done.")]);
    stream.tools = [create(ToolSpecSchema, { ...RUN, sourceDigest: "other" })];
    stream.must(startTurn());
    answerWith(stream, [callPart(RUN.name)]);
    expect(tellPreview(stream, RUN.name, { ruleKey: "git status" }).cases).toEqual(["toolPreviewed", "toolApprovalRequired"]);
  });

  it("needs something that names what the call does", () => {
    const { stream, approvalId } = remembered("");
    expect(stream.execute(resolve(approvalId, Decision.ALLOW, "", remember)).rejection).toMatchObject({ metadata: { field: "remember_rule" } });
  });
});

describe("grants", () => {
  it("are revoked together with a policy", () => {
    const stream = begin();
    const [approvalId = ""] = asked(stream, WRITE.name);
    stream.must(resolve(approvalId, Decision.ALLOW, "", { scope: SESSION, category: ApprovalCategory.ALL }));
    stream.must(updatePolicy({}));
    expect(stream.state.grants).toHaveLength(1);
    const command = updatePolicy({});
    stream.must({ ...command, revokeGrants: true } as typeof command);
    expect(stream.state.grants).toEqual([]);
    runTool(stream, WRITE.name);
    expect(answerWith(stream, [callPart(WRITE.name)]).cases.slice(2)).toEqual(["toolRequested", "toolApprovalRequired"]);
  });

  it("are bounded, and the same again is no second one", () => {
    const grant = (turnId: string) => create(GrantSchema, { scope: TURN, category: ApprovalCategory.CHANGES, turnId });
    let grants: ReturnType<typeof withGrant> = [];
    for (let index = 0; index <= GRANTS_MAX; index++) grants = withGrant(grants, grant(String(index)));
    expect(grants).toHaveLength(GRANTS_MAX);
    expect(withGrant(grants, grant("7"))).toHaveLength(GRANTS_MAX);
    expect(withGrant(grants, grant("7")).at(-1)?.turnId).toBe("7");
  });

  const once = ApprovalScope.ONCE;
  it.each([
    [Decision.ALLOW, { scope: SESSION }, "scope"],
    [Decision.ALLOW, { category: ApprovalCategory.CHANGES }, "category"],
    [Decision.ALLOW, { scope: once, rememberRule: true }, "remember_rule"],
    [Decision.ALLOW, { scope: TURN, rememberRule: true, category: ApprovalCategory.ALL }, "remember_rule"],
    [Decision.ALLOW, { scope: TURN, rememberRule: true, editedArgumentsJson: "{}" }, "remember_rule"],
    [Decision.ALLOW, { scope: 9 as ApprovalScope, category: ApprovalCategory.ALL }, "scope"],
    [Decision.ALLOW, { scope: TURN, category: 9 as ApprovalCategory }, "category"],
    [Decision.ALLOW, { stopTurn: true }, "stop_turn"],
    [Decision.DENY, { scope: TURN }, "scope"],
    [Decision.DENY, { category: ApprovalCategory.ALL }, "category"],
    [Decision.DENY, { rememberRule: true }, "remember_rule"],
    [Decision.DENY, { editedArgumentsJson: "{}" }, "edited_arguments_json"],
  ])("are refused where the answer does not say what it means (%s, %o): %s", (decision, more, field) => {
    const stream = begin();
    const [approvalId = ""] = asked(stream, WRITE.name);
    expect(stream.execute(resolve(approvalId, decision, "", more)).rejection).toMatchObject({ code: ErrorCode.VALIDATION, metadata: { field } });
    expect(pendingApprovals(stream)).toEqual([approvalId]);
  });
});

describe("the mode", () => {
  it("plan lets nothing pass that does more than read, whatever rules, answers and grants say", () => {
    for (const policy of [ALLOW_ALL, { answer: Decision.ALLOW }, { defaultDecision: Decision.ALLOW }]) {
      const stream = begin({ ...policy, mode: ToolMode.PLAN });
      const { cases, events } = answerWith(stream, [callPart(WRITE.name), callPart(READ.name)]);
      expect(cases.slice(2)).toEqual(["toolRequested", "toolDenied", "toolRequested"]);
      expect(events[3]?.payload.value).toMatchObject({ decision: { source: "policy:mode" }, reason: expect.stringContaining("plan mode") });
    }
    const stream = begin();
    const [approvalId = ""] = asked(stream, WRITE.name);
    stream.must(resolve(approvalId, Decision.ALLOW, "", { scope: SESSION, category: ApprovalCategory.ALL }));
    runTool(stream, WRITE.name);
    stream.must(updatePolicy({ mode: ToolMode.PLAN }));
    expect(answerWith(stream, [callPart(SHELL.name)]).cases.slice(2)).toEqual(["toolRequested", "toolDenied", "modelRequested"]);
  });

  it("plan refuses an approval that would let something be done, and denies what waits for its turn", () => {
    const stream = begin({ rules: [{ tool: SHELL.name, decision: Decision.ALLOW }] });
    const [approvalId = ""] = asked(stream, WRITE.name, SHELL.name, SHELL.name);
    expect(stream.must(updatePolicy({ mode: ToolMode.PLAN })).cases).toEqual(["sessionPolicyUpdated", "toolDenied"]);
    expect(stream.execute(resolve(approvalId, Decision.ALLOW)).rejection).toMatchObject({ code: ErrorCode.CONFLICT, reason: "PLAN_MODE" });
    expect(stream.must(resolve(approvalId, Decision.DENY)).cases).toEqual(["approvalResolved", "toolDenied"]);
    expect(stream.work()).toMatchObject([{ capability: `tool:${SHELL.name}`, task: { kind: { value: { mode: ToolMode.ACT } } } }]);
  });

  it("bypass asks nobody, and leaves denied what a rule denies", () => {
    const stream = begin({ mode: ToolMode.BYPASS, rules: [{ tool: SHELL.name, decision: Decision.DENY }], defaultDecision: Decision.DENY });
    const { cases, events } = answerWith(stream, [callPart(PATCH.name), callPart(SHELL.name)]);
    expect(cases.slice(2)).toEqual(["toolRequested", "toolRequested", "toolDenied"]);
    expect(events[2]?.payload.value).toMatchObject({ decision: { decision: Decision.ALLOW, source: "policy:mode" } });
    expect(stream.work()).toMatchObject([{ task: { kind: { value: { tool: PATCH.name, mode: ToolMode.BYPASS } } } }]);
  });

  it.each([
    [{ mode: 9 as ToolMode }, "policy.mode"],
    [{ rules: [{ tool: "a", decision: Decision.ALLOW, ruleKey: "x".repeat(513) }] }, "policy.rules[0].rule_key"],
    [{ rules: [{ tool: "a", decision: Decision.PREVIEW }] }, "policy.rules[0].decision"],
  ])("and rule keys are checked: %o", (policy, field) => {
    expect(begin().execute(updatePolicy(policy)).rejection).toMatchObject({ metadata: { field } });
  });
});
