import { create } from "@bufbuild/protobuf";
import { Backoff, ErrorCode, UsageSchema } from "@forge/protocol/common";
import { TurnOutcome, TurnStatus } from "@forge/protocol/session";
import { Decision, ToolPolicySchema } from "@forge/protocol/tool";
import { describe, expect, it } from "vitest";
import {
  agentStep,
  artifact,
  cancelRun,
  fired,
  functionStep,
  json,
  literal,
  parsed,
  path,
  RUN_ID,
  RunStream,
  rejected,
  returnedValue,
  runOf,
  startRun,
  turnReport,
  workflow,
} from "./testing/run-fixture.ts";

const RETRIED = { attempts: 2, backoff: Backoff.FIXED, initialDelay: { seconds: 3n } };

describe("an agent step", () => {
  it("creates its session and starts its turn with the rendered prompt", () => {
    const step = agentStep("think", {
      inputs: { title: path("steps.parse.title") },
      prompt: "Issue {{ inputs.title }}, {{ len(state.steps.parse.frames) }} frames.",
      timeout: { seconds: 90n },
    });
    const run = new RunStream();
    run.must(startRun(workflow([functionStep("parse"), step]), { queue: "q", modelOverride: "demo/other" }));
    run.return({ title: "Crash", frames: [1, 2] });
    const [createSession, startTurn] = run.sent;
    expect(run.sent).toHaveLength(2);
    expect(createSession?.command).toMatchObject({
      case: "createSession",
      value: {
        agent: { model: "demo/other", budget: { wallTime: { seconds: 90n } } },
        queue: "q",
        labels: { run_id: RUN_ID, step_id: "think" },
        title: "triage / think",
        parent: { runId: RUN_ID, stepId: "think" },
      },
    });
    expect(startTurn?.command).toMatchObject({
      case: "startTurn",
      value: { sessionId: run.sessionId, input: [{ kind: { case: "text", value: { text: "Issue Crash, 2 frames." } } }] },
    });
    for (const command of run.sent) {
      expect(command.command.value).toMatchObject({ header: { version: { major: 1 }, commandId: command.commandId } });
      expect(command.target?.id).toBe(run.sessionId);
      expect(command.commandId).toMatch(/^[!-~]{1,128}$/);
    }
    expect(run.sessionId).toBe(run.context().deriveId("step-session", createSession?.commandId ?? ""));
    expect(run.last("stepStarted").value.sessionId).toBe(run.sessionId);
    expect(run.outstanding()).toEqual([]);
  });

  it("takes one of its variants by weight, says which, and keeps it when it is tried again", () => {
    const variants = [
      { name: "ask@v1", weight: 3, prompt: "One {{ inputs.n }}", system: "S1" },
      { name: "ask@v2", weight: 1, prompt: "Two {{ inputs.n }}", system: "S2" },
    ];
    const step = agentStep("a", { inputs: { n: literal(7) }, retry: RETRIED, forEach: { items: literal(Array.from({ length: 200 }, (_, index) => index)) } });
    if (step.kind?.case === "agent") Object.assign(step.kind.value, { variants });
    const run = runOf(workflow([step], { parallelMax: 200 }));
    const sent = run.sent.flatMap(({ command }) => (command.case === "createSession" ? (command.value.agent?.system ?? "") : []));
    const started = run.events.flatMap(({ payload }) => (payload.case === "stepStarted" && payload.value.prompt !== "" ? payload.value : []));
    expect(started.map(({ promptVariant }) => (promptVariant === "ask@v1" ? "One 7" : "Two 7"))).toEqual(started.map(({ prompt }) => prompt));
    expect(sent).toEqual(started.map(({ promptVariant }) => (promptVariant === "ask@v1" ? "S1" : "S2")));
    const share = started.filter(({ promptVariant }) => promptVariant === "ask@v1").length / started.length;
    expect(share).toBeGreaterThan(0.6);
    expect(share).toBeLessThan(0.9);
    const second = started.findIndex(({ promptVariant }) => promptVariant === "ask@v2");
    const { sessionId } = run.open("a", second);
    run.must(turnReport(sessionId, { status: TurnStatus.FAILED, outcome: TurnOutcome.TASK_FAILED }));
    run.nowMs += 3_000;
    run.must(fired(run.timers()[0] ?? ""));
    expect(run.sent.findLast(({ command }) => command.case === "createSession")?.command.value).toMatchObject({ agent: { system: "S2" } });
    expect(run.sent.at(-1)?.command.value).toMatchObject({ input: [{ kind: { value: { text: "Two 7" } } }] });
  });

  it.each<[string, string, object]>([
    ["the text under `text`", "Hello.", { text: "Hello." }],
    ["the object in a fence of a final answer", 'So:\n```final_answer\n{"n": 1}\n```\nDone.', { n: 1 }],
    ["the text, where the fence holds something else", "```final_answer\nno\n```", { text: "```final_answer\nno\n```" }],
  ])("puts out %s", (_, text, output) => {
    const run = runOf(workflow([agentStep("a")]));
    run.must(turnReport(run.sessionId, { text: json(text) }));
    expect(parsed(run.last("stepCompleted").value.output)).toEqual(output);
  });

  it("puts its text under a key of its own, also where that is all that the step declares", () => {
    const keyed = (outputs: string[]) => {
      const step = agentStep("a", { outputs });
      if (step.kind?.case === "agent") Object.assign(step.kind.value, { outputKey: "summary" });
      return runOf(workflow([step]));
    };
    for (const [outputs, text, output] of [
      [[], "Hello.", { summary: "Hello." }],
      [["summary"], "Hello.", { summary: "Hello." }],
      [["summary"], '{"summary": {"a": 1}}', { summary: { a: 1 } }],
    ] as const) {
      const run = keyed([...outputs]);
      run.must(turnReport(run.sessionId, { text: json(text) }));
      expect(parsed(run.last("stepCompleted").value.output)).toEqual(output);
    }
    const two = keyed(["summary", "more"]);
    two.must(turnReport(two.sessionId, { text: json("Hello.") }));
    expect(two.last("stepFailed").value.error?.message).toContain("must be a JSON object");
  });

  it("hands the run's tool policy to the session, and none where it was started without", () => {
    const policy = create(ToolPolicySchema, { rules: [{ tool: "tools.*", decision: Decision.ASK }], answer: Decision.DENY });
    for (const given of [policy, undefined]) {
      const run = new RunStream();
      run.must(startRun(workflow([agentStep("a")]), { policy: given }));
      const command = run.sent[0]?.command;
      expect(command?.case === "createSession" ? command.value.policy : "none").toEqual(given);
    }
  });

  it("gives the whole state as `inputs` where it maps none", () => {
    const run = runOf(
      workflow([functionStep("a"), agentStep("b", { prompt: "{{ inputs.steps.a.x }} {{ state.runtime.workflow_id }} {{ inputs.inputs.q }}" })], {
        inputs: [{ name: "q" }],
      }),
      {
        inputs: { q: "why" },
      },
    );
    run.return({ x: 1 });
    expect(run.sent[1]?.command.value).toMatchObject({ input: [{ kind: { value: { text: "1 triage why" } } }] });
  });

  it("reads large values where the prompt looks into them", () => {
    const artifacts = { big: JSON.stringify({ title: "Long", body: "x".repeat(70_000) }) };
    const steps = [functionStep("a"), agentStep("b", { inputs: { doc: path("steps.a") }, prompt: "{{ inputs.doc.title }}: {{ state.steps.a.title }}" })];
    const run = runOf(workflow(steps), { artifacts });
    run.must(returnedValue(run.key, artifact("big")));
    expect(run.sent[1]?.command.value).toMatchObject({ input: [{ kind: { value: { text: "Long: Long" } } }] });
  });

  it.each([
    ["a missing key", "{{ state.steps.a.nope }}", "nope"],
    ["a text that is too large", "{{ state.steps.a.long }}{{ state.steps.a.long }}", "65536 bytes"],
  ])("fails clearly on a prompt with %s", (_, prompt, message) => {
    const run = runOf(workflow([functionStep("a"), agentStep("b", { prompt })]));
    run.return({ long: "x".repeat(40_000) });
    expect(run.last("stepFailed").value.error).toMatchObject({ reason: "STEP_EXECUTION", message: expect.stringContaining(message) as string });
    expect(run.sent).toEqual([]);
  });

  it("takes the answer's text as its output", () => {
    const run = runOf(workflow([agentStep("a")]));
    run.nowMs += 700;
    const usage = create(UsageSchema, { inputTokens: 10n, outputTokens: 5n });
    expect(run.must(turnReport(run.sessionId, { usage })).cases).toEqual(["stepCompleted", "runCompleted"]);
    expect(run.last("stepCompleted").value).toMatchObject({ usage, handlerDurationMs: 700n });
    expect(parsed(run.last("runCompleted").value.output)).toEqual({ text: "Done." });
  });

  it.each([
    ['{"severity":"high"}', { severity: "high" }],
    ['```json\n{"severity":"high"}\n```', { severity: "high" }],
    ['I thought.\n```final_answer\n{"severity":"low"}\n```\nNo:\n```final_answer\n{"severity":"high"}\n```\nThat is it.', { severity: "high" }],
    ['\n```\n{"severity": "high"}```  ', { severity: "high" }],
  ])("takes the declared outputs from an answer in JSON: %s", (text, output) => {
    const run = runOf(workflow([agentStep("a", { outputs: ["severity"] })]));
    run.must(turnReport(run.sessionId, { text: json(text) }));
    expect(parsed(run.last("stepCompleted").value.output)).toEqual(output);
  });

  it.each([
    ["Severity: high", "must be a JSON object"],
    ['{"severity":"high","why":1}', 'undeclared "why"'],
    ["{}", 'lacks "severity"'],
    ['```yaml\n{"severity":"high"}\n```', "must be a JSON object"],
  ])("fails the attempt where the answer does not keep the contract: %s", (text, message) => {
    const run = runOf(workflow([agentStep("a", { outputs: ["severity"], retry: RETRIED })]));
    expect(run.must(turnReport(run.sessionId, { text: json(text) })).cases).toEqual(["stepAttemptFailed"]);
    expect(run.last("stepAttemptFailed").value.error?.message).toContain(message);
  });

  it.each([
    ["a JSON string", "application/json", JSON.stringify('{"a":1}')],
    ["plain text", "text/plain", '{"a":1}'],
  ])("reads an answer from the artifact store as %s", (_, mediaType, stored) => {
    const run = runOf(workflow([agentStep("a", { outputs: ["a"] })]), { artifacts: { answer: stored } });
    run.must(turnReport(run.sessionId, { text: artifact("answer", mediaType) }));
    expect(parsed(run.last("stepCompleted").value.output)).toEqual({ a: 1 });
  });

  it("fails with an answer that is too large to be an output", () => {
    const run = runOf(workflow([agentStep("a")]), { artifacts: { answer: JSON.stringify("x".repeat(70_000)) } });
    run.must(turnReport(run.sessionId, { text: artifact("answer") }));
    expect(run.last("stepFailed").value.error?.message).toContain("larger than 65536 bytes");
  });

  it("tries again in a session of its own once the time has come", () => {
    const run = runOf(workflow([agentStep("a", { retry: RETRIED })]));
    const first = run.sessionId;
    run.must(turnReport(first, { status: TurnStatus.FAILED, outcome: TurnOutcome.TASK_FAILED }));
    expect(run.outstanding()).toEqual([{ kind: "timer", key: "retry:0:2", dueAtMs: run.nowMs + 3_000 }]);
    expect(run.execute(turnReport(first)).rejection?.reason).toBe("STEP_NOT_ACTIVE");
    run.nowMs += 3_000;
    expect(run.must({ $typeName: "timer.fired", key: "retry:0:2" }).cases).toEqual(["stepStarted"]);
    expect(run.sessionId).not.toBe(first);
    expect(run.sent.map((command) => command.command.case)).toEqual(["createSession", "startTurn", "createSession", "startTurn"]);
    expect(run.sent[3]?.command.value).toMatchObject({ sessionId: run.sessionId, input: [{ kind: { value: { text: "Do it." } } }] });
    expect(run.execute({ $typeName: "timer.fired", key: "retry:0:2" }).rejection?.reason).toBe("STEP_NOT_ACTIVE");
    expect(run.must(turnReport(run.sessionId)).cases).toEqual(["stepCompleted", "runCompleted"]);
  });

  it("tries again at once where no delay is asked for", () => {
    const run = runOf(workflow([agentStep("a", { retry: { attempts: 2 } })]));
    expect(run.must(turnReport(run.sessionId, { outcome: TurnOutcome.BUDGET_TOKENS })).cases).toEqual(["stepAttemptFailed", "stepStarted"]);
    expect(run.last("stepAttemptFailed").value.error).toMatchObject({ code: ErrorCode.RESOURCE_EXHAUSTED, reason: "BUDGET_TOKENS" });
    run.must(turnReport(run.sessionId, { outcome: TurnOutcome.BUDGET_TOKENS }));
    expect(run.last("runFailed").value.error?.relatedIds).toEqual(
      [run.events.findLast((event) => event.payload.case === "stepStarted")?.payload.value].map((value) => (value as { sessionId: string }).sessionId),
    );
  });

  it.each([
    [TurnStatus.CANCELLED, TurnOutcome.CANCELLED, ErrorCode.CANCELLED],
    [TurnStatus.ABANDONED, TurnOutcome.UNKNOWN, ErrorCode.WORKER_LOST],
  ])("does not begin anew what a person has stopped (%s)", (status, outcome, code) => {
    const run = runOf(workflow([agentStep("a", { retry: RETRIED })]));
    expect(run.must(turnReport(run.sessionId, { status, outcome })).cases).toEqual(["stepFailed", "runFailed"]);
    expect(run.last("stepFailed").value.error?.code).toBe(code);
  });

  it.each(["create", "turn"])("fails the attempt where the session refuses to %s", (what) => {
    const run = runOf(workflow([agentStep("a", { retry: RETRIED })]));
    expect(run.must(rejected(`run:${RUN_ID}:0:1:${what}`)).cases).toEqual(["stepAttemptFailed"]);
    expect(run.last("stepAttemptFailed").value.error).toMatchObject({ reason: "REFUSED", message: "It was refused." });
    expect(run.execute(rejected(`run:${RUN_ID}:0:1:turn`)).rejection?.reason).toBe("STEP_NOT_ACTIVE");
  });

  it("cancels its turn with the run, once, and waits for its end", () => {
    const run = runOf(workflow([agentStep("a")]));
    expect(run.must(cancelRun()).cases).toEqual(["runCancelRequested"]);
    run.must(cancelRun());
    expect(run.sent.filter((command) => command.command.case === "cancelTurn").map((command) => command.command.value)).toMatchObject([
      { sessionId: run.sessionId, turnId: "" },
    ]);
    expect(run.execute(rejected(`run:${RUN_ID}:0:1:cancel`)).rejection?.reason).toBe("STEP_NOT_ACTIVE");
    expect(run.must(turnReport(run.sessionId, { status: TurnStatus.CANCELLED, outcome: TurnOutcome.CANCELLED })).cases).toEqual([
      "stepCancelled",
      "runCancelled",
    ]);
  });

  it("is cancelled where its turn never began", () => {
    const run = runOf(workflow([agentStep("a", { retry: RETRIED })]));
    run.must(cancelRun());
    expect(run.must(rejected(`run:${RUN_ID}:0:1:turn`)).cases).toEqual(["stepFailed", "runCancelled"]);
  });

  it("keeps what a turn had done when the run was cancelled meanwhile", () => {
    const run = runOf(workflow([agentStep("a"), functionStep("b")]));
    run.must(cancelRun());
    expect(run.must(turnReport(run.sessionId)).cases).toEqual(["stepCompleted", "runCancelled"]);
  });
});
